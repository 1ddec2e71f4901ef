import type { Settings } from "../settings/endpoints";
import type { Summary } from "./summary";

/** The cost and delay that settings are compared by: the middle values of the runs. */
export const costOf = ({ monthly }: Summary) => monthly.middle;
export const delayOf = ({ delayS }: Summary) => delayS.p95?.middle ?? 0;

/** Returns the settings that lose the fewest jobs, the cheapest first. */
function byCost(all: readonly Summary[]): Summary[] {
  const fewestLost = Math.min(...all.map(({ lost }) => lost.middle));
  const sorted = [...all].sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b));
  return sorted.filter(({ lost }) => lost.middle === fewestLost);
}

/**
 * Returns the settings that no other setting beats in both cost and delay, the cheapest first.
 * Settings that lose more jobs are left out.
 */
export function paretoFront(all: readonly Summary[]): Summary[] {
  let best = Number.POSITIVE_INFINITY;
  return byCost(all).filter((each) => {
    if (delayOf(each) >= best) return false;
    best = delayOf(each);
    return true;
  });
}

/**
 * Returns the cheapest setting whose p95 delay stays within a limit in each run or, without a
 * limit, that is not slower than the current setting. Returns `undefined` if there is none.
 */
export function cheapest(all: readonly Summary[], current: Summary, maxP95S: number | undefined): Summary | undefined {
  const isFastEnough = (each: Summary) =>
    maxP95S === undefined ? delayOf(each) <= delayOf(current) : (each.delayS.p95?.high ?? 0) <= maxP95S;
  return byCost(all).find(isFastEnough);
}

/**
 * Returns the properties of a program that turn one setting into another, such as
 * `workersMin: 1, scalerValue: 2`.
 */
export function changeLine(from: Settings, to: Settings): string {
  const fields = (Object.keys(to) as (keyof Settings)[]).filter((field) => from[field] !== to[field]);
  return fields.map((field) => property(field, to[field])).join(", ");
}

function property(field: keyof Settings, value: Settings[keyof Settings]): string {
  if (field === "flashBoot") return `flashBootType: ${value ? '"FLASHBOOT"' : "undefined"}`;
  return `${field}: ${JSON.stringify(value)}`;
}
