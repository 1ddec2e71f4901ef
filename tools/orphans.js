const { existsSync, readdirSync, rmdirSync, rmSync } = require("node:fs");
const path = require("node:path");

/** The files that the compiler writes for a source. */
const OUTPUT = /\.(js|d\.ts)(\.map)?$/;

/**
 * Removes the compiler's outputs for sources that have since been moved or deleted. Otherwise, they
 * would be published, and imports of deleted files would still work.
 * @param {string} dist a folder of outputs, or one in it
 * @param {string} sources the folder with the sources of these outputs
 */
function removeOrphans(dist, sources) {
  for (const entry of readdirSync(dist, { withFileTypes: true })) {
    const file = path.join(dist, entry.name);
    if (entry.isDirectory()) {
      removeOrphans(file, path.join(sources, entry.name));
      if (readdirSync(file).length === 0) rmdirSync(file);
    } else if (OUTPUT.test(entry.name) && !existsSync(path.join(sources, entry.name.replace(OUTPUT, ".ts")))) {
      rmSync(file);
    }
  }
}

module.exports = { removeOrphans };
