import type { LostLimit } from "../forecastFlags";
import type { Settings } from "../settings/endpoints";
import type { Summary } from "./summary";

/** The cost and delay that settings are compared by: the middle values of the runs. */
export const costOf = ({ monthly }: Summary) => monthly.middle;
export const delayOf = ({ delayS }: Summary) => delayS.p95?.middle ?? 0;

/** The limits that a setting must keep in each run. */
export interface Limits {
  /** In seconds. `undefined`: not slower than the current setting, by the middle of the runs. */
  readonly maxP95: number | undefined;
  /** Jobs that may be lost or time out. `undefined`: as few as any setting of the sweep. */
  readonly maxLost: LostLimit | undefined;
}

/** Returns `true` if the jobs without a result stay within a limit in each run. */
export function keepsJobs({ failed, failedShare }: Summary, limit: LostLimit): boolean {
  return "jobs" in limit ? failed.high <= limit.jobs : failedShare.high <= limit.share;
}

/** Returns the settings that keep enough jobs, the cheapest first. */
function byCost(all: readonly Summary[], limit: LostLimit | undefined): Summary[] {
  const fewest = Math.min(...all.map(({ failed }) => failed.middle));
  const keeps = (each: Summary) => (limit === undefined ? each.failed.middle === fewest : keepsJobs(each, limit));
  return all.filter(keeps).sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b));
}

type Measure = keyof Summary["byRun"][number];

/**
 * Returns `true` if one setting is better than another in every run. The runs of a sweep play the
 * same loads in the same order, so a difference that is only noise is not in all of them.
 */
function isClearlyLess(measure: Measure, one: Summary, other: Summary): boolean {
  return one.byRun.every((run, at) => run[measure] < (other.byRun[at]?.[measure] ?? 0));
}

/** Returns `true` if a setting is clearly cheaper or faster, and clearly worse in neither. */
function beats(one: Summary, other: Summary): boolean {
  const measures: readonly Measure[] = ["monthly", "p95S"];
  return (
    measures.some((measure) => isClearlyLess(measure, one, other)) &&
    !measures.some((measure) => isClearlyLess(measure, other, one))
  );
}

/**
 * Returns the settings that no other setting beats in cost or delay, the cheapest first. Settings
 * that lose too many jobs are left out.
 */
export function paretoFront(all: readonly Summary[], maxLost: LostLimit | undefined): Summary[] {
  const candidates = byCost(all, maxLost);
  return candidates.filter((each) => !candidates.some((other) => beats(other, each)));
}

/**
 * Returns the cheapest setting that keeps the limits, or the current one if that keeps them and is
 * not clearly more expensive. Returns `undefined` if there is none.
 */
export function cheapest(all: readonly Summary[], current: Summary, { maxP95, maxLost }: Limits): Summary | undefined {
  const isFastEnough = (each: Summary) =>
    maxP95 === undefined ? delayOf(each) <= delayOf(current) : (each.delayS.p95?.high ?? 0) <= maxP95;
  const fitting = byCost(all, maxLost).filter(isFastEnough);
  const [best] = fitting;
  const unchanged = fitting.find((each) => changeLine(current.settings, each.settings) === "");
  return best && unchanged && !isClearlyLess("monthly", best, unchanged) ? unchanged : best;
}

/** How much shorter the p95 delay of a setting is if it is worth a mention. */
const FAR_FASTER = 0.5;

/**
 * Returns the fastest setting of the front that is far faster than `chosen` and whose cost range
 * overlaps that of `chosen`, so that it may cost no more. Returns `undefined` if there is none.
 */
export function fasterForAsMuch(front: readonly Summary[], chosen: Summary): Summary | undefined {
  return front
    .filter((each) => each.monthly.low <= chosen.monthly.high && delayOf(each) <= delayOf(chosen) * FAR_FASTER)
    .filter((each) => each !== chosen && delayOf(each) < delayOf(chosen))
    .sort((a, b) => delayOf(a) - delayOf(b))[0];
}

/**
 * Returns the properties of a program that turn one setting into another, such as
 * `workersMin: 1, scalerValue: 2`.
 */
export function changeLine(from: Settings, to: Settings): string {
  const fields = (Object.keys({ ...from, ...to }) as (keyof Settings)[]).filter((field) => from[field] !== to[field]);
  return fields.map((field) => property(field, to[field])).join(", ");
}

function property(field: keyof Settings, value: Settings[keyof Settings]): string {
  if (field === "executionTimeoutMs" && value === undefined) return "executionTimeoutMs: default";
  if (field === "flashBoot") return `flashBootType: ${value ? '"FLASHBOOT"' : "undefined"}`;
  return `${field}: ${JSON.stringify(value)}`;
}
