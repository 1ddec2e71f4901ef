import { linesOf } from "../load/lines";

/**
 * Shorter delays, in seconds, are not cold starts: a warm worker takes a job within about a second.
 */
const WARM_S = 1.5;

/**
 * Reads cold start times. Each line is either a number of seconds or a JSON job record with a
 * `delayTime` in milliseconds. Records with short delays are ignored, because a warm worker took
 * those jobs.
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
