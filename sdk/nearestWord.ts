import { closest, distance } from "fastest-levenshtein";

/**
 * Returns the allowed word that is nearest to `word`, ignoring case. Returns `undefined` if none is
 * near.
 */
export function nearestWord(word: string, allowed: readonly string[]): string | undefined {
  const wanted = word.toUpperCase();
  const candidate = closest(
    wanted,
    allowed.map((each) => each.toUpperCase()),
  );
  const mistakes = distance(wanted, candidate);
  // Two swapped letters are two mistakes. In a country code, one mistake is already another
  // country.
  const isNear = word.length < 4 ? mistakes < word.length / 2 : mistakes <= word.length / 2;
  if (!isNear) return undefined;
  return allowed.find((each) => each.toUpperCase() === candidate);
}
