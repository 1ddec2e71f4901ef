/** A repeatable source of random numbers. */
export interface SeededRandom {
  /** Returns a number in [0, 1). */
  next(): number;
  /** Starts the sequence again. */
  restart(): void;
}

/** Returns a random source that yields the same numbers for the same seed (mulberry32). */
export function seededRandom(seed: number): SeededRandom {
  // An integer with a sign, because V8 would allocate memory for numbers of 2^31 and above.
  let state = seed | 0;
  return {
    next() {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
    restart() {
      state = seed | 0;
    },
  };
}

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";

/** Returns an id of random letters and digits. Endpoints and pods have 14. */
export function randomId(random: () => number, length = 14): string {
  let id = "";
  for (let index = 0; index < length; index++) id += DIGITS.charAt(Math.floor(random() * DIGITS.length));
  return id;
}

/**
 * Returns the id of an endpoint's nth job. The number makes it unique, and the random part makes it
 * hard to guess.
 */
export function jobId(random: () => number, number: number): string {
  return `${hex(random)}${hex(random)}-${number.toString(36)}`;
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** Returns 8 hexadecimal digits. A lookup table is five times as fast as `toString(16)`. */
function hex(random: () => number): string {
  const bits = (random() * 2 ** 32) >>> 0;
  return [24, 16, 8, 0].reduce((digits, shift) => digits + BYTES[(bits >>> shift) & 255], "");
}
