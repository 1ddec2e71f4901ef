import type { Duration } from "../../../emulator/forecast/load";
import { seededRandom } from "../../../emulator/model/random";
import { type PriceSource, tablePrices } from "../../../sdk/catalog/workerPrices";
import type { RecordedLine } from "../../../sdk/recording/recording";
import { shownTime } from "../../shownValues";
import {
  countedWorkers,
  type Interval,
  LEAST_GAP_MS,
  type Measured,
  measuredIn,
  type Seam,
  withoutGaps,
} from "./measured";
import { recordedLines, recordingFiles } from "./recordedLines";

/** A job in a recording. Times are in seconds; arrivals count from 1970. */
export interface RecordedJob {
  readonly arrivalS: number;
  readonly durationS: number;
}

/** The jobs of a recording in order of arrival, and a description of the source. */
export interface RecordedLoad {
  readonly jobs: Iterable<RecordedJob>;
  readonly description: string;
  /** The real times of the load, if gaps were left out. */
  readonly seams?: readonly Seam[];
  /**
   * How long the counters were recorded, in seconds, without gaps. The time before the first job
   * belongs to it, because a month repeats the load. `undefined` if only jobs were recorded.
   */
  readonly lengthS?: number;
  /** Returns the measurements of this time, in seconds from the first job. @default all of them */
  readonly measured: (spanS?: number) => Measured | undefined;
  /** The latest prices that were recorded. */
  readonly prices: PriceSource | undefined;
}

/** The contents of a recording about one endpoint. */
interface Recorded {
  readonly names: Set<string>;
  readonly intervals: Interval[];
  /** Finished jobs by id, because both a client and a webhook receiver may have recorded one. */
  readonly jobs: Map<string, SeenJob>;
}

interface SeenJob {
  readonly arrivedAt: number;
  readonly runMs: number | undefined;
  readonly delayMs: number | undefined;
}

type Line = RecordedLine & Readonly<Record<"at" | "endpoint" | "job" | "status", string>>;

/** One endpoint's data in an interval. */
interface Part {
  readonly id: string;
  readonly name?: string;
  readonly from?: string;
  readonly to: string;
  readonly arrivals?: number;
  readonly completed?: number;
  readonly failed?: number;
  readonly queued?: number;
  readonly workers?: Readonly<Record<string, number>>;
}

/**
 * Reads a recording written by `serverless-gpu metrics --record`, by clients or by webhook
 * receivers. Arrivals come from the counters if they were recorded. Run times come from the jobs
 * that were seen.
 * @param duration the duration of each job, instead of the recorded run times
 * @throws Error if the recording has several endpoints and none is chosen, or has no run times
 */
export function readRecording(
  folder: string,
  endpoint: string | undefined,
  duration: Duration | undefined,
): RecordedLoad {
  const files = recordingFiles(folder);
  if (files.length === 0) throw new Error(`${folder} has no recording: there is no file such as 2026-11-23.jsonl`);
  const { found, damaged, prices } = collect(files);
  const { intervals, jobs } = chosen(folder, found, endpoint);
  const runs = [...jobs.values()].flatMap(({ runMs }) => runMs ?? []);
  const draw = drawnFrom(folder, runs, duration);
  const lost = damaged === 0 ? "" : `, ${damaged} damaged lines left out`;
  const times = duration ? "run times from --duration" : `run times of ${runs.length} jobs`;
  if (intervals.length === 0) {
    const sorted = [...jobs.values()].sort((one, other) => one.arrivedAt - other.arrivedAt);
    return {
      jobs: sorted.map(({ arrivedAt, runMs }) => ({
        arrivalS: arrivedAt / 1000,
        durationS: duration || runMs === undefined ? draw() : runMs / 1000,
      })),
      description: `recording of ${jobs.size} jobs that clients saw${lost}`,
      // It is unknown which share of the jobs the clients saw.
      measured: () => undefined,
      prices,
    };
  }
  const { intervals: kept, gapMs, moved, seams } = withoutGaps(withoutOverlaps(intervals));
  const gaps = gapMs < LEAST_GAP_MS ? "" : `, ${shownTime(gapMs / 1000)} without measurements left out`;
  return {
    jobs: spread(kept, draw),
    description: `recording: arrivals of ${kept.length} intervals, ${times}${gaps}${lost}`,
    seams,
    lengthS: ((kept.at(-1)?.to ?? 0) - (kept[0]?.from ?? 0)) / 1000,
    measured: (spanS) => measuredIn(kept, jobsIn(jobs.values(), moved), spanS),
    prices,
  };
}

