/** Each bucket is 1 % wider than the one before, so a percentile is off by 0.5 % at most. */
const LOG_RATIO = Math.log(1.01);

/** A distribution of times, whose size stays the same however many there are. */
export interface Histogram {
  readonly count: number;
  /** Adds a time in milliseconds, ≥ 0. */
  add(ms: number): void;
  /** Returns the time that a share of all times does not exceed, in milliseconds; 0 without any. */
  percentile(share: number): number;
}

export function createHistogram(): Histogram {
  const counts: number[] = [];
  let count = 0;
  let largest = 0;
  return {
    get count() {
      return count;
    },
    add(ms) {
      const bucket = Math.floor(Math.log1p(ms) / LOG_RATIO);
      while (counts.length <= bucket) counts.push(0);
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      count += 1;
      if (ms > largest) largest = ms;
    },
    percentile(share) {
      const rank = Math.max(1, Math.ceil(share * count));
      let seen = 0;
      for (const [bucket, size] of counts.entries()) {
        seen += size;
        if (seen >= rank) return Math.min(largest, bucket === 0 ? 0 : Math.expm1((bucket + 0.5) * LOG_RATIO));
      }
      return 0;
    },
  };
}
