// Writes the tables of docs/contributing that connect rules with the tests that show them: the
// service's contract, which the client follows, and the behavior of the emulator. A test names a
// row by its id in brackets in its title.
const fs = require("node:fs");
const path = require("node:path");

const root = path.resolve(__dirname, "..");

/**
 * A table of rules.
 * @typedef {object} RuleTable
 * @property {string} file the document
 * @property {string} folder the folder of the tests
 * @property {string} intro the document above the table
 * @property {readonly string[]} columns the headings between the id and the tests
 * @property {Readonly<Record<string, readonly string[]>>} rows the cells between the id and the
 * tests, by id
 */

/**
 * Returns the table of the service's contract.
 * @param {Readonly<Record<string, { readonly source: string, readonly rule: string }>>} contract
 * @returns {RuleTable}
 */
function contractTable(contract) {
  return {
    file: path.join(root, "docs", "contributing", "contract.md"),
    folder: path.join(root, "test", "sdk"),
    intro: `# The service's contract

Generated from \`tools/contractRows.js\` by \`npm run docs:tables\`; do not edit. The table lists each rule
of the service's published description that the client follows, with the section that it comes from and the tests that
show it. [emulator-fidelity.md](emulator-fidelity.md) says how much is known about the emulator's behavior.`,
    columns: ["Rule", "Section"],
    rows: mapValues(contract, ({ source, rule }) => [rule, source]),
  };
}

/**
 * Returns the table of the emulator's behavior.
 * @param {Readonly<Record<string, { readonly level: string, readonly text: string }>>} fidelity
 * @returns {RuleTable}
 */
function fidelityTable(fidelity) {
  const count = (/** @type {string} */ level) => Object.values(fidelity).filter((row) => row.level === level).length;
  return {
    file: path.join(root, "docs", "contributing", "emulator-fidelity.md"),
    folder: path.join(root, "test", "emulator"),
    intro: `# The emulator's behavior, and how much is known about it

Generated from \`emulator/model/rows\` by \`npm run docs:tables\`; do not edit. An emulator returns the same rows as
JSON at \`/_emulator/fidelity\`, and marks a response that follows an assumed row with the header
\`x-emulator-fidelity: assumed\`.

- **documented**: the service's contract says so (${count("documented")} rows).
- **observed**: seen at a running service (${count("observed")} rows).
- **assumed**: our choice, because neither source covers it (${count("assumed")} rows).`,
    columns: ["Level", "Behavior"],
    rows: mapValues(fidelity, ({ level, text }) => [level, text]),
  };
}

/**
 * @template T
 * @param {Readonly<Record<string, T>>} record
 * @param {(value: T) => readonly string[]} toCells
 */
function mapValues(record, toCells) {
  return Object.fromEntries(Object.entries(record).map(([id, value]) => [id, toCells(value)]));
}

/**
 * Returns the ids that the titles of the tests name, each with the files that do.
 * @param {RuleTable} table
 * @returns {Map<string, Set<string>>}
 */
function testedRows({ rows, folder }) {
  const sections = new Set(Object.keys(rows).map((id) => id.split(".")[0]));
  const named = new RegExp(`\\[((?:${[...sections].join("|")})\\.[a-z0-9-]+)\\]`, "g");
  /** @type {Map<string, Set<string>>} */
  const tested = new Map();
  const files = fs.readdirSync(folder, { encoding: "utf8", recursive: true }).sort();
  for (const file of files.filter((name) => name.endsWith(".test.ts"))) {
    const code = fs.readFileSync(path.join(folder, file), "utf8");
    for (const [, id = ""] of code.matchAll(named)) {
      tested.set(id, (tested.get(id) ?? new Set()).add(file.replaceAll(path.sep, "/")));
    }
  }
  return tested;
}

/**
 * Returns the text of the table's document.
 * @param {RuleTable} table
 */
function renderTable(table) {
  const tested = testedRows(table);
  const tests = path.relative(path.dirname(table.file), table.folder).replaceAll(path.sep, "/");
  const lines = Object.entries(table.rows).map(([id, cells]) => {
    const links = [...(tested.get(id) ?? [])].map((file) => `[${file}](${tests}/${file})`);
    const escaped = cells.map((cell) => cell.replaceAll("|", "\\|"));
    return `| ${[`\`${id}\``, ...escaped, links.join(", ")].join(" | ")} |`;
  });
  return `${table.intro}

| Id | ${table.columns.join(" | ")} | Tests |
|---|${"---|".repeat(table.columns.length + 1)}
${lines.join("\n")}
`;
}

if (require.main === module) {
  const { contract } = require("./contractRows.js");
  const { fidelity } = require("../build/emulator/model/fidelity.js");
  for (const table of [contractTable(contract), fidelityTable(fidelity)]) {
    fs.writeFileSync(table.file, renderTable(table));
  }
}

module.exports = { contractTable, fidelityTable, renderTable, testedRows };
