/**
 * Returns a function for unique logical names: the letters, digits, hyphens and underscores of a
 * name at the service.
 * @param noun the logical name if none are left
 */
export function uniqueNames(noun: string): (name: string) => string {
  const taken = new Set<string>();
  return (ownName) => {
    const words = ownName.normalize("NFKD").replace(/\p{Mark}/gu, "");
    const base = words.replace(/[^\w]+/g, "-").replace(/^-+|-+$/g, "") || noun;
    let name = base;
    for (let number = 2; taken.has(name); number++) name = `${base}-${number}`;
    taken.add(name);
    return name;
  };
}

/** Characters that end a line, or that change the display of the characters around them. */
const INVISIBLE = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/**
 * Returns a literal with visible characters only. JSON does not escape some line ends and invisible
 * characters.
 */
export function literal(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Returns a string as one line, for a comment, even if the service's values contain line ends. */
export function oneLine(text: string): string {
  return text.replace(INVISIBLE, " ");
}
