import { redact } from "../../sdk/errors/secretText";
import { visible } from "../../sdk/errors/visible";
import { jsonOf as forecastJson, textOf as forecastText } from "../forecast/forecast";
import { calibrationTable } from "../forecast/report/calibration";
import { duringTable } from "../forecast/report/during";
import type { Report as Forecast } from "../forecast/report/report";
import { ruleTable } from "../forecast/report/schedule";
import { summaryTable } from "../forecast/report/text";
import { shownTime } from "../shownValues";
import type { Table } from "../tables";
import { costLines, costMarkdown, countsText } from "./costTable";
import { FINDINGS, type Finding } from "./finding";
import { NOT_TARGETED, type Review } from "./judge";
import { escapedMarkdown, markdownList, within } from "./markdown";
import type { Played } from "./rehearsal/play";
import type { Rehearsal } from "./rehearsal/rehearsal";
import type { Row, Verdict } from "./verdict";

/** The result of a check. */
export interface Report {
  readonly verdict: Verdict;
  readonly review: Review;
  /** `undefined` if the change was not applied to a copy. */
  readonly rehearsal?: Rehearsal | undefined;
}

/** Returns a text in one line, without secrets and control characters. */
export const clean = (text: string) => visible(redact(text).replace(/\r?\n/g, " "));

const plural = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];

/** Returns the verdict in a line. */
export function titleOf({ verdict: { rows, allowed }, review, rehearsal }: Report): string {
  const count = (result: Row["result"]) => rows.filter((row) => row.result === result).length;
  const found = [
    ...plural(count("danger"), "danger", "dangers"),
    ...plural(count("limit"), "exceeded limit", "exceeded limits"),
  ];
  const word = count("danger") > 0 ? "DANGER" : count("limit") > 0 ? "LIMIT EXCEEDED" : "OK";
  const isWhole = review.missed.length === 0 && review.costs.after.unknown.length === 0 && review.hidden === 0;
  const verdict = found.join(" and ") || (isWhole ? "nothing was found" : "the checks that were made found no problem");
  const of = rehearsal ? ` in the rehearsal of ${rehearsal.isCreation ? "a creation of " : ""}${rehearsal.stack}` : "";
  const cut =
    review.hidden > 0
      ? `. The preview leaves out ${review.hidden} unchanged resources, so this is not the whole stack`
      : review.counts[NOT_TARGETED]
        ? ". The preview was made with --target, so this is not the whole change"
        : "";
  const shown = allowed.length > 0 ? `. Allowed: ${allowed.map(allowedText).join(", ")}` : "";
  return clean(`${word}: ${verdict}${of}${cut}${shown}`);
}

const allowedText = (text: string) => (text.includes("=") ? text : `every ${text}`);

const RESULTS: Readonly<Record<Row["result"], string>> = { danger: "DANGER", limit: "LIMIT", ok: "ok", note: "note" };

/** Returns the heading of a row in text. */
const headingOf = ({ result, what }: Row) => {
  if (result === "limit") return "LIMIT";
  if (result === "ok") return "OK";
  return (what === "rehearsal" ? "note" : what).toUpperCase();
};

/** Returns the verdict as a table. */
export function verdictTable({ verdict }: Report): Table {
  const rows = verdict.rows.map(({ result, what, text }) => [RESULTS[result], what, clean(text)]);
  return { title: "Verdict", header: ["result", "check", ""], rows };
}

/** Returns the lines about what the update did. */
export function changeLines({ applied, unknown }: Rehearsal): string[] {
  const { changes, requests, limitedS } = applied;
  const time =
    limitedS > 0 ? `, at least ${shownTime(limitedS)} within RunPod's limits` : ", within RunPod's limits of a minute";
  return [
    ...(changes.length === 0 ? ["No changes."] : []),
    ...changes.map(
      ({ resource, kind, what, properties }) =>
        `${what}: ${resource} (${kind})${properties.length > 0 ? `: ${properties.join(", ")}` : ""}`,
    ),
    `The update takes ${requests === 1 ? "1 request" : `${requests} requests`}${time}.`,
    ...(unknown.length === 0
      ? []
      : [`It is unknown whether these secrets change. The rehearsal assumes that they do not: ${unknown.join(", ")}`]),
  ].map(clean);
}

