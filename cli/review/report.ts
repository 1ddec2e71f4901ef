import { visible } from "../../sdk/errors/visible";
import { shownMoney } from "../shownValues";
import type { Costs, SideCost, TotalCost } from "./cost";
import type { ReviewFinding } from "./finding";
import type { NotLookedUp } from "./lookUps";

/** The review of a change. */
export interface ReviewReport {
  /** The number of endpoints and volumes that the change creates, updates, and so on. */
  readonly counts: Readonly<Record<string, number>>;
  readonly costs: Costs;
  readonly findings: readonly ReviewFinding[];
  readonly missed: readonly NotLookedUp[];
  /** The caps that are exceeded or cannot be checked. */
  readonly exceeded: readonly string[];
  readonly hasFailed: boolean;
  /** `true` if the preview omits resources, so that the totals do not include them. */
  readonly isCut: boolean;
}

/** The heading for each level, most severe first. */
export const FINDING_HEADINGS = {
  impossible: "IMPOSSIBLE",
  data: "DATA LOSS",
  stays: "STAYS",
  unlikely: "UNLIKELY",
} as const;
const LEVELS = Object.keys(FINDING_HEADINGS) as ReviewFinding["level"][];

const NOT_INCLUDED =
  "The maximum cost is for workersMax workers, and the minimum cost for workersMin workers, all of the most expensive pool in gpuIds, " +
  "in US dollars an hour. Disks, network volumes and discounts are not included.";

const NOTHING = "Nothing was found.";
const NOTHING_ELSE = "The checks that were made found no problem.";

const COLUMNS = ["endpoint", "maximum cost before", "after", "minimum cost before", "after", "price of a worker"];

/** Formats a cost for a table cell. */
function money(cost: SideCost | undefined, field: "fullScale" | "atRest"): string {
  if (!cost) return "-";
  const value = cost[field];
  return value === undefined ? "?" : shownMoney(value);
}

/** Returns the rows of the cost table. */
function rowsOf(endpoints: Costs["endpoints"]): string[][] {
  return endpoints.map(({ name, before: old, after: next }) => {
    const { price, problem } = next ?? old ?? {};
    const shown = price ? `${shownMoney(price.perHour)} (${price.of})` : (problem ?? "no workers");
    return [
      name,
      money(old, "fullScale"),
      money(next, "fullScale"),
      money(old, "atRest"),
      money(next, "atRest"),
      problem && price ? `${shown}; ${problem}` : shown,
    ];
  });
}

/** Returns the row with the totals. */
function totalRow({ costs: { before, after }, isCut }: ReviewReport): string[] {
  const total = ({ unknown }: TotalCost, value: number) =>
    `${isCut || unknown.length > 0 ? "≥ " : ""}${shownMoney(value)}`;
  return [
    "in all",
    total(before, before.fullScale),
    total(after, after.fullScale),
    total(before, before.atRest),
    total(after, after.atRest),
    "",
  ];
}

/** Returns the distinct sources of the prices. */
function sourcesOf({ endpoints }: Costs): string[] {
  const prices = endpoints
    .flatMap(({ before, after }) => [before?.price, after?.price])
    .filter((price) => price !== undefined);
  return [...new Set(prices.map(({ of, perHour, source }) => `${of}: ${shownMoney(perHour)} an hour, from ${source}`))];
}

/** Returns how many endpoints and volumes change, and how. */
export const countsText = (counts: ReviewReport["counts"]) =>
  Object.entries(counts)
    .map(([op, count]) => `${count} ${op}`)
    .join(", ") || "none";

/** Returns a finding, with its resource before it. */
export const findingText = ({ resource, message }: ReviewFinding) =>
  `${resource === undefined ? "" : `${resource}: `}${message}`;

/** Returns the table of costs as lines, with the sources of its prices; empty without endpoints. */
export function costLines(report: ReviewReport): string[] {
  const { costs } = report;
  const rows =
    costs.endpoints.length > 0
      ? [COLUMNS, ...rowsOf(costs.endpoints), totalRow(report)].map((row) => row.map(visible))
      : [];
  const widths = COLUMNS.map((_, at) => Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, at) =>
        at === 0 || at === COLUMNS.length - 1 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  return table.length > 0 ? [...table, "", NOT_INCLUDED, ...sourcesOf(costs)] : [];
}

