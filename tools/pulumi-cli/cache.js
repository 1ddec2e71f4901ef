const fs = require("node:fs/promises");
const os = require("node:os");
const path = require("node:path");
const { engineVersion, findExecutable } = require("./find");
const { hasOwnLaunchers, writeLaunchers } = require("./launchers");

/** @typedef {import("./find").Engine} Engine */

/**
 * Returns the folder of one version of the engine in this user's cache. The folder may not exist.
 * @param {string} version
 */
function cachedFolder(version) {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(cache, "pulumi-serverless-gpu", "pulumi", version);
}

/**
 * Returns the engine that an earlier run has put into the cache. Fails with the reason if there is
 * no engine that works.
 * @param {string} folder
 * @returns {Promise<Engine>}
 */
async function findInCache(folder) {
  const binDir = path.join(folder, "bin");
  const command = await findExecutable("pulumi", [binDir]);
  if (!command) throw new Error("there is none");
  const version = await engineVersion(command);
  // Written again on every run, because the cache may be older than the launchers of this clone.
  if (await hasOwnLaunchers(binDir)) await writeLaunchers(binDir);
  return { command, binDir, version, source: "cache" };
}

/**
 * Puts an engine into the cache, completely or not at all.
 * @param {string} folder
 * @param {string} unfinished a folder on the same disk for unfinished files
 * @param {"download" | "build"} source
 * @param {(root: string) => Promise<void>} make puts the engine into `bin` of the given folder
 * @returns {Promise<Engine>}
 */
async function addToCache(folder, unfinished, source, make) {
  const root = path.join(unfinished, source);
  await fs.mkdir(path.join(root, "bin"), { recursive: true });
  await make(root);
  await findInCache(root);
  await fs.rm(folder, { recursive: true, force: true });
  await fs.rename(root, folder);
  return { ...(await findInCache(folder)), source };
}

module.exports = { cachedFolder, findInCache, addToCache };