/** Returns the line that says which recording and which runs the figures are from. */
export function playedLine({ endpoint, checksum, report }: Played): string {
  const runs = report === undefined ? "" : `seeds 0 to ${(report.results[0]?.summary.runs ?? 1) - 1} of `;
  const verdict = report === undefined ? "" : `; ${report.calibration.verdict}`;
  return clean(`Load of ${endpoint}: ${runs}the record with SHA-256 ${checksum}${verdict}`);
}

/** Returns the tables of figures before, after and through the change, and their calibration. */
export const figureTables = ({ results, during, calibration }: Forecast): Table[] => [
  ...results.map(({ title, summary }) => summaryTable(title, summary)),
  ...results.flatMap(ruleTable),
  ...(during ? [duringTable(during)] : []),
  ...(calibration.rows.length > 0 ? [calibrationTable(calibration)] : []),
];

/** Formats the report as text: the verdict, what changes, and notes. */
export function textOf(report: Report): string {
  const { verdict, review, rehearsal } = report;
  const lines = (isNote: boolean) =>
    verdict.rows
      .filter(({ result }) => (result === "note") === isNote)
      .map((row) => `${headingOf(row)}  ${clean(row.text)}`);
  const costs = costLines(review);
  const notes = lines(true);
  const { played } = rehearsal ?? {};
  return [
    titleOf(report),
    ...lines(false),
    "",
    countsText(review.counts),
    ...(costs.length > 0 ? ["", ...costs] : []),
    ...(rehearsal ? ["", "The update of the copy", ...changeLines(rehearsal).map((line) => `  ${line}`)] : []),
    ...(played ? ["", playedLine(played)] : []),
    ...(played?.report ? ["", forecastText(played.report)] : []),
    ...(notes.length > 0 ? ["", ...notes] : []),
    "",
  ].join("\n");
}

/** The maximum length of a table of figures, in characters. */
const LONGEST = 12_000;

/** Formats the report as Markdown for a pull request comment. */
export function markdownOf(report: Report): string {
  const { verdict, review, rehearsal } = report;
  const row = (cells: readonly string[]) => `| ${cells.map(escapedMarkdown).join(" | ")} |`;
  const table = ({ title, header, rows }: Table) => [
    `**${escapedMarkdown(title)}**`,
    "",
    row(header),
    `|${header.map(() => "---|").join("")}`,
    ...within(rows.map(row), LONGEST).shown,
    "",
  ];
  const { played } = rehearsal ?? {};
  const list = (result: Row["result"], title: string) =>
    markdownList(
      title,
      verdict.rows.filter((each) => each.result === result).map(({ what, text }) => `${what}: ${clean(text)}`),
    );
  return [
    `#### ${escapedMarkdown(titleOf(report))}`,
    "",
    ...list("danger", "Danger"),
    ...list("limit", "Exceeded limits"),
    ...list("ok", "OK"),
    countsText(review.counts),
    "",
    ...costMarkdown(review),
    ...(rehearsal ? markdownList("The update of the copy", changeLines(rehearsal)) : []),
    ...(played ? [escapedMarkdown(playedLine(played)), ""] : []),
    ...(played?.report ? figureTables(played.report).flatMap(table) : []),
    ...list("note", "Notes"),
  ].join("\n");
}

const LEVELS = Object.keys(FINDINGS) as readonly Finding["level"][];

/** Converts the report to JSON data. */
export function jsonOf({ verdict, review, rehearsal }: Report, version: string): object {
  const { counts, costs, findings, missed, exceeded, hidden } = review;
  const { inAccount: _inAccount, ...cost } = costs;
  const of = (wanted: Finding["level"]) =>
    findings.flatMap(({ level, urn: _urn, ...finding }) => (level === wanted ? [finding] : []));
  const { isCreation, played, steps: _steps, ...rest } = rehearsal ?? {};
  const load = played && {
    ...played,
    isCalibrated: played.report?.calibration.verdict === "calibrated",
    report: played.report && forecastJson(played.report),
  };
  return {
    version,
    ok: verdict.code === 0,
    exitCode: verdict.code,
    allowed: verdict.allowed,
    checks: verdict.rows,
    counts,
    cost,
    ...Object.fromEntries(LEVELS.map((level) => [level, of(level)])),
    notLookedUp: missed,
    exceeded,
    hidden,
    ...(rehearsal && { creation: isCreation, ...rest, load }),
  };
}
