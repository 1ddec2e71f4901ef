import { nearestWord } from "../sdk/nearestWord";

/** Returns a hint at the nearest of the known words; an empty string if none is near. */
export function didYouMean(word: string, words: readonly string[]): string {
  const nearest = nearestWord(word, words);
  return nearest === undefined ? "" : ` Did you mean ${nearest}?`;
}
