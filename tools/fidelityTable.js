// Writes docs/emulator-fidelity.md: every behaviour of the emulator, how much is known about it, and where it is tested.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const testFolder = path.join(root, "test", "emulator");
const TABLE_FILE = path.join(root, "docs", "emulator-fidelity.md");

/** @typedef {Readonly<Record<string, { readonly level: string, readonly text: string }>>} Rows */

/**
 * The rows that the emulator's tests name, with the files that do: a test names a row by its id in brackets in its title.
 * @param {Rows} rows they tell what an id begins with
 * @returns {Map<string, Set<string>>}
 */
function testedRows(rows) {
  const sections = new Set(Object.keys(rows).map((id) => id.split(".")[0]));
  const named = new RegExp(`\\[((?:${[...sections].join("|")})\\.[a-z0-9-]+)\\]`, "g");
  /** @type {Map<string, Set<string>>} */
  const tested = new Map();
  const files = fs.readdirSync(testFolder, { encoding: "utf8", recursive: true }).sort();
  for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
    const code = fs.readFileSync(path.join(testFolder, file), "utf8");
    for (const [, id = ""] of code.matchAll(named)) {
      tested.set(id, (tested.get(id) ?? new Set()).add(file));
    }
  }
  return tested;
}

/**
 * @param {Rows} rows
 * @param {Map<string, Set<string>>} tested
 */
function renderTable(rows, tested) {
  /** @param {string} text */
  const cell = (text) => text.replaceAll("|", "\\|");
  const lines = Object.entries(rows).map(([id, { level, text }]) => {
    const files = [...(tested.get(id) ?? [])].map((file) => `[${file}](../test/emulator/${file})`);
    return `| \`${id}\` | ${level} | ${cell(text)} | ${files.join(", ")} |`;
  });
  const count = (/** @type {string} */ level) => Object.values(rows).filter((row) => row.level === level).length;
  return `# What the emulator does, and how much is known about it

Made from \`emulator/server/fidelity.ts\` by \`npm run docs:fidelity\`; do not edit. An emulator shows the same rows as JSON at
\`/_emulator/fidelity\`, and marks an answer that plays an assumed one with the header \`x-emulator-fidelity: assumed\`.

- **documented**: the service's contract says so (${count("documented")} rows).
- **observed**: seen at a running service (${count("observed")} rows).
- **assumed**: our choice where neither says anything (${count("assumed")} rows).

| Row | Level | Behaviour | Tests |
|---|---|---|---|
${lines.join("\n")}
`;
}

if (require.main === module) {
  const { fidelity } = require("../dist/emulator/model/fidelity.js");
  fs.mkdirSync(path.dirname(TABLE_FILE), { recursive: true });
  fs.writeFileSync(TABLE_FILE, renderTable(fidelity, testedRows(fidelity)));
}

module.exports = { renderTable, testedRows, TABLE_FILE };
