const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

/**
 * Returns the folder of a package that only the benchmarks use (`bench/package.json`). Installs it
 * if it is not there yet, and returns `undefined` if that fails.
 * @param {string} name
 * @param {(line: string) => void} log
 */
function findPeer(name, log) {
  const folder = path.join(__dirname, "node_modules", name);
  if (fs.existsSync(folder)) return folder;
  log(`installing ${name} …`);
  try {
    const args = ["install", "--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund"];
    execFileSync("npm", args, { cwd: __dirname, stdio: ["ignore", "ignore", "pipe"] });
    return folder;
  } catch {
    log(`${name} could not be installed; what is compared with it is left out. Run "npm install" in bench/ to see why`);
    return undefined;
  }
}

module.exports = { findPeer };
