import { closest, distance } from "fastest-levenshtein";

/**
 * Returns the allowed word that is closest to `word`, ignoring case, or `undefined` if no word is
 * close enough.
 */
export function nearestWord(word: string, allowed: readonly string[]): string | undefined {
  const wanted = word.toUpperCase();
  const candidate = closest(
    wanted,
    allowed.map((each) => each.toUpperCase()),
  );
  const mistakes = distance(wanted, candidate);
  // Two swapped letters count as two mistakes. In a country code, even a single mistake can result
  // in a different country.
  const isNear = word.length < 4 ? mistakes < word.length / 2 : mistakes <= word.length / 2;
  if (!isNear) return undefined;
  return allowed.find((each) => each.toUpperCase() === candidate);
}

/** The most edits by which a mistyped word differs from the intended one. */
const MOST_EDITS = 2;

/**
 * Returns `true` if a word is one or two edits away from an allowed word, ignoring case, so that it
 * probably is a typo of it.
 */
export function isNearMiss(word: string, allowed: readonly string[]): boolean {
  return allowed.some((each) => distance(word.toUpperCase(), each.toUpperCase()) <= MOST_EDITS);
}
