/** The largest number of values that a factor may have. It must be a prime. */
const SIZE = 7;

/**
 * Combinations in which every value of each factor meets every value of each other one: 49 instead
 * of millions. Takes up to 8 factors of up to 7 values.
 */
export function pairwise<T>(factors: readonly (readonly T[])[]): T[][] {
  if (factors.length > SIZE + 1 || factors.some(({ length }) => length > SIZE)) {
    throw new RangeError(`more than ${SIZE + 1} factors, or one of more than ${SIZE} values`);
  }
  // The rows are lines in a plane over the integers modulo the prime. Two lines with different
  // slopes meet in exactly one point, so every pair of values occurs.
  const rows = Array.from({ length: SIZE * SIZE }, (_, index) => [Math.floor(index / SIZE), index % SIZE] as const);
  return rows.map(([x, y]) =>
    factors.map((values, slope) => {
      const line = slope === SIZE ? y : (x + slope * y) % SIZE;
      return values[line % values.length] as T;
    }),
  );
}
