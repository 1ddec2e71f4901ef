/** A prime: the largest number of values of a factor for which all pairs are covered. */
const SIZE = 7;

/**
 * Combinations in which every value of each factor meets every value of each other one: 49 instead
 * of millions. Takes up to 8 factors of up to 7 values.
 */
export function pairwise<T>(factors: readonly (readonly T[])[]): T[][] {
  if (factors.length > SIZE + 1 || factors.some(({ length }) => length > SIZE)) {
    throw new RangeError(`more than ${SIZE + 1} factors, or one of more than ${SIZE} values`);
  }
  // Lines through a plane over the integers modulo a prime: two of different slope meet in each
  // pair of offsets once.
  const rows = Array.from({ length: SIZE * SIZE }, (_, index) => [Math.floor(index / SIZE), index % SIZE] as const);
  return rows.map(([x, y]) =>
    factors.map((values, slope) => {
      const line = slope === SIZE ? y : (x + slope * y) % SIZE;
      return values[line % values.length] as T;
    }),
  );
}
