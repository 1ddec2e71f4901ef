// Ends the process with a line that helps if this Node.js is too old, or the clone's packages are
// not installed. A program that loads this file also needs the built package.
require("./requireNode");

const { existsSync } = require("node:fs");
const path = require("node:path");

/** @param {string} file */
const isThere = (file) => existsSync(path.join(__dirname, "..", file));

/** @param {string} line */
function end(line) {
  console.error(line);
  process.exit(1);
}

if (!isThere("node_modules/typescript"))
  end("The packages that this clone needs are not installed. Run npm ci, without --omit=dev");
if (require.main !== module && !isThere("dist/cli/main.js"))
  end("The package of this clone is not built. Run npm run build");
