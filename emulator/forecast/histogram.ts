/** Each bucket is 1 % wider than the previous one, so percentiles are accurate to 0.5 %. */
const LOG_RATIO = Math.log(1.01);

/** A distribution of durations. Its memory use does not grow with the number of values. */
export interface Histogram {
  readonly count: number;
  /** Adds a duration in milliseconds, ≥ 0. */
  add(ms: number): void;
  /**
   * Returns the duration in milliseconds that the given share of values does not exceed; 0 if there
   * are no values.
   */
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
