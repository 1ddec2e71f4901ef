const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { quoted } = require("../quoted");
const { PLUGIN, packagesOf, version } = require("./files");

const CLONE = path.resolve(__dirname, "../..");
const IS_WINDOWS = process.platform === "win32";

/** The folder in a project for the packed packages. */
const PACKED = "packages";

/** npm sets these variables for its scripts. They would make a nested npm work in this clone. */
const OF_NPM = /^(npm_|INIT_CWD$)/;

/** Returns the environment without what npm adds to it for a script. */
function plainEnvironment() {
  const kept = Object.entries(process.env).filter(([name]) => !OF_NPM.test(name));
  const folders = (process.env.PATH || "").split(path.delimiter).filter((each) => !isOfNpm(each));
  return { ...Object.fromEntries(kept), PATH: folders.join(path.delimiter) };
}

/** @param {string} folder */
function isOfNpm(folder) {
  return /[\\/]node_modules[\\/]\.bin$|[\\/]node-gyp-bin$/.test(folder);
}

/**
 * Runs a command, with its output as this process's error output.
 * @param {string} what what it does, for the line that announces it
 * @param {string} file
 * @param {readonly string[]} args
 * @param {string} cwd
 * @param {NodeJS.ProcessEnv} [env]
 */
function run(what, file, args, cwd, env = plainEnvironment()) {
  console.error(`${what} …`);
  // npm and pulumi are scripts on Windows, which only a shell starts.
  const words = IS_WINDOWS ? [file, ...args].map(quoted) : [file, ...args];
  const { status, error } = spawnSync(String(words[0]), words.slice(1), {
    cwd,
    env,
    stdio: ["ignore", 2, 2],
    shell: IS_WINDOWS,
  });
  if (status === 0) return;
  const reason = error ? error.message : `ended with exit code ${status}`;
  throw new Error(`${what} failed: ${path.basename(file)} ${args[0]} ${reason}`);
}

/** Installs and builds the clone as far as that has not been done. */
function prepareClone() {
  const isThere = (/** @type {string} */ name) => fs.existsSync(path.join(CLONE, name));
  if (!isThere("node_modules/typescript")) run("Installing the clone's packages", "npm", ["ci"], CLONE);
  if (!isThere("dist/cli/main.js")) run("Building the package", "npm", ["run", "--silent", "build"], CLONE);
}

/**
 * Packs what a project needs into its folder. Returns what its package.json says for each package.
 * @param {string} folder
 * @param {string} language
 */
function packInto(folder, language) {
  const destination = path.join(folder, PACKED);
  fs.mkdirSync(destination);
  const sources = packagesOf(language).map((name) => ({ name, source: name === PLUGIN ? "plugin" : "." }));
  if (sources.some(({ name }) => name === PLUGIN) && !fs.existsSync(path.join(CLONE, "plugin/bin", PLUGIN)))
    run("Building the plugin", "npm", ["run", "--silent", "build:plugin"], CLONE);
  for (const { name, source } of sources) {
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination];
    run(`Packing ${name}`, "npm", args, path.join(CLONE, source));
  }
  return Object.fromEntries(sources.map(({ name }) => [name, `file:${PACKED}/${name}-${version}.tgz`]));
}

/** @param {string} folder */
function install(folder) {
  run("Installing packages", "npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], folder);
}

/**
 * Generates and installs the SDK that programs of a language need, and prepares Pulumi's hosts for
 * them.
 * @param {string} folder
 * @param {string} language
 */
async function installSdk(folder, language) {
  if (!packagesOf(language).includes(PLUGIN)) return;
  const { ensureHosts } = require("../pulumi-cli/hosts");
  const { binDir, command } = await ensureHosts();
  if (language === "yaml") return;
  const env = { ...plainEnvironment(), PULUMI_SKIP_UPDATE_CHECK: "true" };
  env.PATH = binDir + path.delimiter + env.PATH;
  const plugin = path.join("node_modules", PLUGIN, "bin", PLUGIN);
  const args = ["package", "gen-sdk", plugin, "--language", language, "--out", "sdks"];
  run(`Generating the SDK for ${language}`, command, args, folder, env);
  if (language === "python") installPython(folder);
  else installGo(folder);
}

/** @param {string} folder */
function installPython(folder) {
  const python = IS_WINDOWS ? "python" : "python3";
  run("Making a virtual environment", python, ["-m", "venv", "venv"], folder);
  const pip = path.join(folder, "venv", IS_WINDOWS ? "Scripts" : "bin", "pip");
  const args = ["install", "--quiet", "--disable-pip-version-check", "pulumi", "./sdks/python"];
  run("Installing pulumi and the SDK for Python", pip, args, folder);
}

/** The generated SDK has no go.mod, because it has not been published. @param {string} folder */
function installGo(folder) {
  const schema = JSON.parse(fs.readFileSync(path.join(CLONE, "plugin/schema.json"), "utf8"));
  const { importBasePath } = schema.language.go;
  fs.writeFileSync(path.join(folder, "sdks/go/go.mod"), `module ${importBasePath}\n\ngo 1.25\n`);
  run("Downloading Pulumi's Go modules", "go", ["mod", "tidy"], folder);
}

module.exports = { install, installSdk, packInto, plainEnvironment, prepareClone };
