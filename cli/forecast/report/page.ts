import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type { Course } from "../../../emulator/forecast/tally";
import { systemReason } from "../../../emulator/io/systemReason";
import { shownMoney, shownNumber, shownTime } from "../../shownValues";
import { LIMITS } from "../settings/assumptions";
import {
  type Chart,
  chart,
  chartHeight,
  escaped,
  type Layout,
  NARROW,
  noteLines,
  type Series,
  STYLE,
  svg,
  sweepChart,
  sweepHeight,
  WIDE,
} from "./charts";
import { changeLine, costOf, delayOf } from "./choose";
import type { Report } from "./report";
import { beginningText } from "./schedule";
import type { Summary } from "./summary";
import { comparisonText, resultTexts, settingsLine, suggestion } from "./text";

/** Writes a picture and an HTML page into a folder. Returns their paths. */
export function writePictures(folder: string, report: Report): string[] {
  const files = { "forecast.svg": picture(report), "forecast.html": page(report) };
  try {
    mkdirSync(folder, { recursive: true });
    return Object.entries(files).map(([name, content]) => {
      const file = path.join(folder, name);
      writeFileSync(file, content);
      return file;
    });
  } catch (cause) {
    throw new Error(`the pictures cannot be written to ${folder}: ${systemReason(cause)}`, { cause });
  }
}

const TITLE = "Forecast of a serverless GPU endpoint";

/** Returns the charts as one picture below the given head. */
function drawn(report: Report, layout: Layout, head: { elements: string; height: number }): string {
  const charts = chartsOf(report).map((each, at) =>
    chart(each, report.load.spanS, head.height + at * chartHeight(layout), layout),
  );
  const height = head.height + charts.length * chartHeight(layout);
  const sweep = report.sweep ? [sweepChart(pointsOf(report), shownMoney, height, layout)] : [];
  const elements = [head.elements, ...charts, ...sweep].join("\n");
  return svg(TITLE, elements, sweep.length > 0 ? height + sweepHeight(layout) : height, layout);
}

/** Draws the picture. It shows the terminal's warnings and results above the charts. */
function picture(report: Report): string {
  const { warnings, exceeded, sweep, results } = report;
  const notes = [
    ...exceeded.map((each) => `Limit exceeded: ${each}.`),
    ...warnings.map((each) => `Warning: ${each}`),
    ...comparisonOf(report),
    ...(sweep ? [suggestion(sweep, results.at(-1)?.summary as Summary)] : []),
  ].map((each) => each.replaceAll(/\s+/g, " "));
  const { elements, height } = noteLines(notes, WIDE);
  return `${drawn(report, WIDE, { elements: `<style>${STYLE}\n</style>\n${elements}`, height })}\n`;
}

/** Describes the difference between the settings before and after, if both are given. */
function comparisonOf({ results }: Report): string[] {
  const [before, after] = results;
  return before && after ? [comparisonText(before.summary, after.summary)] : [];
}

/** The style of a page with charts. */
const PAGE_STYLE = `body { font: 15px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2rem auto; padding: 0 1rem; color: #24292f; background: #fff }
pre { overflow-x: auto; padding: .8rem; background: #f6f8fa; font-size: 12.5px; line-height: 1.4 } svg { width: 100%; height: auto }
.narrow { display: none } @media (max-width: 640px) { .narrow { display: inline } .wide { display: none } td:nth-child(2) { overflow-wrap: anywhere } }
table { border-collapse: collapse; font-size: 13.5px } td, th { padding: .2rem .8rem .2rem 0; vertical-align: top; text-align: left }
h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem } .over { color: #cf222e } .warning { color: #9a6700 }
@media (prefers-color-scheme: dark) { body { color: #e6edf3; background: #0d1117 } pre { background: #161b22 } .over { color: #ff7b72 } .warning { color: #d29922 } }
${STYLE}`;