/** Formats the report as text. */
export function reviewText(report: ReviewReport): string {
  const { counts, costs, findings, missed, exceeded } = report;
  const isWhole = missed.length === 0 && costs.after.unknown.length === 0;
  const table = costLines(report);
  return [
    `Endpoints and network volumes: ${countsText(counts)}`,
    ...(table.length > 0 ? ["", ...table] : []),
    "",
    ...LEVELS.flatMap((level) =>
      findings
        .filter((finding) => finding.level === level)
        .map((finding) => `${FINDING_HEADINGS[level]}  ${findingText(finding)}`),
    ),
    ...missed.map(({ what, why }) => `NOT LOOKED UP  ${what}: ${why}`),
    ...exceeded.map((each) => `CAP  ${each}`),
    ...(findings.length === 0 && exceeded.length === 0 ? [isWhole ? NOTHING : NOTHING_ELSE] : []),
    "",
  ]
    .map(visible)
    .join("\n");
}

/** Escapes Markdown syntax and keeps a table cell on one line. */
export function escapedMarkdown(text: string): string {
  return visible(text.replace(/\s+/g, " ")).replace(/[\\`*_{}[\]<>#|~@]/g, (character) =>
    character === "<" ? "&lt;" : character === ">" ? "&gt;" : `\\${character}`,
  );
}

/**
 * The maximum length of a list and of the table, in characters. Together they stay below GitHub's
 * limit of 65,536 for a comment.
 */
const LONGEST = { list: 7_000, table: 15_000 } as const;

/** Returns as many lines as fit, and the number of lines that do not. */
function cut(lines: readonly string[], longest: number): { shown: string[]; left: number } {
  let length = 0;
  const end = lines.findIndex((line) => {
    length += line.length + 1;
    return length > longest;
  });
  const shown = end === -1 ? [...lines] : lines.slice(0, end);
  return { shown, left: lines.length - shown.length };
}

function markdownList(title: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  const items = lines.map((line) => `- ${escapedMarkdown(line)}`);
  const { shown, left } = cut(items, LONGEST.list);
  return [`**${title}**`, "", ...shown, ...(left > 0 ? [`- and ${left} more`] : []), ""];
}

/** Returns a table of the endpoints that change, followed by the totals of all endpoints. */
export function costMarkdown(report: ReviewReport): string[] {
  const { endpoints } = report.costs;
  if (endpoints.length === 0) return [];
  const row = (cells: readonly string[]) => `| ${cells.map(escapedMarkdown).join(" | ")} |`;
  const changed = endpoints.filter(({ op }) => op !== "same");
  const { shown, left } = cut(rowsOf(changed).map(row), LONGEST.table);
  const same = endpoints.length - changed.length;
  const others = [
    ...(left > 0 ? [`${left} more that change`] : []),
    ...(same > 0 ? [`${same} that ${same === 1 ? "does" : "do"} not change`] : []),
  ];
  return [
    row(COLUMNS),
    "|---|--:|--:|--:|--:|---|",
    ...shown,
    row(totalRow(report)),
    "",
    ...(others.length > 0 ? [`The totals include endpoints that are not in the table: ${others.join(", ")}.`, ""] : []),
    NOT_INCLUDED,
    "",
    ...markdownList("Prices", sourcesOf(report.costs)),
  ];
}

/** Formats the report as Markdown for a pull request comment. */
export function reviewMarkdown(report: ReviewReport): string {
  const { counts, findings, missed, exceeded, hasFailed } = report;
  const of = (level: ReviewFinding["level"]) => findings.filter((finding) => finding.level === level).map(findingText);
  return [
    `#### ${hasFailed ? "The review found a problem" : "Review"}: cost and chances of this change`,
    "",
    `Endpoints and network volumes: ${countsText(counts)}`,
    "",
    ...markdownList("Caps", exceeded),
    ...markdownList("Impossible", of("impossible")),
    ...markdownList("Data loss", of("data")),
    ...markdownList("Stays at the service, in no state", of("stays")),
    ...markdownList("Unlikely", of("unlikely")),
    ...costMarkdown(report),
    ...markdownList(
      "Not looked up",
      missed.map(({ what, why }) => `${what}: ${why}`),
    ),
  ].join("\n");
}

/** Converts the report to JSON data. */
export function reviewJson(
  { counts, costs, findings, missed, exceeded, hasFailed }: ReviewReport,
  version: string,
): object {
  const { inAccount: _inAccount, ...cost } = costs;
  const of = (level: ReviewFinding["level"]) =>
    findings.filter((finding) => finding.level === level).map(({ level: _, ...finding }) => finding);
  return {
    version,
    ok: !hasFailed,
    counts,
    cost,
    impossible: of("impossible"),
    unlikely: of("unlikely"),
    data: of("data"),
    stays: of("stays"),
    notLookedUp: missed,
    exceeded,
  };
}
