import { writeFileSync } from "node:fs";
import { systemReason } from "../../emulator/io/systemReason";
import { escaped } from "../forecast/report/charts";
import { assumptionRows, bothWidths, htmlPage } from "../forecast/report/page";
import type { Table } from "../tables";
import { costLines, countsText } from "./costTable";
import { changeLines, figureTables, playedLine, type Report, titleOf, verdictTable } from "./report";

/**
 * Writes the report as one page, which needs no network.
 * @throws Error if the file cannot be written
 */
export function writePage(file: string, report: Report): void {
  try {
    writeFileSync(file, pageOf(report));
  } catch (cause) {
    throw new Error(`the page ${file} cannot be written: ${systemReason(cause)}`, { cause });
  }
}

const CLASSES: Readonly<Record<string, string>> = { DANGER: "over", LIMIT: "over", note: "warning" };

function tableOf({ title, header, rows }: Table): string {
  const cells = (each: readonly string[], tag: string) =>
    each.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("");
  const lines = rows.map((row) => `<tr class="${CLASSES[row[0] ?? ""] ?? ""}">${cells(row, "td")}</tr>`);
  return `<h2>${escaped(title)}</h2>\n<table><tr>${cells(header, "th")}</tr>\n${lines.join("\n")}</table>`;
}

/** Returns the page. */
export function pageOf(report: Report): string {
  const { verdict, review, rehearsal } = report;
  const played = rehearsal?.played;
  const forecast = played?.report;
  const changes = rehearsal ? changeLines(rehearsal).map((line) => `<li>${escaped(line)}</li>`) : [];
  const body = `<h1 class="${verdict.code === 0 ? "" : "over"}">${escaped(titleOf(report))}</h1>
${tableOf(verdictTable(report))}
<h2>Cost and changes of endpoints</h2>
<p>${escaped(countsText(review.counts))}</p>
<pre>${escaped(costLines(review).join("\n"))}</pre>
${changes.length > 0 ? `<h2>The update of the copy</h2>\n<ul>${changes.join("\n")}</ul>` : ""}
${played ? `<p>${escaped(playedLine(played))}</p>` : ""}
${forecast ? figureTables(forecast).map(tableOf).join("\n") : ""}
${forecast ? bothWidths(forecast) : ""}
${forecast ? `<h2>Assumptions</h2>\n<table>${assumptionRows(forecast)}</table>` : ""}`;
  return htmlPage(titleOf(report), body);
}
