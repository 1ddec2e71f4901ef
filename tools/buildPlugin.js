// Bundles the provider plugin into one file without dependencies, plugin/bin/pulumi-resource-serverless-gpu, and writes the
// licences of the packages in it beside it.
const { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { buildSync } = require("esbuild");

const root = path.join(__dirname, "..");
const bin = path.join(root, "plugin", "bin");
const name = "pulumi-resource-serverless-gpu";

rmSync(bin, { recursive: true, force: true });
const { metafile } = buildSync({
  absWorkingDir: root,
  entryPoints: [path.join(root, "plugin", "main.ts")],
  outfile: path.join(bin, name),
  bundle: true,
  platform: "node",
  target: "node20",
  // Names stay, because they are part of errors.
  minifySyntax: true,
  minifyWhitespace: true,
  banner: { js: "#!/usr/bin/env node" },
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
chmodSync(path.join(bin, name), 0o755);
writeFileSync(path.join(bin, `${name}.cmd`), `@node "%~dp0${name}" %*\r\n`);

const folders = Object.keys(metafile.inputs).flatMap(
  (file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
);
writeFileSync(path.join(bin, "LICENSES"), [...new Set(folders)].sort().map(licenceOf).join("\n"));

/**
 * Returns the licence of a package, below its name and version.
 * @param {string} folder
 */
function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(path.join(root, folder, "package.json"), "utf8"));
  const file = readdirSync(path.join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? "" : readFileSync(path.join(root, folder, file), "utf8");
  return `==== ${name} ${version}: ${license} ====\n${text}`;
}
