import { type Load, openLoad } from "../../../emulator/forecast/load";
import { seededRandom } from "../../../emulator/model/random";

const HOUR_S = 3600;
/** How many parts an hour has. The busiest hour begins at one of them. */
const PARTS = 6;

/**
 * Returns the hour with the most arrivals, in seconds after the first job. If the load is shorter
 * than two hours, the result covers half of it instead of an hour, so that part of the load can
 * come before the change.
 */
export function busiestHour(load: Load): { readonly fromS: number; readonly toS: number } {
  const lengthS = Math.min(HOUR_S, load.spanS / 2);
  const partS = lengthS / PARTS;
  const counts = new Array<number>(Math.max(PARTS, Math.floor(load.spanS / partS))).fill(0);
  const reader = openLoad(load, seededRandom(1).next);
  while (reader.next()) {
    const part = Math.min(counts.length - 1, Math.floor(reader.arrivalS / partS));
    counts[part] = (counts[part] ?? 0) + 1;
  }
  reader.close();
  let [best, most] = [0, -1];
  for (let at = 0; at + PARTS <= counts.length; at++) {
    const sum = counts.slice(at, at + PARTS).reduce((all, count) => all + count, 0);
    if (sum > most) [best, most] = [at, sum];
  }
  return { fromS: best * partS, toS: best * partS + lengthS };
}
