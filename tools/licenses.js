// The licenses of the packages whose files are in a bundle, which must be distributed with it.
const { readdirSync, readFileSync } = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");

/**
 * Returns the licenses of the packages that the bundled files belong to, each below the package's
 * name and version.
 * @param {import("esbuild").Metafile} metafile its paths are relative to the repository
 */
function licensesOf({ inputs }) {
  const folders = Object.keys(inputs).flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)].sort().map(licenseOf).join("\n");
}

/** @param {string} folder */
function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
  const file = readdirSync(path.join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`the package ${name} has no license file`);
  return `==== ${name} ${version}: ${license} ====\n${readFileSync(path.join(root, folder, file), "utf8")}`;
}

module.exports = { licensesOf };