/** Returns a page that needs no network. */
export const htmlPage = (title: string, body: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<style>
${PAGE_STYLE}
</style>
${body}
</html>
`;

/** Returns the charts for wide and for narrow pages, of which the style shows one. */
export function bothWidths(report: Report): string {
  return [WIDE, NARROW].map((layout) => drawn(report, layout, { elements: "", height: 0 })).join("\n");
}

/** Returns the assumptions as rows of a table. */
export function assumptionRows({ assumptions }: Report): string {
  const rows = assumptions.map(
    ({ level, text, option = "" }) =>
      `<tr><td>${level}</td><td>${escaped(text)}</td><td><code>${option}</code></td></tr>`,
  );
  return rows.join("\n");
}

function page(report: Report): string {
  const { load, results, warnings, exceeded } = report;
  const last = results.at(-1)?.summary as Summary;
  const body = `<h1>${TITLE}</h1>
<p>${escaped(settingsLine(last.settings))}. Load: ${escaped(load.description + beginningText(report))}, ${shownTime(load.spanS)}; ${last.runs} runs.</p>
${exceeded.map((each) => `<p class="over">Limit exceeded: ${escaped(each)}.</p>`).join("\n")}
${warnings.map((each) => `<p class="warning">Warning: ${escaped(each)}</p>`).join("\n")}
${bothWidths(report)}
${resultTexts(report, true)
  .map((each) => `<pre>${escaped(each)}</pre>`)
  .join("\n")}
<h2>Assumptions</h2>
<table>${assumptionRows(report)}</table>
${LIMITS.map((each) => `<p>${escaped(each)}</p>`).join("\n")}`;
  return htmlPage(TITLE, body);
}

function chartsOf({ results, load }: Report): Chart[] {
  const last = results.at(-1)?.summary as Summary;
  const { course, delayBand } = last;
  const before = results.length > 1 ? results[0]?.summary : undefined;
  const old = (values: (course: Course) => readonly number[], name = "before"): Series[] =>
    before ? [{ name, color: "old", kind: "line", values: values(before.course) }] : [];
  const { starting, running, idle, waiting, delayS } = course;
  const sum = (a: readonly number[], b: readonly number[]) => a.map((value, at) => value + (b[at] ?? 0));
  const busy = sum(running, starting);
  return [
    {
      title: "Delay of jobs, by the time of their start",
      shown: shownTime,
      series: [
        {
          name: "lowest to highest run",
          color: "a",
          kind: "area",
          values: delayBand.map(([, high]) => high),
          from: delayBand.map(([low]) => low),
        },
        { name: "mean of the runs", color: "a", kind: "line", values: delayS },
        ...old((each) => each.delayS),
      ],
    },
    {
      title: "Jobs in the queue",
      shown: shownNumber,
      series: [{ name: "mean of the runs", color: "d", kind: "line", values: waiting }, ...old((each) => each.waiting)],
    },
    {
      title: "Workers",
      shown: shownNumber,
      series: [
        { name: "running jobs", color: "b", kind: "area", values: running },
        { name: "starting", color: "c", kind: "area", values: busy, from: running },
        { name: "idle", color: "a", kind: "area", values: sum(busy, idle), from: busy },
        ...old((each) => sum(sum(each.running, each.starting), each.idle)),
      ],
    },
    {
      title: `Cost over ${shownTime(load.spanS)}`,
      shown: shownMoney,
      series: [
        { name: `${aMonth(last)} a month`, color: "c", kind: "line", values: costs(last) },
        ...(before ? old(() => costs(before), `before: ${aMonth(before)} a month`) : []),
      ],
    },
  ];
}

function pointsOf({ sweep, results }: Report) {
  const current = results.at(-1)?.summary as Summary;
  const all = sweep?.all ?? [];
  const isSwept = all.some((each) => changeLine(current.settings, each.settings) === "");
  return [...all, ...(isSwept ? [] : [current])].map((each) => {
    const change = changeLine(current.settings, each.settings);
    const label = `${change || "as it is now"}: ${shownMoney(costOf(each))} a month, p95 ${shownTime(delayOf(each))}`;
    const isFront = sweep?.front.includes(each) ?? false;
    return { x: costOf(each), y: delayOf(each), label, isFront, isCurrent: change === "" };
  });
}

const aMonth = (summary: Summary) => shownMoney(costOf(summary));

/** Returns the cumulative cost at the end of each part of the time. */
function costs({ cost, course: { paidS } }: Summary): number[] {
  const rate = cost.middle / Math.max(1, total(paidS));
  return cumulated(paidS).map((seconds) => seconds * rate);
}

const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

function cumulated(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    sum += value;
    return sum;
  });
}
