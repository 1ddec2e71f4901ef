/** Which random sequences a campaign plays. */
interface Choice {
  /** The numbers of single sequences. If they are not given, sequences are played up to `steps`. */
  readonly only: readonly number[] | undefined;
  /** How many steps all sequences have together, including those of earlier runs. */
  readonly steps: number;
  /** How many sequences are played at the same time. */
  readonly workers: number;
}

/**
 * Plays random sequences by their numbers. Those of earlier runs are not played again.
 * @param earlier the sequences of earlier runs, by number
 * @returns all sequences, those of earlier runs first
 */
export async function playNumbered<T extends { readonly steps: number }>(
  earlier: ReadonlyMap<number, T>,
  { only, steps: wanted, workers }: Choice,
  play: (number: number) => Promise<T>,
): Promise<{ readonly lines: readonly T[]; readonly steps: number }> {
  const lines = only ? [] : [...earlier.values()];
  const left = [...(only ?? [])];
  let steps = lines.reduce((sum, line) => sum + line.steps, 0);
  let number = -1;
  const next = (): number | undefined => {
    if (only) return left.shift();
    if (steps >= wanted) return undefined;
    do number += 1;
    while (earlier.has(number));
    return number;
  };
  const work = async () => {
    for (let each = next(); each !== undefined; each = next()) {
      const line = await play(each);
      lines.push(line);
      steps += line.steps;
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return { lines, steps };
}
