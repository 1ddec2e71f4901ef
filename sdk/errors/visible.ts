/** Matches characters that end a line or change how the text around them is displayed. */
export const INVISIBLE = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/**
 * Replaces invisible characters in a text with escapes, so that text from a service, a log or a
 * program can neither fake a line nor control the terminal.
 */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Replaces invisible characters in each line of a text, but keeps the line breaks. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}
