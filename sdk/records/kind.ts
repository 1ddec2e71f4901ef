import type { Kind } from "./listed";

// Programs load this file on startup, so it must not import any libraries.

/**
 * Returns a kind of record. Its noun is used in messages and in the records on this machine.
 * @param noun what messages call one record, such as `template`
 */
export function kindOf<Rules extends Omit<Kind, "noun" | "one">>(
  noun: string,
  rules: Rules,
): Rules & Pick<Kind, "noun" | "one"> {
  return { noun, one: `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`, ...rules };
}
