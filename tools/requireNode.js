// Ends the process with a message if this Node.js is too old. Every tool that a newcomer runs loads
// this before anything else: other modules fail on an old Node.js with messages that do not help.
const { engines } = require("../package.json");

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const [, leastMajor = 0, leastMinor = 0] = (/(\d+)\.(\d+)/.exec(engines.node) || []).map(Number);

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(
    `Node.js ${leastMajor}.${leastMinor} or later is needed, and this is ${process.versions.node}.\n` +
      "Install a newer one: https://nodejs.org (with nvm: nvm install --lts)",
  );
  process.exit(1);
}
