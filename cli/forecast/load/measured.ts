/** The jobs of an endpoint in an interval, in milliseconds since the epoch. */
export interface Interval {
  readonly from: number;
  readonly to: number;
  readonly arrivals: number;
  readonly completed: number;
  /** Waiting jobs at the end of the interval. */
  readonly queued: number;
  /** Workers at the end of the interval that are or may be billed. */
  readonly workers: number;
}

/** What a recording measured of an endpoint. */
export interface Measured {
  readonly completed: number;
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

/**
 * Returns what was measured from the first arrival on.
 * @param spanS the time span in seconds
 */
export function measuredIn(
  intervals: readonly Interval[],
  jobs: readonly { readonly arrivedAt: number; readonly delayMs: number | undefined }[],
  spanS: number,
): Measured | undefined {
  const first = intervals.find(({ arrivals }) => arrivals > 0)?.from;
  if (first === undefined) return undefined;
  const end = first + spanS * 1000;
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
    completed: within.reduce((sum, { completed }) => sum + completed, 0),
    queueDepth: mean(({ queued }) => queued),
    workerSeconds: (mean(({ workers }) => workers) * lengthMs) / 1000,
    ...(delays.length > 0 && { delayS: { p50: percentile(0.5), p95: percentile(0.95), jobs: delays.length } }),
  };
}
