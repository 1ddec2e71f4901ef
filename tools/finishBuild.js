// Does what the compiler does not: removes outputs without a source, copies the files of the
// emulator's page, makes the command executable, and notes from which sources all was built.
const { chmodSync, cpSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { removeOrphans } = require("./orphans");
const { DIGEST_FILE, digestOfSources } = require("./sourcesOfBuild");

const root = path.join(__dirname, "..");
const page = path.join("emulator", "page", "static");

removeOrphans(path.join(root, "dist"), root);
rmSync(path.join(root, "dist", page), { recursive: true, force: true });
cpSync(path.join(root, page), path.join(root, "dist", page), { recursive: true });
chmodSync(path.join(root, "dist/cli/main.js"), 0o755);
writeFileSync(DIGEST_FILE, digestOfSources());
