const fs = require("node:fs");
const path = require("node:path");
const { devDependencies, version } = require("../../package.json");

const OWN = "pulumi-serverless-gpu";
const PLUGIN = "pulumi-resource-serverless-gpu";

/**
 * What a project of each language has: the program's files, and whether it needs Pulumi's package
 * for Node.js, or the plugin.
 * @typedef {{ files: string[], needs: "pulumi" | "plugin" | "nothing", runtime?: string }} Language
 * @type {Readonly<Record<string, Language>>}
 */
const LANGUAGES = {
  typescript: { files: ["Pulumi.yaml", "index.ts"], needs: "pulumi", runtime: "nodejs" },
  yaml: { files: ["Pulumi.yaml"], needs: "plugin" },
  python: { files: ["Pulumi.yaml", "__main__.py"], needs: "plugin" },
  go: { files: ["Pulumi.yaml", "main.go", "go.mod"], needs: "plugin" },
  client: { files: ["package.json"], needs: "nothing" },
};

/** The packages that each kind of project needs beside those of this clone. */
const OTHERS = {
  pulumi: { "@pulumi/pulumi": `^${devDependencies["@pulumi/pulumi"]}`, typescript: "^6" },
  plugin: {},
  nothing: {},
};

/**
 * Writes the files of a project into an empty folder.
 * @param {string} folder
 * @param {string} language a key of `LANGUAGES`
 * @param {Readonly<Record<string, string>>} packages what its package.json says for each package
 * of this clone
 */
function writeProject(folder, language, packages) {
  const { files, needs } = /** @type {Language} */ (LANGUAGES[language]);
  const name = path.basename(folder).replace(/[^\w.-]/g, "-");
  const manifest = { name: name.toLowerCase(), private: true, dependencies: { ...packages, ...OTHERS[needs] } };
  fs.writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  fs.writeFileSync(path.join(folder, ".gitignore"), "node_modules/\nvenv/\nstate/\n");
  for (const file of files.filter((each) => each !== "package.json")) {
    const text = fs.readFileSync(path.join(__dirname, "programs", language, `${file}.txt`), "utf8");
    fs.writeFileSync(path.join(folder, file), text.replace("<name>", name));
  }
}

/**
 * Returns the packages of this clone that a project needs.
 * @param {string} language
 */
function packagesOf(language) {
  return LANGUAGES[language]?.needs === "plugin" ? [OWN, PLUGIN] : [OWN];
}

module.exports = { LANGUAGES, PLUGIN, packagesOf, version, writeProject };
