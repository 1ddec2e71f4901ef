// Does what the compiler does not: copies the files of the emulator's page, and makes the command
// executable.
const { chmodSync, cpSync, rmSync } = require("node:fs");
const path = require("node:path");

const root = path.join(__dirname, "..");
const page = path.join("emulator", "page", "static");

rmSync(path.join(root, "dist", page), { recursive: true, force: true });
cpSync(path.join(root, page), path.join(root, "dist", page), { recursive: true });
chmodSync(path.join(root, "dist/cli/main.js"), 0o755);
