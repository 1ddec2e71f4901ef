import { closest, distance } from "fastest-levenshtein";

/** The allowed word that was probably meant, whatever the case of its letters; nothing when none is near. */
export function nearestWord(word: string, allowed: readonly string[]): string | undefined {
  const wanted = word.toUpperCase();
  const candidate = closest(
    wanted,
    allowed.map((each) => each.toUpperCase()),
  );
  const mistakes = distance(wanted, candidate);
  // Two letters that changed places are two mistakes; in a country's code already one makes another country.
  const isNear = word.length < 4 ? mistakes < word.length / 2 : mistakes <= word.length / 2;
  if (!isNear) return undefined;
  return allowed.find((each) => each.toUpperCase() === candidate);
}
