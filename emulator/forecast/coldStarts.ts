/** A kind of cold start. */
export interface ColdStartKind {
  /** The typical duration in seconds, ≥ 0. Actual starts take 70 % to 130 % of it. */
  readonly seconds: number;
  /** The relative frequency of this kind among starts that are not restores, > 0. */
  readonly weight: number;
}

/** The distribution of cold starts. */
export interface ColdStarts {
  /** The kinds of start when no worker is restored. Not empty. */
  readonly kinds: readonly ColdStartKind[];
  /** Measured start times in seconds. If there are any, starts are drawn only from these. */
  readonly samples: readonly number[];
  /** FlashBoot: how long restoring a worker takes, in seconds, and how likely a restore is. */
  readonly restore: {
    readonly seconds: number;
    /**
     * The probability while a worker exists, or if the last one stopped less than `recentS` seconds
     * ago.
     */
    readonly recentShare: number;
    readonly otherShare: number;
    readonly recentS: number;
  };
}

const SPREAD = 0.3;

/**
 * Draws the duration of a cold start, in milliseconds.
 * @param sinceLastS seconds since the endpoint last had a worker; 0 if it has one
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
