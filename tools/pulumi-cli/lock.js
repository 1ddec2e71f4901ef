const fs = require("node:fs/promises");
const path = require("node:path");
const { lock } = require("proper-lockfile");

/** A lock that its holder has not touched for this long was left by a killed run. */
const STALE_AFTER_MS = 15_000;
const RETRY_MS = 250;

/**
 * Runs `work` while no other process holds the lock of `folder`. `work` gets the path of a folder
 * for its unfinished files, which is removed before and after, with the files of a run that was
 * killed.
 * @template T
 * @param {string} folder
 * @param {() => void} onWait called once if another process holds the lock
 * @param {(unfinished: string) => Promise<T>} work
 * @returns {Promise<T>}
 */
async function withLock(folder, onWait, work) {
  const options = { lockfilePath: `${folder}.lock`, realpath: false, stale: STALE_AFTER_MS };
  const retries = { forever: true, minTimeout: RETRY_MS, maxTimeout: RETRY_MS };
  await fs.mkdir(path.dirname(folder), { recursive: true });
  const release = await lock(folder, options).catch((error) => {
    if (error.code !== "ELOCKED") throw error;
    onWait();
    return lock(folder, { ...options, retries });
  });
  const unfinished = `${folder}.unfinished`;
  const removeUnfinished = () => fs.rm(unfinished, { recursive: true, force: true });
  try {
    await removeUnfinished();
    return await work(unfinished);
  } finally {
    await removeUnfinished();
    await release();
  }
}

module.exports = { withLock };
