// Writes docs/emulator-fidelity.md: the behavior of the emulator, the evidence for it, and its tests.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");
const testFolder = path.join(root, "test", "emulator");
const TABLE_FILE = path.join(root, "docs", "emulator-fidelity.md");

/** @typedef {Readonly<Record<string, { readonly level: string, readonly text: string }>>} Rows */

/**
 * Returns the ids of the rows that tests name in brackets in their titles, with the test files.
 * @param {Rows} rows
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
  return `# The behavior of the emulator, and the evidence for it

Generated from \`emulator/model/fidelity.ts\` by \`npm run docs:fidelity\`; do not edit. An emulator shows the same rows as JSON at
\`/_emulator/fidelity\`, and marks a response that follows an assumed row with the header \`x-emulator-fidelity: assumed\`.

- **documented** in the contract of the service (${count("documented")} rows).
- **observed** at a running service (${count("observed")} rows).
- **assumed** where neither shows the behavior (${count("assumed")} rows).

| Row | Level | Behavior | Tests |
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
