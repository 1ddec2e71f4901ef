/** Characters that end a line or change how the text around them is displayed. */
export const INVISIBLE = /[\p{Control}\p{Format}\u2028\u2029]/gu;

/**
 * Replaces such characters in a text with escapes. Text from a service, a log or a program can then
 * neither forge a line nor control the terminal.
 */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Does the same to each line of a text, and keeps its line breaks. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}
