/** A repeatable source of chance. */
export interface SeededRandom {
  /** A number in [0, 1). */
  next(): number;
  /** Starts the sequence anew. */
  restart(): void;
}

/** Gives the same numbers for the same seed (the mulberry32 generator). */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    restart() {
      state = seed >>> 0;
    },
  };
}
