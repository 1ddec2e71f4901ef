import type { PlayedEndpoint } from "../../emulator/forecast/assumptions";
import { ownPackage } from "../ownPackage";
import { shownMoney, shownNumber, shownTime } from "../shownValues";
import { printJson, printLines } from "../terminal";
import type { ForecastFlags, LostLimit } from "./forecastFlags";
import { openLoad } from "./load/openLoad";
import type { ReadLoad } from "./load/readLoad";
import { keepsJobs, type Limits, paretoFront } from "./report/choose";
import { writePictures } from "./report/page";
import type { Report, Sweep } from "./report/report";
import { type Costing, type Summary, summarize } from "./report/summary";
import { comparisonText, footText, summaryText, sweepText } from "./report/text";
import { playAll } from "./runs";
import { assumptionsOf, shownAssumptions } from "./settings/assumptions";
import type { Settings } from "./settings/endpoints";
import { type Named, namedSettings } from "./settings/named";
import { priceOf, priceOfWorker, readPrices } from "./settings/prices";
import { combinations } from "./settings/sweep";

const SEEDS = 20;
/** One for each pair of a default scaler interval and a default step. */
const SEEDS_OF_SWEEP = 6;
const LIMIT_EXCEEDED = 3;
const EXIT_CODE_OF_SIGINT = 130;

/** Prints the forecast. Returns the exit code: 3 if a limit can be exceeded. */
export async function forecast(flags: ForecastFlags): Promise<number> {
  const read = openLoad(flags);
  const interrupted = () => {
    read.close();
    process.exit(EXIT_CODE_OF_SIGINT);
  };
  process.once("SIGINT", interrupted);
  try {
    return await forecastOf(flags, read);
  } finally {
    process.off("SIGINT", interrupted);
    read.close();
  }
}

async function forecastOf(flags: ForecastFlags, read: ReadLoad): Promise<number> {
  const report = await playedReport(flags, read, await namedSettings(flags));
  if (flags.json) printJson(jsonOf(report));
  else printLines(textOf(report).replace(/\n$/, "").split("\n"));
  if (flags.pictures !== undefined) {
    const files = writePictures(flags.pictures === true ? "." : flags.pictures, report);
    process.stderr.write(`serverless-gpu forecast: wrote ${files.join(" and ")}\n`);
  }
  return report.exceeded.length > 0 ? LIMIT_EXCEEDED : 0;
}

/** Plays a load with each of these settings. The limits are those of the last one. */
export async function playedReport(
  flags: ForecastFlags,
  { load, description }: ReadLoad,
  named: readonly Named[],
): Promise<Report> {
  const current = (named.at(-1) as Named).settings;
  const swept = flags.sweep ? combinations(current, flags.sweep) : undefined;
  const assumptions = assumptionsOf(flags);
  const seeds = flags.seeds ?? (swept ? SEEDS_OF_SWEEP : SEEDS);
  const all = [...named.map(({ settings }) => settings), ...(swept?.settings ?? [])];
  const costings = all.map((settings) => costingOf(settings, flags, load.spanS));
  const runs = await playAll(all.map(played), seeds, { load, assumptions }, progress());
  const summaries = runs.map((each, at) => summarize(all[at] as Settings, each, costings[at] as Costing));
  const results = named.map(({ title }, at) => ({ title, summary: summaries[at] as Summary }));
  const maxLost = lostLimitOf(flags);
  const sweep = swept && sweepOf(summaries.slice(named.length), { maxP95: flags.maxP95, maxLost });
  const prices = costings.slice(0, named.length).map(({ price }) => price);
  const assumed = shownAssumptions(flags, assumptions, all, prices);
  const last = (results.at(-1) as { summary: Summary }).summary;
  const exceeded = limitsExceeded(flags, maxLost, last);
  const warnings = warningsOf(load.spanS, last, swept?.refused ?? 0);
  return { load: { ...load, description }, results, sweep, assumptions: assumed, warnings, exceeded };
}

/** Shorter loads cause a warning, in seconds: a worker's start and idle time take minutes. */
const SHORTEST_SPAN_S = 600;

/** Returns what the terminal, the page and the picture say before the numbers. */
function warningsOf(spanS: number, { failedShare, lost, timedOut }: Summary, refused: number): string[] {
  const share = `${shownNumber(failedShare.high * 100)} %`;
  return [
    ...(spanS < SHORTEST_SPAN_S
      ? [
          `The load covers only ${shownTime(spanS)}. Each repetition pays for its own starts and idle time, so the ` +
            "monthly cost is far too high. Give a longer load, or say with --for how much time it represents.",
        ]
      : []),
    ...(failedShare.high > 0
      ? [
          `Up to ${shownNumber(lost.high)} jobs are lost to their ttl and up to ${shownNumber(timedOut.high)} time out: up to ` +
            `${share} of all jobs have no result. The delays are those of the jobs that started.`,
        ]
      : []),
    ...(refused > 0
      ? [
          `${refused} of the sweep's settings ${refused === 1 ? "is" : "are"} left out: workersMin must not exceed workersMax, and workersMax must not be 0.`,
        ]
      : []),
  ];
}

