/** The jobs of an endpoint in an interval, in milliseconds since the epoch. */
export interface Interval {
  readonly from: number;
  readonly to: number;
  readonly arrivals: number;
  /** Jobs that completed or failed. */
  readonly finished: number;
  /** Waiting jobs at the end of the interval. */
  readonly queued: number;
  /** Workers at the end of the interval that are or may be billed. */
  readonly workers: number;
}

/** The measurements of an endpoint in a recording. */
export interface Measured {
  /** Jobs that completed or failed. */
  readonly finished: number;
  /** The mean number of waiting jobs. */
  readonly queueDepth: number;
  readonly workerSeconds: number;
  /** Delays of the jobs that clients saw, in seconds; `undefined` if they saw none. */
  readonly delayS?: { readonly p50: number; readonly p95: number; readonly jobs: number } | undefined;
}

/** Returns the number of workers that start, wait or run jobs. */
export function countedWorkers(workers: Readonly<Record<string, number>> = {}): number {
  const { running = 0, idle = 0, initializing = 0 } = workers;
  return running + idle + initializing;
}

/** The intervals of a recording, put together without its gaps. */
export interface Covered {
  readonly intervals: readonly Interval[];
  /** The time that was left out, in milliseconds. */
  readonly gapMs: number;
  /** Returns the time without the gaps before it; `undefined` within a gap. */
  readonly moved: (at: number) => number | undefined;
  /** The points where the recording continues after a gap. */
  readonly seams: readonly Seam[];
}

/**
 * A point in a load as two times, in milliseconds: `at` counts without the gaps, and `real` is the
 * real time since the Unix epoch.
 */
export interface Seam {
  readonly at: number;
  readonly real: number;
}

/** Shorter gaps, in milliseconds, are not worth a remark. */
export const LEAST_GAP_MS = 60_000;

/** An interval of this length, in milliseconds, may always be measured by one count at its end. */
const SHORT_MS = 600_000;
/** Other intervals may be at most this many times as long as the median interval. */
const LONGER = 3;

/**
 * Leaves out the time between intervals, and intervals that are far longer than the others. The
 * recorder did not run during these, so one count of the workers says nothing about the whole
 * interval.
 * @param sorted without overlaps
 */
export function withoutGaps(sorted: readonly Interval[]): Covered {
  const lengths = sorted.map(({ from, to }) => to - from).sort((one, other) => one - other);
  const longest = Math.max(SHORT_MS, LONGER * (lengths[Math.floor(lengths.length / 2)] ?? 0));
  const seen = sorted.filter(({ from, to }) => to - from <= longest);
  let gapMs = 0;
  let end = seen[0]?.from ?? 0;
  const gaps = seen.map(({ from, to }) => {
    gapMs += from - end;
    end = to;
    return gapMs;
  });
  const gapBefore = (at: number) => gaps[at] ?? 0;
  let known = Number.NEGATIVE_INFINITY;
  const seams = seen.flatMap(({ from }, at) => {
    if (gapBefore(at) - known < LEAST_GAP_MS) return [];
    known = gapBefore(at);
    return [{ at: from - known, real: from }];
  });
  return {
    intervals: seen.map((each, at) => ({ ...each, from: each.from - gapBefore(at), to: each.to - gapBefore(at) })),
    gapMs,
    seams,
    moved(time) {
      const at = lastIndex(seen, time);
      const interval = seen[at];
      return interval && time < interval.to ? time - gapBefore(at) : undefined;
    },
  };
}

/** Returns the index of the last interval that began by this time, or -1. */
function lastIndex(intervals: readonly Interval[], time: number): number {
  let [low, high] = [0, intervals.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((intervals[middle] as Interval).from <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Returns the measurements.
 * @param spanS the time span from the first arrival on, in seconds. @default all intervals
 */
export function measuredIn(
  intervals: readonly Interval[],
  jobs: readonly { readonly arrivedAt: number; readonly delayMs: number | undefined }[],
  spanS: number | undefined,
): Measured | undefined {
  const first = intervals.find(({ arrivals }) => spanS === undefined || arrivals > 0)?.from;
  if (first === undefined) return undefined;
  const end = first + (spanS ?? Number.POSITIVE_INFINITY) * 1000;
  const within = intervals.filter(({ from }) => from >= first && from <= end);
  const lengthMs = within.reduce((sum, { from, to }) => sum + to - from, 0);
  if (lengthMs === 0) return undefined;
  const mean = (of: (interval: Interval) => number) =>
    within.reduce((sum, interval) => sum + of(interval) * (interval.to - interval.from), 0) / lengthMs;
  const delays = jobs
    .flatMap(({ arrivedAt, delayMs }) =>
      delayMs !== undefined && arrivedAt >= first && arrivedAt <= end ? delayMs : [],
    )
    .sort((one, other) => one - other);
  const percentile = (share: number) => (delays[Math.max(0, Math.ceil(share * delays.length) - 1)] ?? 0) / 1000;
  return {
    finished: within.reduce((sum, { finished }) => sum + finished, 0),
    queueDepth: mean(({ queued }) => queued),
    workerSeconds: (mean(({ workers }) => workers) * lengthMs) / 1000,
    ...(delays.length > 0 && { delayS: { p50: percentile(0.5), p95: percentile(0.95), jobs: delays.length } }),
  };
}
