/**
 * Returns a function that turns a record's name into a unique logical name of letters, digits,
 * hyphens and underscores.
 * @param noun the logical name to use if no character is left
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

/** Matches characters that end a line or change how the text around them is displayed. */
const INVISIBLE = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/**
 * Returns a string literal that contains only visible characters. `JSON.stringify` leaves some line
 * breaks and invisible characters unescaped.
 */
export function literal(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Replaces line breaks and invisible characters with spaces, so that the text fits into a one-line
 * comment.
 */
export function oneLine(text: string): string {
  return text.replace(INVISIBLE, " ");
}
