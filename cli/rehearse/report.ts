import { redact } from "../../sdk/errors/secretText";
import { visible } from "../../sdk/errors/visible";
import { jsonOf as forecastJson, textOf as forecastText } from "../forecast/forecast";
import { calibrationCells } from "../forecast/report/calibration";
import { duringCells, duringTitle } from "../forecast/report/during";
import type { Report as Forecast } from "../forecast/report/report";
import type { Range, Summary } from "../forecast/report/summary";
import { costLines, costMarkdown, countsText, escapedMarkdown, type ReviewReport, reviewJson } from "../review/report";
import { shownMoney, shownNumber, shownTime } from "../shownValues";
import type { Applied } from "./apply";
import type { Played } from "./play";
import type { Check } from "./verdict";

/** The result of a rehearsal. */
export interface Rehearsal {
  readonly stack: string;
  readonly isCreation: boolean;
  readonly isOk: boolean;
  /** The verdict. */
  readonly checks: readonly Check[];
  /** The secrets that may or may not change. */
  readonly unknown: readonly string[];
  readonly applied: Applied;
  /** The load before, after and through the change; `undefined` without a load. */
  readonly played?: Played | undefined;
  readonly review: ReviewReport;
  /** Notes on what the rehearsal does not cover. */
  readonly notes: readonly string[];
}

