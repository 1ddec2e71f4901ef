import { LIMITS, type ShownAssumption } from "../settings/assumptions";
import type { Settings } from "../settings/endpoints";
import { shownMoney, shownNumber, shownTime } from "../values";
import { changeLine, cheapest, costOf, delayOf } from "./choose";
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

/** Returns the settings in one line. */
export function settingsLine(settings: Settings): string {
  const { scalerType, scalerValue, workersMin, workersMax, idleTimeout, flashBoot } = settings;
  const idle = scalerType === "QUEUE_DELAY" ? `, idleTimeout ${idleTimeout} s` : "";
  return `${scalerType} ${scalerValue}, workers ${workersMin} to ${workersMax}${idle}, ${flashBoot ? "FlashBoot" : "no FlashBoot"}, ${processorsOf(settings)}`;
}

function processorsOf({ gpuIds, gpuCount, instanceIds }: Settings): string {
  if (instanceIds !== "") return instanceIds;
  return gpuCount === 1 ? gpuIds : `${gpuCount} × ${gpuIds}`;
}

/** Returns the table of one setting. */
export function summaryText(title: string, summary: Summary): string {
  const row = (name: string, { low, middle, high }: Range, shown: (value: number) => string) =>
    cells(name, [low, middle, high].map(shown));
  const { delayS, monthly, monthlyParts, coldStarts, mostWorkers, lost, timedOut, course } = summary;
  const parts = (Object.keys(COST_PARTS) as CostPart[]).filter(
    (part) => part !== "discount" || monthlyParts.discount.low < 0,
  );
  const workers = course.running.map((running, at) => running + (course.starting[at] ?? 0) + (course.idle[at] ?? 0));
  return [
    `${title}: ${settingsLine(summary.settings)}`,
    cells(`${summary.runs} runs`, ["low", "middle", "high"]),
    ...Object.entries(delayS).map(([name, range]) => row(`delay ${name}`, range, shownTime)),
    row("cold starts", coldStarts, shownNumber),
    row("most workers at once", mostWorkers, shownNumber),
    row("jobs lost to ttl", lost, shownNumber),
    row("jobs timed out", timedOut, shownNumber),
    row("cost a month", monthly, shownMoney),
    ...parts.map((part) => row(COST_PARTS[part], monthlyParts[part], shownMoney)),
    `workers  ${bars(workers)}  up to ${shownNumber(Math.max(...workers))} on average`,
    `queue    ${bars(course.waiting)}  up to ${shownNumber(Math.max(...course.waiting))} on average`,
    "",
  ].join("\n");
}

/** Returns the difference of two settings in one line. */
export function comparisonText(before: Summary, after: Summary): string {
  const change = changeLine(before.settings, after.settings);
  if (change === "") return "The program changes none of these settings.\n";
  const cost = `${shownMoney(costOf(before))} → ${shownMoney(costOf(after))} a month`;
  return `Change: ${change}\n        cost ${cost}, p95 delay ${shownTime(delayOf(before))} → ${shownTime(delayOf(after))} (middle of the runs)\n`;
}

/** Returns the table of a sweep, the cheapest setting first, and the change that it suggests. */
export function sweepText(
  all: readonly Summary[],
  front: readonly Summary[],
  current: Summary,
  maxP95?: number,
): string {
  const base = current.settings;
  const rows = [...all]
    .sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b))
    .map((each) => {
      const { monthly, delayS, lost } = each;
      const p95 = delayS.p95 as Range;
      const mark = front.includes(each) ? "*" : " ";
      const values = [
        `${shownMoney(monthly.low)} … ${shownMoney(monthly.high)}`,
        `${shownTime(p95.low)} … ${shownTime(p95.high)}`,
        lost.high > 0 ? `${shownNumber(lost.high)} lost` : "",
      ];
      return `${mark} ${(values[0] ?? "").padEnd(28)}${(values[1] ?? "").padEnd(24)}${changeLine(base, each.settings) || "(as it is now)"} ${values[2]}`.trimEnd();
    });
  return [
    `Sweep of ${all.length} settings, ${current.runs} runs each; * = no other setting is both cheaper and faster`,
    `  ${"cost a month".padEnd(28)}${"p95 delay".padEnd(24)}setting`,
    ...rows,
    "",
    suggestion(all, current, maxP95),
    "",
  ].join("\n");
}

function suggestion(all: readonly Summary[], current: Summary, maxP95: number | undefined): string {
  const goal =
    maxP95 === undefined ? "that is no longer than the current one" : `of at most ${shownTime(maxP95)} in each run`;
  const best = cheapest(all, current, maxP95);
  if (!best) {
    const fastest = Math.min(...all.map(({ delayS }) => delayS.p95?.high ?? 0));
    return `No setting of the sweep has a p95 delay ${goal}. The fastest one reaches ${shownTime(fastest)}.`;
  }
  const change = changeLine(current.settings, best.settings);
  if (change === "") return `The current setting is the cheapest one with a p95 delay ${goal}.`;
  const gain = comparisonText(current, best).split("\n")[1];
  return `Cheapest setting with a p95 delay ${goal}. Put this into the program:\n\n    ${change},\n\n${gain}`;
}

/** Returns the end of the output: what is assumed, and what a forecast cannot know. */
export function footText(assumptions: readonly ShownAssumption[]): string {
  const rows = assumptions.map(
    ({ level, text, option }) => `  ${level.padEnd(11)} ${text}${option ? ` [${option}]` : ""}`,
  );
  return ["Assumptions, with what is known about each and the option that changes it:", ...rows, ...LIMITS, ""].join(
    "\n",
  );
}

function cells(name: string, values: readonly string[]): string {
  return `${name.padEnd(30)}${values.map((value) => value.padStart(13)).join("")}`;
}

/** Returns a bar chart on one line, with a bar for each value over time. */
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
