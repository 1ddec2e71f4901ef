import { shownMoney, shownNumber, shownTime } from "../../shownValues";
import { type Table, tableLines } from "../../tables";
import type { LostLimit } from "../forecastFlags";
import { LIMITS, type ShownAssumption } from "../settings/assumptions";
import type { Settings } from "../settings/endpoints";
import { calibrationSentence, calibrationTable } from "./calibration";
import { changeLine, cheapest, costOf, delayOf, fasterForAsMuch } from "./choose";
import { duringTable } from "./during";
import type { Report, Sweep } from "./report";
import { ruleTable, scheduleText } from "./schedule";
import type { CostPart, Range, Summary } from "./summary";

const COST_PARTS: Readonly<Record<CostPart, string>> = {
  start: "  starting workers",
  run: "  running jobs",
  idle: "  idle workers",
  minimum: "  idle because of workersMin",
  discount: "  discount of workersMin",
};

const BARS = "▁▂▃▄▅▆▇█";
const BAR_COUNT = 48;

/** Returns the tables and sentences about the results. */
export function resultTexts(report: Report, isDetailed: boolean): string[] {
  const { results, without, sweep, during, calibration } = report;
  const [first, last] = [results[0], results.at(-1)] as [Report["results"][number], Report["results"][number]];
  return [
    ...results.flatMap(({ title, summary }) => [
      tableText(summaryTable(title, summary, isDetailed)),
      ...(isDetailed ? [courseText(summary)] : []),
    ]),
    ...(results.length > 1 ? [comparisonText(first.summary, last.summary)] : []),
    ...results.flatMap(ruleTable).map(tableText),
    ...(without ? [scheduleText(last.summary, without)] : []),
    ...(during ? [tableText(duringTable(during))] : []),
    ...(sweep ? [sweepText(sweep, last.summary)] : []),
    ...(calibration.rows.length > 0
      ? [`${tableText(calibrationTable(calibration))}${calibrationSentence(calibration)}\n`]
      : []),
  ];
}

/** Formats the settings as one line. */
export function settingsLine(settings: Settings): string {
  const { scalerType, scalerValue, workersMin, workersMax, idleTimeout, flashBoot, schedule } = settings;
  const idle = scalerType === "QUEUE_DELAY" ? `, idleTimeout ${idleTimeout} s` : "";
  return `${scalerType} ${scalerValue}, ${schedule ? "workers by schedule" : `workers ${workersMin} to ${workersMax}`}${idle}, ${flashBoot ? "FlashBoot" : "no FlashBoot"}, ${processorsOf(settings)}`;
}

function processorsOf({ gpuIds, gpuCount, instanceIds }: Settings): string {
  if (instanceIds !== "") return instanceIds;
  return gpuCount === 1 ? gpuIds : `${gpuCount} × ${gpuIds}`;
}

/**
 * Returns the forecast of one setting as a table.
 * @param isDetailed `true` for all percentiles, the workers, and the parts of the cost, too
 */
export function summaryTable(title: string, summary: Summary, isDetailed = false): Table {
  const row = (name: string, { low, middle, high }: Range, shown: (value: number) => string) => [
    name,
    ...[low, middle, high].map(shown),
  ];
  const delays = Object.entries(summary.delayS).filter(([name]) => isDetailed || name === "p50" || name === "p95");
  const details = [
    row("  lost to ttl", summary.lost, shownNumber),
    row("  timed out", summary.timedOut, shownNumber),
    row("cold starts", summary.coldStarts, shownNumber),
    row("most workers at once", summary.mostWorkers, shownNumber),
  ];
  const parts = Object.entries(summary.monthlyParts).filter(([part, { low }]) => part !== "discount" || low < 0);
  return {
    title: `${title}: ${settingsLine(summary.settings)}`,
    header: [`${summary.runs} runs`, "low", "middle", "high"],
    rows: [
      ...delays.map(([name, range]) =>
        hasDelays(summary) ? row(`delay ${name}`, range, shownTime) : [`delay ${name}`, "", "", "no job started"],
      ),
      row("jobs lost or timed out", summary.failed, shownNumber),
      ...(isDetailed ? details : []),
      row("cost a month", summary.monthly, shownMoney),
      ...(isDetailed ? parts.map(([part, range]) => row(COST_PARTS[part as CostPart], range, shownMoney)) : []),
    ],
  };
}

/** Formats a table as text. */
const tableText = (table: Table) => [table.title, ...tableLines(table), ""].join("\n");

/** Draws the workers and the queue over time, averaged over the runs. */
function courseText({ course: { running, starting, idle, waiting } }: Summary): string {
  const workers = running.map((value, at) => value + (starting[at] ?? 0) + (idle[at] ?? 0));
  return [
    `workers  ${bars(workers)}  up to ${shownNumber(Math.max(...workers))} on average`,
    `queue    ${bars(waiting)}  up to ${shownNumber(Math.max(...waiting))} on average`,
    "",
  ].join("\n");
}

/** Describes the difference between two settings in one line. */
export function comparisonText(before: Summary, after: Summary): string {
  const change = changeLine(before.settings, after.settings);
  if (change === "") return "The program changes none of these settings.\n";
  const cost = `${shownMoney(costOf(before))} → ${shownMoney(costOf(after))} a month`;
  const isLosing = before.failed.middle > 0 || after.failed.middle > 0;
  const lost = isLosing
    ? `, lost or timed out ${shownNumber(before.failed.middle)} → ${shownNumber(after.failed.middle)}`
    : "";
  return `Change: ${change}\n        cost ${cost}, p95 delay ${shownDelay(before)} → ${shownDelay(after)}${lost} (middle of the runs)\n`;
}

