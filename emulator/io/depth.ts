/**
 * The maximum nesting depth of a JSON value (assumed). Beyond about 2,000 levels, `JSON.stringify`
 * or a walk over the value can overflow the stack, so neither the data file nor the journal could
 * store the value.
 */
export const MAX_DEPTH = 1000;

/**
 * The reason for a refusal. The sentence starts with what is refused, such as "The request body".
 */
export const TOO_DEEP = "is nested more than 1,000 levels deep";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** `[` and `{`. Each is two less than its closing bracket. */
const OPENING: readonly number[] = [0x5b, 0x7b];

/** Returns `true` if JSON is nested too deeply, without parsing it. */
export function isTooDeep(json: Uint8Array): boolean {
  if (json.length <= MAX_DEPTH) return false;
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    const byte = json[index] as number;
    if (byte === QUOTE) index = endOfString(json, index);
    else if (OPENING.includes(byte) && ++depth > MAX_DEPTH) return true;
    else if (OPENING.includes(byte - 2)) depth--;
  }
  return false;
}

/** Returns the index of the quote that ends a string, or the length if it is missing. */
function endOfString(json: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < json.length && json[index] !== QUOTE) index += json[index] === BACKSLASH ? 2 : 1;
  return index;
}