/** A table of a rehearsal. The first cell of each row is its title. */
export interface Table {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Returns a text in one line, without secrets and control characters. */
export const clean = (text: string) => visible(redact(text).replace(/\s+/g, " "));

const RESULTS: Readonly<Record<Check["result"], string>> = {
  ok: "ok",
  limit: "LIMIT EXCEEDED",
  problem: "PROBLEM",
  notice: "note",
};

/** Returns the headline. */
export const titleOf = ({ isOk, isCreation, stack }: Rehearsal) =>
  `${isOk ? "Rehearsal" : "The rehearsal found a problem"}: ${isCreation ? "a creation of " : ""}${clean(stack)}`;

/** Returns the verdict as a table, most severe rows first. */
export function verdictTable({ checks }: Pick<Rehearsal, "checks">): Table {
  const order: readonly Check["result"][] = ["limit", "problem", "ok", "notice"];
  const sorted = [...checks].sort((one, other) => order.indexOf(one.result) - order.indexOf(other.result));
  const rows = sorted.map(({ result, what, text }) => [RESULTS[result], what, clean(text)]);
  return { title: "Verdict", header: ["result", "check", ""], rows };
}

/** Returns the lines about what the update did. */
export function changeLines({ applied, unknown, notes }: Rehearsal): string[] {
  const { changes, requests, limitedS } = applied;
  const time =
    limitedS > 0 ? `, at least ${shownTime(limitedS)} within RunPod's limits` : ", within RunPod's limits of a minute";
  return [
    ...(changes.length === 0 ? ["No changes."] : []),
    ...changes.map(
      ({ resource, kind, what, properties }) =>
        `${what}: ${resource} (${kind})${properties.length > 0 ? `: ${properties.join(", ")}` : ""}`,
    ),
    `The update takes ${requests} requests${time}.`,
    ...(unknown.length === 0
      ? []
      : [`It is unknown whether these secrets change. The rehearsal assumes that they do not: ${unknown.join(", ")}`]),
    ...notes,
  ].map(clean);
}

/** Returns the line that says which recording and which runs the figures are from. */
export function playedLine({ endpoint, checksum, report }: Played): string {
  const runs = report === undefined ? "" : `seeds 0 to ${(report.results[0]?.summary.runs ?? 1) - 1} of `;
  const verdict = report === undefined ? "" : `; ${report.calibration.verdict}`;
  return clean(`Load of ${endpoint}: ${runs}the record with SHA-256 ${checksum}${verdict}`);
}

/** Returns the tables of figures before, after and through the change, and their calibration. */
export function figureTables({ load, results, during, calibration }: Forecast): Table[] {
  const header = ["", ...results.map(({ title }) => title.toLowerCase())];
  return [
    {
      title: `The whole load, ${shownTime(load.spanS)}`,
      header,
      rows: figureRows(results.map(({ summary }) => summary)),
    },
    ...(during
      ? [{ title: duringTitle(during), header: ["", "without the change", "with it"], rows: duringCells(during) }]
      : []),
    ...(calibration.rows.length > 0
      ? [
          {
            title: "Calibration: the settings before, on the same load",
            header: ["", "measured", "forecast", "error"],
            rows: calibrationCells(calibration),
          },
        ]
      : []),
  ];
}

function figureRows(summaries: readonly Summary[]): string[][] {
  const row = (name: string, of: (summary: Summary) => Range | undefined, shown: (value: number) => string) => [
    name,
    ...summaries.map((summary) => {
      const { low, high } = of(summary) ?? { low: 0, high: 0 };
      return low === high ? shown(low) : `${shown(low)} … ${shown(high)}`;
    }),
  ];
  return [
    row("delay p50", ({ delayS }) => delayS.p50, shownTime),
    row("delay p95", ({ delayS }) => delayS.p95, shownTime),
    row("jobs lost to ttl", ({ lost }) => lost, shownNumber),
    row("jobs timed out", ({ timedOut }) => timedOut, shownNumber),
    row("cold starts", ({ coldStarts }) => coldStarts, shownNumber),
    row("cost a month", ({ monthly }) => monthly, shownMoney),
  ];
}

/** Formats the rehearsal as text. */
export function textOf(rehearsal: Rehearsal): string {
  const { played, review } = rehearsal;
  const verdict = verdictTable(rehearsal).rows.map(
    ([result = "", what = "", text = ""]) => `  ${result.padEnd(15)} ${what.padEnd(14)} ${text}`,
  );
  const costs = costLines(review);
  return [
    titleOf(rehearsal),
    ...changeLines(rehearsal).map((line) => `  ${line}`),
    "",
    "Verdict",
    ...verdict,
    ...(played ? ["", playedLine(played)] : []),
    ...(played?.report ? ["", forecastText(played.report)] : []),
    "",
    `Endpoints and network volumes: ${countsText(review.counts)}`,
    ...(costs.length > 0 ? ["", ...costs] : []),
    "",
  ].join("\n");
}

/** Formats the rehearsal as Markdown for a pull request comment. */
export function markdownOf(rehearsal: Rehearsal): string {
  const { played, review } = rehearsal;
  const row = (cells: readonly string[]) => `| ${cells.map(escapedMarkdown).join(" | ")} |`;
  const table = ({ header, rows }: Table) => [
    row(header),
    `|${header.map(() => "---|").join("")}`,
    ...cut(rows.map(row)),
    "",
  ];
  const figures = played?.report ? figureTables(played.report) : [];
  return [
    `### ${escapedMarkdown(titleOf(rehearsal))}`,
    "",
    ...cut(changeLines(rehearsal).map((line) => `- ${escapedMarkdown(line)}`)),
    "",
    ...table(verdictTable(rehearsal)),
    ...(played ? [escapedMarkdown(playedLine(played)), ""] : []),
    ...figures.flatMap((each) => [`**${escapedMarkdown(each.title)}**`, "", ...table(each)]),
    `Endpoints and network volumes: ${countsText(review.counts)}`,
    "",
    ...costMarkdown(review),
  ].join("\n");
}

/**
 * The maximum length of a list or a table, in characters, because a comment on GitHub has at most
 * 65,536.
 */
const LONGEST = 12_000;

function cut(lines: readonly string[]): string[] {
  let length = 0;
  const end = lines.findIndex((line) => {
    length += line.length + 1;
    return length > LONGEST;
  });
  return end === -1 ? [...lines] : [...lines.slice(0, end), "", `${lines.length - end} more are left out.`];
}

/** Converts the rehearsal to JSON data. */
export function jsonOf({ review, isOk, isCreation, played, ...rest }: Rehearsal, version: string): object {
  const load = played && {
    ...played,
    isCalibrated: played.report?.calibration.verdict === "calibrated",
    report: played.report && forecastJson(played.report),
  };
  return { version, ok: isOk, creation: isCreation, ...rest, load, review: reviewJson(review, version) };
}
