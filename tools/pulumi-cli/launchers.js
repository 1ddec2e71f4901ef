const fs = require("node:fs/promises");
const path = require("node:path");

/**
 * The executables that the engine looks for in its own folder to run a Node.js program with dynamic
 * resources.
 */
const LAUNCHERS = ["pulumi-language-nodejs", "pulumi-resource-pulumi-nodejs"];

const SOURCES = path.join(__dirname, "launchers");

/**
 * Writes the launchers beside the engine: a script for Node.js, and a starter for the script with
 * the name that the engine expects. Each file appears complete or not at all, so that a running
 * engine never reads a part of one.
 * @param {string} binDir
 */
async function writeLaunchers(binDir) {
  for (const name of LAUNCHERS) {
    const script = `${name}.cjs`;
    await writeWhole(path.join(binDir, script), await fs.readFile(path.join(SOURCES, script), "utf8"), 0o644);
    if (process.platform === "win32") {
      await writeWhole(path.join(binDir, `${name}.cmd`), `@node "%~dp0${script}" %*\r\n`, 0o755);
    } else {
      const starter = `#!/bin/sh\nexec node "$(dirname -- "$0")/${script}" "$@"\n`;
      await writeWhole(path.join(binDir, name), starter, 0o755);
    }
  }
}

/**
 * Returns `true` if the launchers in a folder are from this tool, not from the official engine.
 * @param {string} binDir
 */
async function hasOwnLaunchers(binDir) {
  return (await fs.readdir(binDir)).includes(`${LAUNCHERS[0]}.cjs`);
}

/**
 * @param {string} file
 * @param {string} text
 * @param {number} mode
 */
async function writeWhole(file, text, mode) {
  const unfinished = `${file}.${process.pid}.${Math.random().toString(36).slice(2)}`;
  await fs.writeFile(unfinished, text, { mode });
  await fs.rename(unfinished, file);
}

module.exports = { LAUNCHERS, writeLaunchers, hasOwnLaunchers };
