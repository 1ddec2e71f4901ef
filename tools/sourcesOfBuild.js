// Tells from which sources `dist` was built, so that tests of the command fail if it is out of
// date.
const { createHash } = require("node:crypto");
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");

/** The file that holds the digest of the sources. It is not published. */
const DIGEST_FILE = path.join(root, "dist", ".sources");

/** The folders of which `dist` is built. */
const BUILT = ["cli", "emulator", "provider", "sdk"];

/** Returns the digest of all files in folders of the repository, as they are now. */
function digestOfSources(folders = BUILT) {
  const hash = createHash("sha256");
  for (const folder of folders) {
    const entries = readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    for (const file of files.sort()) hash.update(path.relative(root, file)).update(readFileSync(file));
  }
  return hash.digest("hex");
}

/**
 * Throws if `dist` was built from other sources.
 * @throws Error that says how to build it
 */
function assertBuilt() {
  const built = existsSync(DIGEST_FILE) ? readFileSync(DIGEST_FILE, "utf8") : undefined;
  if (built !== digestOfSources())
    throw new Error("dist is older than the sources: run npm run build, then the test again");
}

module.exports = { DIGEST_FILE, digestOfSources, assertBuilt };
