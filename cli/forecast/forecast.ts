import { isDeepStrictEqual } from "node:util";
import type { PlayedEndpoint } from "../../emulator/forecast/assumptions";
import { type PriceSource, PUBLIC_PRICE_SOURCE } from "../../sdk/catalog/workerPrices";
import { ownPackage } from "../ownPackage";
import { shownNumber, shownTime } from "../shownValues";
import { printJson, printLines } from "../terminal";
import type { ForecastFlags } from "./forecastFlags";
import { busiestHour } from "./load/busiest";
import { openLoad } from "./load/openLoad";
import type { ReadLoad } from "./load/readLoad";
import { calibrationOf } from "./report/calibration";
import { type Limits, paretoFront } from "./report/choose";
import { watchedSummary } from "./report/during";
import { exceededLimits, lostLimitOf } from "./report/limits";
import { writePictures } from "./report/page";
import type { Report, Sweep } from "./report/report";
import { beginningText, cycleWarning } from "./report/schedule";
import { type Costing, type Summary, summarize } from "./report/summary";
import { footText, resultTexts } from "./report/text";
import { type PlayedSide, playAll } from "./runs";
import { assumptionsOf, shownAssumptions } from "./settings/assumptions";
import type { Settings } from "./settings/endpoints";
import { type Named, namedSettings } from "./settings/named";
import { priceOf, readPrices } from "./settings/prices";
import { countsOf, datedFrom } from "./settings/schedule";
import { combinations } from "./settings/sweep";

const SEEDS = 20;
/** One seed for each combination of default scaler interval and default step. */
const SEEDS_OF_SWEEP = 6;
const LIMIT_EXCEEDED = 3;
const EXIT_CODE_OF_SIGINT = 130;

/** Prints the forecast. Returns the exit code, which is 3 if a limit may be exceeded. */
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
  else printLines(textOf(report, flags.details).replace(/\n$/, "").split("\n"));
  if (flags.pictures !== undefined) {
    const files = writePictures(flags.pictures === true ? "." : flags.pictures, report);
    process.stderr.write(`serverless-gpu forecast: wrote ${files.join(" and ")}\n`);
  }
  return report.exceeded.length > 0 ? LIMIT_EXCEEDED : 0;
}

/** The caller's information about the settings that are played. */
interface Played {
  /** `true` if the change replaces the workers. @default whether they need other machines */
  readonly isReleased?: boolean;
  /** Sources of prices, in order. @default those of the recording, and the public ones */
  readonly prices?: readonly PriceSource[];
}

/**
 * Simulates a load with each of these settings. With two settings, also simulates the change from
 * the first to the second. The limits apply to the last setting.
 */
export async function playedReport(
  flags: ForecastFlags,
  read: ReadLoad,
  named: readonly Named[],
  {
    isReleased = hasOtherWorkers(named),
    prices = [...(read.prices ? [read.prices] : []), PUBLIC_PRICE_SOURCE],
  }: Played = {},
): Promise<Report> {
  const { load, description, measured } = read;
  const current = (named.at(-1) as Named).settings;
  const swept = flags.sweep ? combinations(current, flags.sweep) : undefined;
  const assumptions = assumptionsOf(flags);
  const seeds = flags.seeds ?? (swept ? SEEDS_OF_SWEEP : SEEDS);
  const without = named.length === 1 && current.schedule ? [{ ...current, schedule: undefined }] : [];
  const all = [...named.map(({ settings }) => settings), ...without, ...(swept?.settings ?? [])];
  const { timeZone = "" } = current.schedule ?? named[0]?.settings.schedule ?? {};
  const dated = timeZone === "" ? [] : datedFrom(read, flags.from, timeZone);
  const endMs = (load.spanS + assumptions.ttlS) * 1000;
  const costings = all.map((settings) => costingOf(settings, flags, load.spanS, prices));
  const sides: PlayedSide[] = all.map((settings, at) => ({
    endpoint: { ...played(settings, flags, named[at]?.failsToStart), schedule: countsOf(settings, dated, endMs) },
  }));
  const through = throughChange(sides, named, { load, isReleased });
  const runs = await playAll(through?.sides ?? sides, seeds, { load, assumptions }, progress());
  const summaries = all.map((settings, at) => summarize(settings, runs[at] ?? [], costings[at] as Costing));
  const during = through && {
    ...through.hour,
    isReleased,
    before: watchedSummary(runs[0] ?? [], costings[0] as Costing),
    during: watchedSummary(runs.at(-1) ?? [], costings[1] as Costing),
  };
  const results = named.map(({ title }, at) => ({ title, summary: summaries[at] as Summary }));
  const maxLost = lostLimitOf(flags);
  const sweep = swept && sweepOf(summaries.slice(named.length + without.length), { maxP95: flags.maxP95, maxLost });
  const paid = costings.slice(0, named.length).map(({ price }) => price);
  const assumed = shownAssumptions(flags, assumptions, all, paid);
  const last = (results.at(-1) as { summary: Summary }).summary;
  const isBefore = ["Before", "Stack"].includes(named[0]?.title ?? "");
  const calibration = calibrationOf(isBefore ? summaries[0] : undefined, measured);
  const exceeded = exceededLimits(flags, { maxLost, summary: last, during, calibration });
  const warnings = [
    ...warningsOf(load.spanS, last, swept?.refused ?? 0),
    ...cycleWarning(load.spanS, current),
    ...(flags.maxDuring && !during ? ["--max-during is not checked, because the endpoint is new."] : []),
  ];
  return {
    load: { ...load, description },
    results,
    sweep,
    dated: dated[0] && { real: dated[0].real, timeZone },
    without: without.length > 0 ? summaries[named.length] : undefined,
    during,
    calibration,
    assumptions: assumed,
    warnings,
    exceeded,
  };
}

