#!/usr/bin/env node
// Installs packages that tests use, in the versions that the lists beside this file name, below
// .scratch/clients: the service's official clients and worker library, or with arguments what they
// name, such as Pulumi's own packages for Python and Java. Skips what is already there.
// Each installation is tried three times, because registries sometimes fail.
const { spawnSync } = require("node:child_process");
const { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");

const folder = path.resolve(__dirname, "../../.scratch/clients");
const TRIES = 3;

/**
 * @param {string} name the folder of the installation
 * @param {string} list the file that names the packages
 * @param {(target: string) => readonly (readonly string[])[]} commandsOf
 */
function install(name, list, commandsOf) {
  const target = path.join(folder, name);
  const wanted = readFileSync(path.join(__dirname, list), "utf8");
  const stamp = path.join(target, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return true;
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    copyFileSync(path.join(__dirname, list), path.join(target, list));
    const failed = commandsOf(target).find(([command = "", ...args]) => {
      const { status, error } = spawnSync(command, args, { cwd: target, stdio: ["ignore", 2, 2] });
      if (error) console.error(`${command}: ${error.message}`);
      return status !== 0;
    });
    if (!failed) {
      writeFileSync(stamp, wanted);
      return true;
    }
    console.error(`${name}: try ${attempt} of ${TRIES} failed: ${failed.join(" ")}`);
  }
  return false;
}

const npm = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
const pip = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"];

/**
 * Creates a virtual environment with exactly the packages of a list, without dependencies that
 * nothing here loads.
 * @param {string} list
 */
const virtualEnvironment = (list) => (/** @type {string} */ target) => [
  ["python3", "-m", "venv", "venv"],
  [path.join(target, "venv/bin/python"), "-m", ...pip, "--no-deps", "-r", list],
];

/**
 * @type {Record<string, [list: string, commandsOf: (target: string) => readonly (readonly
 * string[])[]]>}
 */
const INSTALLATIONS = {
  node: ["package.json", () => [npm]],
  python: ["requirements.txt", virtualEnvironment("requirements.txt")],
  "pulumi-python": ["pulumi-requirements.txt", virtualEnvironment("pulumi-requirements.txt")],
  "pulumi-java": ["pom.xml", () => [["mvn", "--quiet", "--batch-mode", "dependency:copy-dependencies"]]],
};

const names = process.argv.length > 2 ? process.argv.slice(2) : ["node", "python"];
const results = names.map((name) => {
  const installation = INSTALLATIONS[name];
  if (!installation) throw new Error(`there is no ${name}, only ${Object.keys(INSTALLATIONS).join(", ")}`);
  return install(name, ...installation);
});
process.exitCode = results.every(Boolean) ? 0 : 1;