/** Formats a sweep as a table, cheapest setting first, followed by the suggested change. */
function sweepText(sweep: Sweep, current: Summary): string {
  const { all, front } = sweep;
  const base = current.settings;
  const rows = [...all]
    .sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b))
    .map((each) => {
      const { monthly, delayS, failed } = each;
      const p95 = delayS.p95 as Range;
      const mark = front.includes(each) ? "*" : " ";
      const values = [
        `${shownMoney(monthly.low)} … ${shownMoney(monthly.high)}`,
        hasDelays(each) ? `${shownTime(p95.low)} … ${shownTime(p95.high)}` : "no job started",
        failed.high > 0 ? `(${shownNumber(failed.high)} lost or timed out)` : "",
      ];
      return `${mark} ${(values[0] ?? "").padEnd(28)}${(values[1] ?? "").padEnd(24)}${changeLine(base, each.settings) || "(as it is now)"} ${values[2]}`.trimEnd();
    });
  return [
    `Sweep of ${all.length} settings, ${current.runs} runs each; * = no other setting is cheaper or faster in every run without being slower or more expensive`,
    `  ${"cost a month".padEnd(28)}${"p95 delay".padEnd(24)}setting`,
    ...rows,
    "",
    suggestion(sweep, current),
    "",
  ].join("\n");
}

function shownDelay(summary: Summary): string {
  return hasDelays(summary) ? shownTime(delayOf(summary)) : "of no job";
}

/** Returns `false` if no job started, so that there are no delays to show. */
function hasDelays({ started }: Summary): boolean {
  return started.high > 0;
}

/** Returns which setting of a sweep to use, or why none is suggested. */
export function suggestion(sweep: Sweep, current: Summary): string {
  const { all, maxP95, maxLost } = sweep;
  const delay =
    maxP95 === undefined ? "that is no longer than the current one" : `of at most ${shownTime(maxP95)} in each run`;
  const goal = `${delay}${maxLost === undefined ? "" : ` and ${lostGoal(maxLost)}`}`;
  const best = cheapest(all, current, sweep);
  if (!best) {
    const fewest = Math.min(...all.map(({ failed }) => failed.high));
    const fastest = Math.min(...all.filter(hasDelays).map(({ delayS }) => delayS.p95?.high ?? 0));
    const least = Number.isFinite(fastest)
      ? `The fastest setting reaches ${shownTime(fastest)}`
      : "With none of the settings does a job start";
    const lost =
      fewest === 0 ? "no jobs are" : `up to ${fewest === 1 ? "1 job is" : `${shownNumber(fewest)} jobs are`}`;
    return `No setting of the sweep has a p95 delay ${goal}. ${least}. With the most reliable setting, ${lost} lost or timed out.`;
  }
  const change = changeLine(current.settings, best.settings);
  const faster = fasterAdvice(sweep, current, best);
  if (change === "") return `The current setting is the cheapest one with a p95 delay ${goal}.${faster}`;
  const gain = comparisonText(current, best).split("\n")[1];
  return `Cheapest setting with a p95 delay ${goal}. Put this into the program:\n\n    ${change},\n\n${gain}${faster}`;
}

/** Returns a paragraph about a much faster setting that may cost no more, or an empty string. */
function fasterAdvice({ front }: Sweep, current: Summary, best: Summary): string {
  const faster = fasterForAsMuch(front, best);
  if (!faster) return "";
  const { low, high } = faster.monthly;
  return (
    `\n\nFar faster, at a cost that overlaps: ${changeLine(current.settings, faster.settings) || "the current setting"} has a p95 ` +
    `delay of ${shownDelay(faster)} instead of ${shownDelay(best)}, for ${shownMoney(low)} … ${shownMoney(high)} a month.`
  );
}

function lostGoal(limit: LostLimit): string {
  const most = "jobs" in limit ? shownNumber(limit.jobs) : `${shownNumber(limit.share * 100)} %`;
  return most === "0" ? "no job lost or timed out" : `at most ${most} of the jobs lost or timed out`;
}

/** Returns the end of the output: the assumptions, and what a forecast cannot know. */
export function footText(assumptions: readonly ShownAssumption[]): string {
  const rows = assumptions.map(
    ({ level, text, option }) => `  ${level.padEnd(11)} ${text}${option ? ` [${option}]` : ""}`,
  );
  return ["Assumptions, with what is known about each and the option that changes it:", ...rows, ...LIMITS, ""].join(
    "\n",
  );
}

/** Draws a bar chart on one line, with one bar per part of the time. */
function bars(course: readonly number[]): string {
  const size = course.length / BAR_COUNT;
  const means = Array.from({ length: BAR_COUNT }, (_, index) => {
    const part = course.slice(
      Math.floor(index * size),
      Math.max(Math.floor(index * size) + 1, Math.floor((index + 1) * size)),
    );
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const most = Math.max(...means, Number.MIN_VALUE);
  return means.map((value) => (value === 0 ? " " : BARS[Math.min(7, Math.floor((value / most) * 8))])).join("");
}