function collect(files: readonly string[]): {
  readonly found: ReadonlyMap<string, Recorded>;
  readonly damaged: number;
  readonly prices: PriceSource | undefined;
} {
  const found = new Map<string, Recorded>();
  const of = (id: string): Recorded => {
    const known = found.get(id) ?? { names: new Set<string>(), intervals: [], jobs: new Map<string, SeenJob>() };
    found.set(id, known);
    return known;
  };
  let damaged = 0;
  let prices: PriceSource | undefined;
  for (const line of recordedLines(files)) {
    if (!line) damaged += 1;
    else if (line.kind === "interval") {
      if (line.prices !== undefined && line.at !== undefined) prices = recordedPrices(line as PricedLine);
      for (const {
        id,
        name,
        from,
        to,
        arrivals,
        completed = 0,
        failed = 0,
        queued,
        workers,
      } of line.endpoints as readonly Part[]) {
        const recorded = of(id);
        if (name !== undefined) recorded.names.add(name);
        if (from === undefined || arrivals === undefined) continue;
        const gauges = { finished: completed + failed, queued: queued ?? 0, workers: countedWorkers(workers) };
        recorded.intervals.push({ from: Date.parse(from), to: Date.parse(to), arrivals, ...gauges });
      }
    } else if (line.kind === "job") addJob(of((line as Line).endpoint), line as Line);
  }
  return { found, damaged, prices };
}

/** An interval with the price of one GPU of each pool, in US dollars an hour. */
type PricedLine = RecordedLine & { readonly at: string; readonly prices: Readonly<Record<string, number>> };

function recordedPrices({ at, prices }: PricedLine): PriceSource {
  const perSecond = Object.entries(prices).map(([pool, perHour]) => [pool, perHour / 3600]);
  return tablePrices({ date: at.slice(0, 10), perSecond: Object.fromEntries(perSecond) }, "the recording");
}

function addJob({ jobs }: Recorded, { at, job, status, submittedAt, delayMs, runMs }: Line): void {
  const [delay, run] = [Number(delayMs ?? 0), Number(runMs ?? 0)];
  const arrivedAt = typeof submittedAt === "string" ? Date.parse(submittedAt) : Date.parse(at) - delay - run;
  const key = [job, status, delayMs, runMs].join(" ");
  const known = jobs.get(key);
  const times = { arrivedAt, delayMs: typeof delayMs === "number" ? delayMs : undefined };
  // A failed job has occupied its worker, too.
  const seen = { ...times, runMs: typeof runMs === "number" && run > 0 ? runMs : undefined };
  // The submit time is exact, while the time derived from the counters is not.
  if (!known || typeof submittedAt === "string") jobs.set(key, seen);
}

function chosen(folder: string, found: ReadonlyMap<string, Recorded>, endpoint: string | undefined): Recorded {
  const all = [...found].filter(([, { intervals, jobs }]) => intervals.length + jobs.size > 0);
  const fits = all.filter(([id, { names }]) => endpoint === undefined || id === endpoint || names.has(endpoint));
  const [first, ...others] = fits;
  const shown = (list: typeof all) => list.map(([id, { names }]) => [...names].at(-1) ?? id).join(", ");
  if (first && others.length === 0) return first[1];
  if (first) throw new Error(`${folder} has ${fits.length} such endpoints: choose one with --endpoint: ${shown(fits)}`);
  throw new Error(
    endpoint === undefined || all.length === 0
      ? `${folder} has no arrivals yet: they are computed from two intervals`
      : `${folder} has no endpoint "${endpoint}". It has: ${shown(all)}`,
  );
}

/** Returns the jobs that arrived while the recorder ran. */
function jobsIn(jobs: Iterable<SeenJob>, moved: (at: number) => number | undefined): SeenJob[] {
  return [...jobs].flatMap((job) => {
    const arrivedAt = moved(job.arrivedAt);
    return arrivedAt === undefined ? [] : [{ ...job, arrivedAt }];
  });
}

/** Two recorders may have covered the same time, which must count only once. */
function withoutOverlaps(intervals: readonly Interval[]): Interval[] {
  let end = Number.NEGATIVE_INFINITY;
  return [...intervals]
    .sort((one, other) => one.from - other.from || other.to - one.to)
    .filter(({ from, to }) => {
      if (from < end) return false;
      end = to;
      return true;
    });
}

/** Random times within an interval, because jobs at equal distances would hardly queue. */
function* spread(intervals: readonly Interval[], draw: () => number): Generator<RecordedJob> {
  const { next } = seededRandom(2);
  for (const { from, to, arrivals } of intervals) {
    const times = Array.from({ length: arrivals }, () => from + next() * (to - from));
    for (const at of times.sort((one, other) => one - other)) yield { arrivalS: at / 1000, durationS: draw() };
  }
}

function drawnFrom(folder: string, runs: readonly number[], duration: Duration | undefined): () => number {
  const { next } = seededRandom(1);
  return () => {
    if (duration) return duration.fromS + (duration.toS - duration.fromS) * next();
    const run = runs[Math.floor(next() * runs.length)];
    if (run !== undefined) return run / 1000;
    throw new Error(
      `${folder} has no run times, because no client or webhook receiver has recorded jobs: set --duration to how long a job takes`,
    );
  };
}
