import { writeFileSync } from "node:fs";
import { systemReason } from "../../emulator/io/systemReason";
import { escaped } from "../forecast/report/charts";
import { assumptionRows, bothWidths, PAGE_STYLE } from "../forecast/report/page";
import { costLines } from "../review/report";
import { changeLines, figureTables, playedLine, type Rehearsal, type Table, titleOf, verdictTable } from "./report";

/**
 * Writes the rehearsal as one page, which needs no network.
 * @throws Error if the file cannot be written
 */
export function writePage(file: string, rehearsal: Rehearsal): void {
  try {
    writeFileSync(file, pageOf(rehearsal));
  } catch (cause) {
    throw new Error(`the page ${file} cannot be written: ${systemReason(cause)}`, { cause });
  }
}

const CLASSES: Readonly<Record<string, string>> = { PROBLEM: "over", "LIMIT EXCEEDED": "over", note: "warning" };

function tableOf({ title, header, rows }: Table): string {
  const cells = (each: readonly string[], tag: string) =>
    each.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("");
  const lines = rows.map((row) => `<tr class="${CLASSES[row[0] ?? ""] ?? ""}">${cells(row, "td")}</tr>`);
  return `<h2>${escaped(title)}</h2>\n<table><tr>${cells(header, "th")}</tr>\n${lines.join("\n")}</table>`;
}

/** Returns the page. */
export function pageOf(rehearsal: Rehearsal): string {
  const { played, review, isOk } = rehearsal;
  const report = played?.report;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(titleOf(rehearsal))}</title>
<style>
${PAGE_STYLE}
th { text-align: left; padding: .2rem .8rem .2rem 0; font-weight: 600 } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem }
</style>
<h1 class="${isOk ? "" : "over"}">${escaped(titleOf(rehearsal))}</h1>
${tableOf(verdictTable(rehearsal))}
<h2>What the update does</h2>
<ul>${changeLines(rehearsal)
    .map((line) => `<li>${escaped(line)}</li>`)
    .join("\n")}</ul>
${played ? `<p>${escaped(playedLine(played))}</p>` : ""}
${report ? figureTables(report).map(tableOf).join("\n") : ""}
${report ? bothWidths(report) : ""}
<h2>Cost and changes of endpoints</h2>
<pre>${escaped(costLines(review).join("\n"))}</pre>
${report ? `<h2>Assumptions</h2>\n<table>${assumptionRows(report)}</table>` : ""}
</html>
`;
}
