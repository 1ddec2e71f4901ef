import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type CellResult, titleOf } from "./matrix";

/** Folder of the results for CI. Git-ignored. */
const FOLDER = path.resolve(__dirname, "../../.scratch/faults");

/** Prints the results as a table, writes them to files, and returns those with problems. */
export function report(name: string, results: readonly CellResult[]): string[] {
  const failed = results.filter(({ problems }) => problems.length > 0);
  const failures = failed.flatMap(({ cell, problems }) => problems.map((problem) => `${titleOf(cell)}: ${problem}`));
  const table = tableOf(results);
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, `${name}.md`), [table, ...failures.map((line) => `- ${line}`)].join("\n"));
  const records = results.map(({ cell, ...rest }) => ({ cell: titleOf(cell), ...rest }));
  writeFileSync(path.join(FOLDER, `${name}.json`), JSON.stringify(records, undefined, 1));
  process.stdout.write(`\n${table}\n${path.join(FOLDER, name)}.md, .json\n`);
  return failures;
}

function tableOf(results: readonly CellResult[]): string {
  const rows = new Map<string, CellResult[]>();
  for (const result of results) {
    const name = `${result.cell.operation.name}: ${result.cell.step.name}`;
    rows.set(name, [...(rows.get(name) ?? []), result]);
  }
  const lines = [...rows].sort(([one], [other]) => one.localeCompare(other)).map(([name, row]) => lineOf(name, row));
  return [
    "| operation: step | cells run | succeeded in spite of it | failed as they should | held | failed | longest (s) |",
    "|---|--:|--:|--:|--:|--:|--:|",
    ...lines,
    lineOf("**all**", results),
  ].join("\n");
}

function lineOf(name: string, results: readonly CellResult[]): string {
  const failed = results.filter(({ problems }) => problems.length > 0).length;
  const errors = results.filter(({ error }) => error !== undefined).length;
  const longest = Math.max(...results.map(({ seconds }) => seconds));
  const numbers = [results.length, results.length - errors, errors, results.length - failed, failed, longest];
  return `| ${name} | ${numbers.join(" | ")} |`;
}
