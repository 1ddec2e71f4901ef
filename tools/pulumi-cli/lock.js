const fs = require("node:fs/promises");
const path = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");

/** How often the holder of a lock shows that it is alive. */
const HEARTBEAT_MS = 2_000;
/** A lock that has shown no life for so long was left by a killed run. */
const STALE_AFTER_MS = 15_000;
const RETRY_MS = 250;

/**
 * Runs `work` while no other process holds the same lock. The lock is a folder that exists while it is held; `work` may
 * put its unfinished files there, and they are removed with it, also those of a run that was killed.
 * @template T
 * @param {string} folder
 * @param {() => void} onWait called once if another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withLock(folder, onWait, work) {
  await fs.mkdir(path.dirname(folder), { recursive: true });
  for (let waiting = false; !(await tryToCreate(folder)); waiting = true) {
    if (await isStale(folder)) {
      await discard(folder);
    } else {
      if (!waiting) onWait();
      await sleep(RETRY_MS);
    }
  }
  const heartbeat = setInterval(() => fs.utimes(folder, new Date(), new Date()).catch(() => {}), HEARTBEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    await discard(folder);
  }
}

/** @param {string} folder */
async function tryToCreate(folder) {
  try {
    await fs.mkdir(folder);
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** @param {string} folder */
async function isStale(folder) {
  try {
    return Date.now() - (await fs.stat(folder)).mtimeMs > STALE_AFTER_MS;
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

/**
 * Moves the folder away before it is emptied, so that nobody can take the lock while its old content is still there.
 * @param {string} folder
 */
async function discard(folder) {
  const discarded = `${folder}.${process.pid}.${Date.now()}`;
  try {
    await fs.rename(folder, discarded);
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  await fs.rm(discarded, { recursive: true, force: true });
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function isCode(error, code) {
  return error instanceof Error && "code" in error && error.code === code;
}

module.exports = { withLock };
