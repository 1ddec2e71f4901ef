import { nearestWord } from "../sdk/errors/nearestWord";

/** Returns a hint such as "Did you mean …?" for the most similar word, or an empty string. */
export function didYouMean(word: string, words: readonly string[]): string {
  const nearest = nearestWord(word, words);
  return nearest === undefined ? "" : ` Did you mean ${nearest}?`;
}
