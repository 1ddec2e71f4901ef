import type { ScheduleRule } from "../../../sdk/endpoints/schedule";
import type { LostLimit } from "../forecastFlags";
import type { Settings } from "../settings/endpoints";
import type { Summary } from "./summary";

/** The cost and delay by which settings are compared: the median of the runs. */
export const costOf = ({ monthly }: Summary) => monthly.middle;
export const delayOf = ({ delayS }: Summary) => delayS.p95?.middle ?? 0;

/** The limits that a setting must stay within in every run. */
export interface Limits {
  /** In seconds. `undefined` means no slower than the current setting, comparing medians. */
  readonly maxP95: number | undefined;
  /**
   * How many jobs may be lost or time out. `undefined` means no more than with the setting of the
   * sweep that loses the fewest.
   */
  readonly maxLost: LostLimit | undefined;
}

/** Returns `true` if the number of jobs without a result stays within the limit in every run. */
export function keepsJobs({ failed, failedShare }: Summary, limit: LostLimit): boolean {
  return "jobs" in limit ? failed.high <= limit.jobs : failedShare.high <= limit.share;
}

/** Returns the settings that lose few enough jobs, cheapest first. */
function byCost(all: readonly Summary[], limit: LostLimit | undefined): Summary[] {
  const fewest = Math.min(...all.map(({ failed }) => failed.middle));
  const keeps = (each: Summary) => (limit === undefined ? each.failed.middle === fewest : keepsJobs(each, limit));
  return all.filter(keeps).sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b));
}

type Measure = keyof Summary["byRun"][number];

/**
 * Returns `true` if one setting is better than another in every run. All settings of a sweep play
 * the same loads in the same order, so noise alone would not show in every run.
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
 * Returns the settings that no other setting beats in both cost and delay, cheapest first. Settings
 * that lose too many jobs are left out.
 */
export function paretoFront(all: readonly Summary[], maxLost: LostLimit | undefined): Summary[] {
  const candidates = byCost(all, maxLost);
  return candidates.filter((each) => !candidates.some((other) => beats(other, each)));
}

/**
 * Returns the cheapest setting within the limits. Prefers the current setting if it is within the
 * limits and not clearly more expensive. Returns `undefined` if no setting is within the limits.
 */
export function cheapest(all: readonly Summary[], current: Summary, { maxP95, maxLost }: Limits): Summary | undefined {
  const isFastEnough = (each: Summary) =>
    maxP95 === undefined ? delayOf(each) <= delayOf(current) : (each.delayS.p95?.high ?? 0) <= maxP95;
  const fitting = byCost(all, maxLost).filter(isFastEnough);
  const [best] = fitting;
  const unchanged = fitting.find((each) => changeLine(current.settings, each.settings) === "");
  return best && unchanged && !isClearlyLess("monthly", best, unchanged) ? unchanged : best;
}

/** How much lower the p95 delay of another setting must be to be worth mentioning. */
const FAR_FASTER = 0.5;

/**
 * Returns the fastest setting of the front that is much faster than `chosen` and may cost no more,
 * because their cost ranges overlap. Returns `undefined` if there is none.
 */
export function fasterForAsMuch(front: readonly Summary[], chosen: Summary): Summary | undefined {
  return front
    .filter((each) => each.monthly.low <= chosen.monthly.high && delayOf(each) <= delayOf(chosen) * FAR_FASTER)
    .filter((each) => each !== chosen && delayOf(each) < delayOf(chosen))
    .sort((a, b) => delayOf(a) - delayOf(b))[0];
}

/**
 * Returns the program properties to change from one setting to another, such as `workersMin: 1,
 * scalerValue: 2`.
 */
export function changeLine(from: Settings, to: Settings): string {
  const [rule = {}] = to.schedule?.rules ?? [];
  const isOwn = (field: string) => field !== "schedule" && !(field in rule);
  const fields = (Object.keys({ ...from, ...to }) as (keyof Settings)[]).filter((field) => from[field] !== to[field]);
  return [
    ...fields.filter(isOwn).map((field) => property(field, to[field])),
    ...ruleChanges(from.schedule, to.schedule),
  ].join(", ");
}

function ruleChanges(from: Settings["schedule"], to: Settings["schedule"]): string[] {
  if (to === undefined || from?.timeZone !== to.timeZone || from.rules.length !== to.rules.length)
    return from === to ? [] : [`schedule: ${JSON.stringify(to)}`];
  return to.rules.flatMap((rule, at) =>
    (Object.keys(rule) as (keyof ScheduleRule)[])
      .filter((name) => rule[name] !== from.rules[at]?.[name])
      .map((name) => `schedule.rules[${at}].${name}: ${JSON.stringify(rule[name])}`),
  );
}

function property(field: keyof Settings, value: Settings[keyof Settings]): string {
  if (field === "executionTimeoutMs" && value === undefined) return "executionTimeoutMs: default";
  if (field === "flashBoot") return `flashBootType: ${value ? '"FLASHBOOT"' : "undefined"}`;
  return `${field}: ${JSON.stringify(value)}`;
}
