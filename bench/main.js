#!/usr/bin/env node
// Runs the benchmarks, prints a table, and records the figures:
// `npm run bench [-- <name> …] [--quick]`.
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { parseArgs } = require("node:util");
const { plot } = require("./plot");
const { withTable } = require("./readme");
const { figures, spread } = require("./runner");
const { table } = require("./table");

/** @typedef {import("./runner").Row} Row */

const FOLDER = path.join(__dirname, "benchmarks");
const RESULTS = path.join(__dirname, "results.json");
const PLOT = path.join(__dirname, "results.svg");
const README = path.join(__dirname, "README.md");

async function main() {
  const { values, positionals } = parseArgs({ options: { quick: { type: "boolean" } }, allowPositionals: true });
  const quick = values.quick ?? false;
  const known = fs.readdirSync(FOLDER).map((file) => path.basename(file, ".js"));
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`no benchmark is named ${unknown.join(", ")}. The benchmarks are: ${known.join(", ")}`);

  /** @type {Record<string, Row[]>} */
  const measured = {};
  for (const name of positionals.length > 0 ? positionals : known) {
    /** @type {import("./runner").Benchmark} */
    const benchmark = require(path.join(FOLDER, name));
    console.error(`━━ ${name}: ${benchmark.title}`);
    const rows = await benchmark.run({ quick, log: (line) => console.error(`   ${line}`) });
    if (rows === undefined) continue;
    measured[name] = rows;
    console.log(`\n${table(rows)}\n`);
  }
  // A quick run shows that everything works. Its figures mean little.
  if (!quick) record(measured);
}

/**
 * Writes the figures into the results, where they replace earlier figures of the same benchmarks,
 * and updates the plot and the README.
 * @param {Record<string, Row[]>} measured
 */
function record(measured) {
  const earlier = fs.existsSync(RESULTS) ? JSON.parse(fs.readFileSync(RESULTS, "utf8")).benchmarks : {};
  const added = Object.entries(measured).map(([name, rows]) => [
    name,
    { measuredAt: new Date().toISOString(), machine: describeMachine(), rows: rows.map(withSummary) },
  ]);
  const benchmarks = { ...earlier, ...Object.fromEntries(added) };
  fs.writeFileSync(RESULTS, `${JSON.stringify({ benchmarks }, null, 2)}\n`);
  const rows = Object.values(benchmarks).flatMap((benchmark) => benchmark.rows);
  fs.writeFileSync(PLOT, plot(rows));
  fs.writeFileSync(README, withTable(fs.readFileSync(README, "utf8"), rows));
}

/** @param {Row} row */
function withSummary(row) {
  return { ...row, compared: figures(row), summary: spread(figures(row)) };
}

function describeMachine() {
  return { node: process.version, platform: `${process.platform} ${process.arch}`, cpus: os.availableParallelism() };
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
