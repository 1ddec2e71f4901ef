const fs = require("node:fs/promises");
const path = require("node:path");
const { gte } = require("semver");
const { LAUNCHERS } = require("./launchers");
const { run } = require("./run");

/**
 * @typedef {object} Engine
 * @property {string} command path of the executable
 * @property {string} binDir its folder; must be first on PATH, so that the engine uses its own
 * launchers
 * @property {string} version such as `3.230.0`
 * @property {"path" | "cache" | "download" | "build"} source its source in this run
 */

/** The oldest supported engine: the first whose `--expect-no-changes` has its own exit code (7). */
const MINIMUM_VERSION = "3.227.0";

const WINDOWS_EXTENSIONS = [".exe", ".cmd", ".ps1"];

/**
 * Returns the path of an executable in the first folder that has it.
 * @param {string} name
 * @param {string[]} folders
 * @returns {Promise<string | undefined>}
 */
async function findExecutable(name, folders) {
  const names = process.platform === "win32" ? WINDOWS_EXTENSIONS.map((extension) => name + extension) : [name];
  for (const file of folders.flatMap((folder) => names.map((candidate) => path.join(folder, candidate)))) {
    const isExecutable = await fs.access(file, fs.constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return file;
  }
  return undefined;
}

/**
 * Returns the version that an engine prints, without the leading "v".
 * @param {string} command
 * @returns {Promise<string>}
 */
async function engineVersion(command) {
  const env = { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true" };
  const output = await run(command, ["version"], { env, timeoutMs: 30_000 });
  return output.trim().replace(/^v/, "");
}

/**
 * Returns the engine on PATH. Fails with the reason if there is no supported engine.
 * @returns {Promise<Engine>}
 */
async function findOnPath() {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  const command = await findExecutable("pulumi", folders);
  if (!command) throw new Error("there is none");
  const version = await engineVersion(command);
  if (!gte(version, MINIMUM_VERSION)) {
    throw new Error(`${command} has version ${version}, but ${MINIMUM_VERSION} or later is required`);
  }
  const beside = path.dirname(await fs.realpath(command));
  for (const launcher of LAUNCHERS) {
    if (!(await findExecutable(launcher, [beside, ...folders]))) {
      throw new Error(`${command} has no ${launcher}, which programs in Node.js need`);
    }
  }
  return { command, binDir: path.dirname(command), version, source: "path" };
}

module.exports = { MINIMUM_VERSION, engineVersion, findExecutable, findOnPath };