/** Returns `true` if a change replaces the workers because they need other machines. */
function hasOtherWorkers([before, after]: readonly Named[]): boolean {
  const machines = ["gpuIds", "gpuCount", "instanceIds"] as const;
  return before !== undefined && machines.some((field) => after && before.settings[field] !== after.settings[field]);
}

/**
 * Adds a simulation in which the change happens at the beginning of the busiest hour, and watches
 * that hour there and in the first simulation. If nothing differs, no change happens.
 */
function throughChange(
  sides: readonly PlayedSide[],
  named: readonly Named[],
  { load, isReleased }: { readonly load: ReadLoad["load"]; readonly isReleased: boolean },
) {
  const [before, after] = sides;
  if (named.length !== 2 || !before || !after) return undefined;
  const hour = busiestHour(load);
  const isChanged = isReleased || !isDeepStrictEqual(before.endpoint, after.endpoint);
  const change = isChanged ? { to: after.endpoint, isReleased } : undefined;
  const through = { endpoint: before.endpoint, watched: { ...hour, change } };
  return { hour, sides: [{ ...before, watched: hour }, ...sides.slice(1), through] };
}

/**
 * Loads shorter than this, in seconds, cause a warning, because starts and idle time of workers
 * take minutes.
 */
const SHORTEST_SPAN_S = 600;

/** Returns the warnings that the terminal, the page and the picture show before the numbers. */
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
          `${refused} of the sweep's settings ${refused === 1 ? "is" : "are"} left out: workersMin must not exceed workersMax, workersMax must not be 0, and two rules must not fire at once.`,
        ]
      : []),
  ];
}

function sweepOf(all: readonly Summary[], limits: Limits): Sweep {
  return { ...limits, all, front: paretoFront(all, limits.maxLost) };
}

/** Formats a forecast as text. */
export function textOf(report: Report, isDetailed = false): string {
  const { load, results, assumptions, warnings, exceeded } = report;
  const { low, high } = results.at(-1)?.summary.jobs as Summary["jobs"];
  const jobs = low === high ? shownNumber(low) : `${shownNumber(low)} to ${shownNumber(high)}`;
  return [
    `Load: ${jobs} jobs in ${shownTime(load.spanS)}, ${load.description}${beginningText(report)}. A month's cost assumes that this load repeats.\n`,
    ...warnings.map((each) => `WARNING: ${each}\n`),
    ...resultTexts(report, isDetailed),
    footText(assumptions),
    ...exceeded.map((each) => `LIMIT EXCEEDED: ${each}\n`),
  ].join("\n");
}

/** Converts a forecast to JSON data. */
export function jsonOf({ load, results, sweep, dated, without, during, calibration, ...rest }: Report): object {
  const plain = ({ course: _course, delayBand: _band, byRun: _byRun, ...rest }: Summary) => rest;
  return {
    version: ownPackage().version,
    load: { description: load.description, spanS: load.spanS },
    results: results.map(({ title, summary }) => ({ title, ...plain(summary) })),
    ...(sweep && { sweep: sweep.all.map((each) => ({ ...plain(each), front: sweep.front.includes(each) })) }),
    ...(dated && { from: new Date(dated.real).toISOString() }),
    ...(without && { withoutSchedule: plain(without) }),
    ...(during && { during }),
    calibration,
    ...rest,
  };
}

/** Returns the parameters of the runs. An option overrides the endpoint's own execution timeout. */
function played(settings: Settings, flags: ForecastFlags, failsToStart = false): PlayedEndpoint {
  const { scalerType, scalerValue, workersMin, workersMax, idleTimeout, flashBoot, executionTimeoutMs } = settings;
  const isOwn = flags.executionTimeout === undefined && executionTimeoutMs !== undefined;
  return {
    ...({ scalerType, scalerValue, workersMin, workersMax, idleTimeout, flashBoot } as PlayedEndpoint),
    executionTimeoutS: isOwn ? executionTimeoutMs / 1000 : undefined,
    failsToStart,
  };
}

function costingOf(
  settings: Settings,
  { prices, activeDiscount = 0, freeStarts = false }: ForecastFlags,
  spanS: number,
  known: readonly PriceSource[],
): Costing {
  const costing = { activeDiscount, freeStarts, spanS };
  if (typeof prices === "number") {
    const gpus = settings.instanceIds === "" && settings.gpuCount > 1 ? settings.gpuCount : 1;
    const source = gpus === 1 ? "--prices" : `--prices, ${gpus} GPUs each`;
    return { ...costing, price: { perSecond: Number((prices * gpus).toPrecision(12)), source } };
  }
  return { ...costing, price: priceOf(settings, prices === undefined ? known : [readPrices(prices)]) };
}

const REPORT_EVERY_MS = 5000;

/** Returns a function that prints progress to stderr if the forecast takes a while. */
function progress(): (done: number, all: number) => void {
  let last = Date.now();
  return (done, all) => {
    if (Date.now() - last < REPORT_EVERY_MS) return;
    last = Date.now();
    process.stderr.write(`serverless-gpu forecast: ${done} of ${all} runs\n`);
  };
}
