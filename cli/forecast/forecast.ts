import type { PlayedEndpoint } from "../../emulator/forecast/assumptions";
import { ownPackage } from "../ownPackage";
import type { ForecastFlags } from "./forecastFlags";
import { openLoad } from "./load/openLoad";
import type { ReadLoad } from "./load/readLoad";
import { paretoFront } from "./report/choose";
import { writePictures } from "./report/page";
import type { Report } from "./report/report";
import { type Costing, type Summary, summarize } from "./report/summary";
import { comparisonText, footText, summaryText, sweepText } from "./report/text";
import { playAll } from "./runs";
import { assumptionsOf, shownAssumptions } from "./settings/assumptions";
import type { Settings } from "./settings/endpoints";
import { type Named, namedSettings } from "./settings/named";
import { priceOf, priceOfWorker, readPrices } from "./settings/prices";
import { combinations } from "./settings/sweep";
import { shownMoney, shownNumber, shownTime } from "./values";

const SEEDS = 20;
/** One for each pair of a default interval and a default step of the scaler. */
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

async function forecastOf(flags: ForecastFlags, { load, description }: ReadLoad): Promise<number> {
  const named = await namedSettings(flags);
  const current = (named.at(-1) as Named).settings;
  const swept = flags.sweep ? combinations(current, flags.sweep) : undefined;
  const assumptions = assumptionsOf(flags);
  const seeds = flags.seeds ?? (swept ? SEEDS_OF_SWEEP : SEEDS);
  const all = [...named.map(({ settings }) => settings), ...(swept?.settings ?? [])];
  const costings = all.map((settings) => costingOf(settings, flags, load.spanS));
  const runs = await playAll(all.map(played), seeds, { load, assumptions }, progress());
  const summaries = runs.map((each, at) => summarize(all[at] as Settings, each, costings[at] as Costing));
  const results = named.map(({ title }, at) => ({ title, summary: summaries[at] as Summary }));
  const sweep = swept && { all: summaries.slice(named.length), front: paretoFront(summaries.slice(named.length)) };
  const assumed = shownAssumptions(flags, assumptions, all, (costings[named.length - 1] as Costing).price);
  const exceeded = limitsExceeded(flags, (results.at(-1) as { summary: Summary }).summary);
  const report = { load: { ...load, description }, results, sweep, assumptions: assumed, exceeded };
  process.stdout.write(flags.json ? `${JSON.stringify(jsonOf(report))}\n` : textOf(report, flags, swept?.refused ?? 0));
  if (flags.pictures !== undefined) {
    const files = writePictures(flags.pictures === true ? "." : flags.pictures, report);
    process.stderr.write(`serverless-gpu forecast: wrote ${files.join(" and ")}\n`);
  }
  return exceeded.length > 0 ? LIMIT_EXCEEDED : 0;
}

/** Shorter loads cause a warning, in seconds: a worker's start and idle time take minutes. */
const SHORTEST_SPAN_S = 600;

function textOf(
  { load, results, sweep, assumptions, exceeded }: Report,
  flags: ForecastFlags,
  refused: number,
): string {
  const [first, last] = [results[0], results.at(-1)] as [Report["results"][number], Report["results"][number]];
  const { low, high } = last.summary.jobs;
  const jobs = low === high ? shownNumber(low) : `${shownNumber(low)} to ${shownNumber(high)}`;
  return [
    `Load: ${jobs} jobs in ${shownTime(load.spanS)}, ${load.description}. A month repeats it.\n`,
    ...(load.spanS < SHORTEST_SPAN_S
      ? [
          `WARNING: the load covers only ${shownTime(load.spanS)}. Each repetition pays for its own starts and idle time, so the ` +
            "monthly cost is far too high. Give a longer load, or say with --for how long a time it represents.\n",
        ]
      : []),
    ...results.map(({ title, summary }) => summaryText(title, summary)),
    ...(results.length > 1 ? [comparisonText(first.summary, last.summary)] : []),
    ...(sweep ? [sweepText(sweep.all, sweep.front, last.summary, flags.maxP95)] : []),
    ...(refused > 0
      ? [`${refused} settings are left out: workersMin must not exceed workersMax, and workersMax must not be 0.\n`]
      : []),
    footText(assumptions),
    ...exceeded.map((each) => `LIMIT EXCEEDED: ${each}\n`),
  ].join("\n");
}

function jsonOf({ load, results, sweep, assumptions, exceeded }: Report): object {
  const plain = ({ course: _course, delayBand: _band, ...rest }: Summary) => rest;
  return {
    version: ownPackage().version,
    load: { description: load.description, spanS: load.spanS },
    results: results.map(({ title, summary }) => ({ title, ...plain(summary) })),
    ...(sweep && { sweep: sweep.all.map((each) => ({ ...plain(each), front: sweep.front.includes(each) })) }),
    ...{ assumptions, exceeded },
  };
}

/** A forecast is a range, so a limit holds only if its high end does. */
function limitsExceeded({ maxP95, maxCost }: ForecastFlags, { delayS, monthly }: Summary): string[] {
  const p95 = delayS.p95?.high ?? 0;
  return [
    ...(maxP95 !== undefined && p95 > maxP95
      ? [`the p95 delay can be ${shownTime(p95)}, more than ${shownTime(maxP95)}`]
      : []),
    ...(maxCost !== undefined && monthly.high > maxCost
      ? [`it can cost ${shownMoney(monthly.high)} a month, more than ${shownMoney(maxCost)}`]
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