function sweepOf(all: readonly Summary[], limits: Limits): Sweep {
  return { ...limits, all, front: paretoFront(all, limits.maxLost) };
}

/** Returns the limit for jobs without a result. A limit of the delay or the cost also sets it. */
function lostLimitOf({ maxLost, maxP95, maxCost }: ForecastFlags): LostLimit | undefined {
  return maxLost ?? (maxP95 === undefined && maxCost === undefined ? undefined : { jobs: 0 });
}

/** Returns a forecast as text. */
export function textOf({ load, results, sweep, assumptions, warnings, exceeded }: Report): string {
  const [first, last] = [results[0], results.at(-1)] as [Report["results"][number], Report["results"][number]];
  const { low, high } = last.summary.jobs;
  const jobs = low === high ? shownNumber(low) : `${shownNumber(low)} to ${shownNumber(high)}`;
  return [
    `Load: ${jobs} jobs in ${shownTime(load.spanS)}, ${load.description}. A month repeats it.\n`,
    ...warnings.map((each) => `WARNING: ${each}\n`),
    ...results.map(({ title, summary }) => summaryText(title, summary)),
    ...(results.length > 1 ? [comparisonText(first.summary, last.summary)] : []),
    ...(sweep ? [sweepText(sweep, last.summary)] : []),
    footText(assumptions),
    ...exceeded.map((each) => `LIMIT EXCEEDED: ${each}\n`),
  ].join("\n");
}

/** Returns a forecast as plain data, for programs. */
export function jsonOf({ load, results, sweep, assumptions, warnings, exceeded }: Report): object {
  const plain = ({ course: _course, delayBand: _band, byRun: _byRun, ...rest }: Summary) => rest;
  return {
    version: ownPackage().version,
    load: { description: load.description, spanS: load.spanS },
    results: results.map(({ title, summary }) => ({ title, ...plain(summary) })),
    ...(sweep && { sweep: sweep.all.map((each) => ({ ...plain(each), front: sweep.front.includes(each) })) }),
    ...{ assumptions, warnings, exceeded },
  };
}

/** A forecast is a range, so a limit holds only if its high end does. */
function limitsExceeded(
  { maxP95, maxCost }: ForecastFlags,
  maxLost: LostLimit | undefined,
  summary: Summary,
): string[] {
  const { delayS, monthly, failed, failedShare } = summary;
  const p95 = delayS.p95?.high ?? 0;
  return [
    ...(maxP95 !== undefined && p95 > maxP95
      ? [`the p95 delay can be ${shownTime(p95)}, more than ${shownTime(maxP95)}`]
      : []),
    ...(maxCost !== undefined && monthly.high > maxCost
      ? [`it can cost ${shownMoney(monthly.high)} a month, more than ${shownMoney(maxCost)}`]
      : []),
    ...(maxLost !== undefined && !keepsJobs(summary, maxLost)
      ? [
          `${shownNumber(failed.high)} jobs (${shownNumber(failedShare.high * 100)} %) can be lost or time out, more than ` +
            `${"jobs" in maxLost ? shownNumber(maxLost.jobs) : `${shownNumber(maxLost.share * 100)} %`} (--max-lost)`,
        ]
      : []),
  ];
}

const played = (settings: Settings): PlayedEndpoint => settings as PlayedEndpoint;

function costingOf(settings: Settings, flags: ForecastFlags, spanS: number): Costing {
  const { activeDiscount = 0, freeStarts = false } = flags;
  if (typeof flags.prices === "number") {
    const gpuCount = settings.instanceIds === "" ? settings.gpuCount : 1;
    return { price: priceOfWorker(flags.prices, "--prices", gpuCount), activeDiscount, freeStarts, spanS };
  }
  const { prices, source } = readPrices(flags.prices);
  return { price: priceOf(settings, prices, source), activeDiscount, freeStarts, spanS };
}

const REPORT_EVERY_MS = 5000;

/** Returns a function that reports progress to standard error if the forecast takes a while. */
function progress(): (done: number, all: number) => void {
  let last = Date.now();
  return (done, all) => {
    if (Date.now() - last < REPORT_EVERY_MS) return;
    last = Date.now();
    process.stderr.write(`serverless-gpu forecast: ${done} of ${all} runs\n`);
  };
}

export { loadProblem } from "./load/openLoad";
