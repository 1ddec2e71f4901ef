import { closeSync, openSync, readSync } from "node:fs";
import type { SeededRandom } from "../model/random";

/** A constant duration, or a range that each job draws from, in seconds. */
export interface Duration {
  readonly fromS: number;
  readonly toS: number;
}

/** A rule that generates jobs. Rates are in jobs per second. */
export interface Pattern {
  readonly kind: "poisson" | "constant" | "sine" | "step";
  /** The rate. For `sine` it is the lowest rate, and for `step` the rate of the first half. */
  readonly rate: number;
  /** The highest rate for `sine`; the rate of the second half for `step`. */
  readonly secondRate: number;
  /** The size of bursts in addition to the other jobs; 0 for none. */
  readonly burstJobs: number;
  /** The mean time between two bursts, in seconds. */
  readonly burstEveryS: number;
  readonly duration: Duration;
}

/**
 * The jobs to play: either a file of 64-bit number pairs (arrival and duration in seconds), or a
 * rule.
 */
export type Load = { readonly spanS: number } & (
  | { readonly file: string; readonly jobs: number }
  | { readonly pattern: Pattern }
);

/** Reads a load one job at a time. `next` returns `false` after the last job. */
interface LoadReader {
  /** Seconds since the first job of a file, or since the start of a generated load. */
  arrivalS: number;
  durationS: number;
  next(): boolean;
  close(): void;
}

const JOBS_PER_CHUNK = 16_384;
const DAY_S = 86_400;

export function openLoad(load: Load, random: SeededRandom["next"]): LoadReader {
  return "file" in load ? fileReader(load.file) : patternReader(load.pattern, load.spanS, random);
}

/** Reads the file in chunks, so that memory use does not depend on its size. */
function fileReader(file: string): LoadReader {
  const handle = openSync(file, "r");
  const chunk = new Float64Array(JOBS_PER_CHUNK * 2);
  let [position, length] = [0, 0];
  return {
    arrivalS: 0,
    durationS: 0,
    next() {
      if (position >= length) {
        length = readSync(handle, chunk) / 8;
        position = 0;
        if (length === 0) return false;
      }
      this.arrivalS = chunk[position] as number;
      this.durationS = chunk[position + 1] as number;
      position += 2;
      return true;
    },
    close: () => closeSync(handle),
  };
}

/**
 * Draws arrivals at the highest rate, and keeps each one with a probability that matches the rate
 * at that time.
 */
function patternReader(pattern: Pattern, spanS: number, random: () => number): LoadReader {
  const { kind, rate, secondRate, burstJobs, burstEveryS, duration } = pattern;
  const highest = Math.max(rate, secondRate);
  const wait = (perSecond: number) => -Math.log(1 - random()) / perSecond;
  let plainAt = nextPlain(0);
  let burstAt = burstJobs > 0 ? wait(1 / burstEveryS) : Number.POSITIVE_INFINITY;
  let leftOfBurst = burstJobs;

  function nextPlain(from: number): number {
    if (highest === 0) return Number.POSITIVE_INFINITY;
    if (kind === "constant") return from + 1 / rate;
    for (let at = from + wait(highest); ; at += wait(highest)) {
      if (at > spanS || random() * highest < rateAt(pattern, at, spanS)) return at;
    }
  }

  return {
    arrivalS: 0,
    durationS: 0,
    next() {
      this.arrivalS = Math.min(plainAt, burstAt);
      if (this.arrivalS > spanS) return false;
      this.durationS = duration.fromS + (duration.toS - duration.fromS) * random();
      if (plainAt <= burstAt) plainAt = nextPlain(plainAt);
      else {
        leftOfBurst -= 1;
        if (leftOfBurst === 0) {
          leftOfBurst = burstJobs;
          burstAt += wait(1 / burstEveryS);
        }
      }
      return true;
    },
    close() {},
  };
}

function rateAt({ kind, rate, secondRate }: Pattern, atS: number, spanS: number): number {
  if (kind === "step") return atS < spanS / 2 ? rate : secondRate;
  if (kind !== "sine") return rate;
  return rate + ((secondRate - rate) * (1 - Math.cos((2 * Math.PI * atS) / DAY_S))) / 2;
}
