import type { Settings } from "../settings/endpoints";
import type { Summary } from "./summary";

/** Cost and delay by which settings are compared: the middle of the runs. */
export const costOf = ({ monthly }: Summary) => monthly.middle;
export const delayOf = ({ delayS }: Summary) => delayS.p95?.middle ?? 0;

/** Returns the settings that no other one beats in cost and delay, the cheapest first. Settings that lose more jobs lose. */
export function paretoFront(all: readonly Summary[]): Summary[] {
  const fewestLost = Math.min(...all.map(({ lost }) => lost.middle));
  const byCost = all
    .filter(({ lost }) => lost.middle === fewestLost)
    .sort((a, b) => costOf(a) - costOf(b) || delayOf(a) - delayOf(b));
  let best = Number.POSITIVE_INFINITY;
  return byCost.filter((each) => {
    if (delayOf(each) >= best) return false;
    best = delayOf(each);
    return true;
  });
}

/** Returns the cheapest setting of the front whose p95 delay is within a limit; the fastest one if there is none. */
export function cheapestWithin(front: readonly Summary[], maxDelayS: number): Summary | undefined {
  return front.find((each) => delayOf(each) <= maxDelayS) ?? front.at(-1);
}

/** Returns the properties of a program that turn one setting into another, such as `workersMin: 1, scalerValue: 2`. */
export function changeLine(from: Settings, to: Settings): string {
  const fields = (Object.keys(to) as (keyof Settings)[]).filter((field) => from[field] !== to[field]);
  return fields.map((field) => property(field, to[field])).join(", ");
}

function property(field: keyof Settings, value: Settings[keyof Settings]): string {
  if (field === "flashBoot") return `flashBootType: ${value ? '"FLASHBOOT"' : "undefined"}`;
  return `${field}: ${JSON.stringify(value)}`;
}
