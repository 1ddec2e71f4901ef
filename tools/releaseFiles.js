#!/usr/bin/env node
// Makes everything that a release publishes, in a new folder: `npm run release:files -- <folder>`.
// Both npm packages, the plugin's archives, its schema, an SDK for each language that the engine at
// hand can generate, lists of the packages in them (SPDX), and checksums.
const { execFileSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} = require("node:fs");
const path = require("node:path");
const { ensureHosts } = require("./pulumi-cli/hosts");
const { NAME: PLUGIN, writeArchives } = require("./releaseArchives");

const root = path.join(__dirname, "..");
const manifest = require("../package.json");
const { name, version } = manifest;
const LANGUAGES = ["python", "go", "java", "nodejs"];

/**
 * Runs a command, and returns its output.
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 * @param {NodeJS.ProcessEnv} [env]
 */
function run(command, args, cwd = root, env = process.env) {
  return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

/**
 * Packs both npm packages. The plugin's gets the license, which its folder does not have.
 * @param {string} folder
 * @param {string} scratch
 */
function addPackages(folder, scratch) {
  const plugin = path.join(scratch, "plugin");
  for (const part of ["package.json", "README.md", "bin"])
    if (existsSync(path.join(root, "plugin", part)))
      cpSync(path.join(root, "plugin", part), path.join(plugin, part), { recursive: true });
  cpSync(path.join(root, "LICENSE"), path.join(plugin, "LICENSE"));
  for (const source of [root, plugin])
    run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], source);
}

/**
 * Generates the SDKs and packs each.
 * @param {string} folder
 * @param {string} scratch
 */
async function addSdks(folder, scratch) {
  const { command, binDir } = await ensureHosts();
  const env = {
    ...process.env,
    PATH: binDir + path.delimiter + process.env.PATH,
    PULUMI_HOME: path.join(scratch, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  };
  const plugin = path.join(root, "plugin/bin", PLUGIN);
  const sameForAll = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
  for (const language of LANGUAGES) {
    try {
      run(command, ["package", "gen-sdk", plugin, "--language", language, "--out", scratch], root, env);
    } catch (error) {
      // An engine that was built from Go modules has no generator for every language.
      console.error(`No SDK for ${language}, which this engine does not generate: ${lastLine(error)}`);
      continue;
    }
    const archive = path.join(folder, `${PLUGIN}-sdk-${language}-v${version}.tar.gz`);
    run("tar", ["--create", "--gzip", "--file", archive, ...sameForAll, "--directory", scratch, language]);
  }
}

/** @param {unknown} error */
function lastLine(error) {
  const { stderr = "" } = /** @type {{ stderr?: string }} */ (error);
  return stderr.trim().split("\n").at(-1);
}

/**
 * Lists the packages that the npm package brings along, in the format SPDX. npm fails on a package
 * with workspaces that depend on it, and lists packages for development, so it gets a copy of the
 * lock without them. Each archive of the plugin names the packages of its bundle in LICENSES.
 * @param {string} folder
 * @param {string} scratch
 */
function addContents(folder, scratch) {
  const { license, dependencies } = manifest;
  const { packages, ...lock } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
  const installed = Object.entries(packages).filter(
    ([place, { dev, devOptional, peer, link }]) =>
      place.startsWith("node_modules/") && !(dev || devOptional || peer || link),
  );
  const own = { name, version, license, dependencies };
  const files = {
    "package.json": own,
    "package-lock.json": { ...lock, packages: Object.fromEntries([["", own], ...installed]) },
  };
  const copy = path.join(scratch, "contents");
  mkdirSync(copy);
  for (const [file, content] of Object.entries(files)) writeFileSync(path.join(copy, file), JSON.stringify(content));
  const list = run("npm", ["sbom", "--sbom-format=spdx", "--package-lock-only"], copy);
  writeFileSync(path.join(folder, `${name}-${version}.spdx.json`), list);
}

/**
 * Writes the SHA-256 digest of each file.
 * @param {string} folder
 */
function writeChecksums(folder) {
  const files = readdirSync(folder).sort();
  const digestOf = (/** @type {string} */ file) =>
    createHash("sha256")
      .update(readFileSync(path.join(folder, file)))
      .digest("hex");
  writeFileSync(path.join(folder, "SHA256SUMS"), files.map((file) => `${digestOf(file)}  ${file}\n`).join(""));
}

/** @param {string | undefined} given */
async function main(given) {
  if (given === undefined) throw new Error("name a folder that does not exist: npm run release:files -- release");
  const folder = path.resolve(given);
  if (existsSync(folder)) throw new Error(`${folder} exists. Name a folder that does not`);
  mkdirSync(folder, { recursive: true });
  mkdirSync(path.join(root, ".scratch"), { recursive: true });
  const scratch = mkdtempSync(path.join(root, ".scratch", "release-"));
  try {
    addPackages(folder, scratch);
    writeArchives(folder);
    cpSync(path.join(root, "plugin/schema.json"), path.join(folder, "schema.json"));
    await addSdks(folder, scratch);
    addContents(folder, scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
  writeChecksums(folder);
  console.log(readdirSync(folder).join("\n"));
}

main(process.argv[2]).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
