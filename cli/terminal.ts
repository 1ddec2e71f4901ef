import { redact } from "../sdk/errors/secretText";
import { INVISIBLE, visible } from "../sdk/errors/visible";

/** Prints lines to stdout. Redacts keys and escapes invisible characters. */
export function printLines(lines: readonly string[]): void {
  process.stdout.write(lines.map((line) => `${visible(redact(line))}\n`).join(""));
}

/** Prints a value as JSON to stdout. Redacts keys and escapes invisible characters. */
export function printJson(value: unknown, indent?: number): void {
  const escaped = (text: string) =>
    Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join("");
  const json = redact(JSON.stringify(value, undefined, indent));
  process.stdout.write(`${json.replace(INVISIBLE, (text) => (text === "\n" ? text : escaped(text)))}\n`);
}

/**
 * Prints a message to stderr. Redacts keys and escapes invisible characters, except line breaks.
 */
export function say(message: string): void {
  process.stderr.write(`${redact(message).split("\n").map(visible).join("\n")}\n`);
}
