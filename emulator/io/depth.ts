/**
 * The levels that a JSON value may have (assumed). With more than about 2,000, `JSON.stringify` or
 * a walk over the value can exceed the stack, and neither the data file nor the journal could hold
 * it.
 */
export const MAX_DEPTH = 1000;

/** The reason for a refusal, after what is refused: "The request body", "the result". */
export const TOO_DEEP = "is nested more than 1,000 levels deep";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`, which are two less than `]` and `}`. */
const OPENING: readonly number[] = [0x5b, 0x7b];

/** Returns `true` for JSON with more levels than allowed, without parsing it. */
export function isTooDeep(json: Uint8Array, maxDepth = MAX_DEPTH): boolean {
  if (json.length <= maxDepth) return false;
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = endOfString(json, index);
    else if (OPENING.includes(byte) && ++depth > maxDepth) return true;
    else if (OPENING.includes(byte - 2)) depth--;
  }
  return false;
}

/** Returns the index of the quote that ends a string, or the length if there is none. */
function endOfString(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}
