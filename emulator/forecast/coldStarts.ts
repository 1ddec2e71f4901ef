/** One kind of cold start. */
export interface ColdStartKind {
  /** Seconds, ≥ 0. Each start takes 70 to 130 % of it. */
  readonly seconds: number;
  /**
   * Its share of the starts that are not restores, > 0; only the ratio to the other shares counts.
   */
  readonly weight: number;
}

/** The distribution of cold starts. */
export interface ColdStarts {
  /** The kinds of start, if no worker is restored. Not empty. */
  readonly kinds: readonly ColdStartKind[];
  /** Times measured from one's own jobs, in seconds. If there are any, only they are drawn. */
  readonly samples: readonly number[];
  /** FlashBoot: the time of a restored worker in seconds, and its probability. */
  readonly restore: {
    readonly seconds: number;
    /**
     * Applies while there is a worker, or if the last one stopped less than `recentS` seconds ago.
     */
    readonly recentShare: number;
    readonly otherShare: number;
    readonly recentS: number;
  };
}

const SPREAD = 0.3;

/**
 * Draws the time of a cold start, in milliseconds.
 * @param sinceLastS the time since the endpoint last had a worker, in seconds; 0 if it has one
 */
export function drawColdStartMs(
  { kinds, samples, restore }: ColdStarts,
  flashBoot: boolean,
  sinceLastS: number,
  random: () => number,
): number {
  const sample = samples[Math.floor(random() * samples.length)];
  if (sample !== undefined) return sample * 1000;
  const share = sinceLastS < restore.recentS ? restore.recentShare : restore.otherShare;
  const seconds = flashBoot && random() < share ? restore.seconds : drawKind(kinds, random).seconds;
  return seconds * 1000 * (1 - SPREAD + 2 * SPREAD * random());
}

function drawKind(kinds: readonly ColdStartKind[], random: () => number): ColdStartKind {
  let left = random() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of kinds) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return kinds.at(-1) as ColdStartKind;
}
