import { linesOf } from "../load/lines";

/**
 * Delays below this are not cold starts, in seconds: a warm worker takes a job within about a
 * second.
 */
const WARM_S = 1.5;

/**
 * Reads cold starts: a number of seconds on each line, or job records (lines of JSON) with
 * `delayTime` in milliseconds. Records with short delays are left out, because their jobs found a
 * warm worker.
 */
export function readSamples(file: string): number[] {
  const samples: number[] = [];
  let number = 0;
  for (const line of linesOf(file)) {
    number += 1;
    const text = line.trim();
    if (text === "") continue;
    const seconds = text.startsWith("{") ? delayOf(text) : Number(text);
    if (!(seconds >= 0))
      throw new Error(
        `${file}, line ${number}: "${text.slice(0, 60)}" is neither a number of seconds nor a job with delayTime`,
      );
    if (!text.startsWith("{") || seconds >= WARM_S) samples.push(seconds);
  }
  if (samples.length === 0) throw new Error(`${file} has no cold starts`);
  return samples;
}

function delayOf(text: string): number {
  try {
    const { delayTime } = JSON.parse(text) as { delayTime?: unknown };
    return typeof delayTime === "number" ? delayTime / 1000 : Number.NaN;
  } catch {
    return Number.NaN;
  }
}
