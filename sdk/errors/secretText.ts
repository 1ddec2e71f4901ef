import { inspect } from "node:util";
import { visible } from "./visible";

const REDACTED = "[redacted]";

/**
 * The minimum length of a secret. Shorter strings are not keys, and redacting them would garble
 * every message.
 */
const SHORTEST_SECRET = 4;

/**
 * All strings to redact, longest first, because one string may contain another. Strings are added
 * only by `SecretText`.
 */
let hiddenStrings: readonly string[] = [];

/**
 * The values whose encoded forms are already in the list. This set is needed because each provider
 * call creates the secret of the same key again.
 */
const hiddenValues = new Set<string>();

/**
 * The secrets of jobs and their encoded forms. Only the newest secrets are kept, because every job
 * may have one.
 */
const jobSecrets = new Map<string, readonly string[]>();
const MAX_JOB_SECRETS = 1000;

/** Patterns that find a key by its place in a string, even if its value is unknown. */
const KEY_PLACES: readonly RegExp[] = [
  // The backslash before a quote ends the value: in JSON, the quote would end the string.
  /(api_key=)(?:[^&\s"'<>\\]|\\(?!\\{0,3}["']))+/gi,
  /(authorization["']?\s*[:=,]\s*["']?(?:bearer\s+)?)(?:[^\s"',}\\]|\\(?!\\{0,3}["']))+/gi,
  /(bearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /(\bpassword\\*["']?\s*:\s*\\*")(?:\\.|[^"\\])*/gi,
  // Matches the password in a database URL, up to the last @, because the password may contain an
  // @.
  /(\bpostgres(?:ql)?:\/\/[^\s:/@]*:)[^\s"'<>]*(?=@)/gi,
  /([?&]password=)(?:[^&\s"'<>\\]|\\(?!\\{0,3}["']))+/gi,
  // Matches an environment variable of a template, in JSON or GraphQL.
  /(\bkey\\*["']?\s*:\s*\\*"[^"\\]*\\*"\s*,?\s*\\*["']?value\\*["']?\s*:\s*\\*")(?:\\.|[^"\\])*/gi,
];

/** Match the beginning of a pod's environment variables, and of a job's storage secret in JSON. */
const ENVIRONMENT = /"env"\s*:\s*\{/gi;
const STORAGE_SECRET = /accessSecret\\*["']?\s*[:=]\s*\\*["']/gi;

/**
 * A string that must never be shown, such as an API key. In messages, JSON and `util.inspect`, it
 * appears as `[redacted]`. Once a `SecretText` has been created, `redact` removes its value from
 * every string.
 */
export class SecretText {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
    if (value.length < SHORTEST_SECRET || hiddenValues.has(value)) return;
    hiddenValues.add(value);
    const forms = new Set([...hiddenStrings, ...formsOf(value)]);
    hiddenStrings = [...forms].sort(longestFirst);
  }

  /** Returns the value. Use it only in code that sends the value. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

/**
 * Makes `redact` remove a job's secret from every string, until a thousand newer job secrets have
 * been added.
 */
export function hideJobSecret(value: string): void {
  if (value.length < SHORTEST_SECRET || jobSecrets.has(value)) return;
  jobSecrets.set(value, [...new Set(formsOf(value))].sort(longestFirst));
  const [oldest] = jobSecrets.keys();
  if (jobSecrets.size > MAX_JOB_SECRETS && oldest !== undefined) jobSecrets.delete(oldest);
}

function longestFirst(a: string, b: string): number {
  return b.length - a.length;
}

/**
 * Returns the forms that a string takes in URLs, in JSON, in JSON within JSON, and in
 * `util.inspect`.
 */
function formsOf(value: string): string[] {
  const quoted = JSON.stringify(value).slice(1, -1);
  const inForm = new URLSearchParams({ "": value }).toString().slice(1);
  const quotedTwice = JSON.stringify(quoted).slice(1, -1);
  // Go through a Buffer, because a lone surrogate cannot be part of a URL.
  const inUrl = encodeURIComponent(Buffer.from(value).toString());
  return [value, inUrl, inForm, quoted, quotedTwice, inspect(value).slice(1, -1)];
}

/**
 * Returns the string without known secrets, and without values in places where keys usually are.
 */
export function redact(text: string): string {
  let result = text;
  for (const hidden of hiddenStrings) result = without(result, hidden);
  for (const forms of jobSecrets.values()) {
    for (const hidden of forms) result = without(result, hidden);
  }
  for (const place of KEY_PLACES) result = result.replace(place, `$1${REDACTED}`);
  return withoutValues(withoutValues(result, STORAGE_SECRET, endOfString), ENVIRONMENT, endOfObject);
}

/** The names of options in our commands. Somebody may have chosen such a word as a password. */
const OPTION_NAMES = /^(?:secret|stack|refresh|force|file|delete|logs|left|json)$/;

/**
 * Returns the text without a secret. The name of an option is kept: a password `secret` must not
 * turn the command `pulumi config set --secret` into one that cannot be run.
 */
function without(text: string, hidden: string): string {
  if (!OPTION_NAMES.test(hidden)) return text.replaceAll(hidden, REDACTED);
  return text.replaceAll(new RegExp(`(?<! --)${hidden}`, "g"), REDACTED);
}

/**
 * Redacts the values that follow each match. This is not done by a single regular expression,
 * because it would run out of memory on a very long string.
 */
function withoutValues(text: string, beginning: RegExp, endOf: (text: string, from: number) => number): string {
  let result = "";
  let from = 0;
  beginning.lastIndex = 0;
  while (beginning.test(text)) {
    result += text.slice(from, beginning.lastIndex) + REDACTED;
    from = endOf(text, beginning.lastIndex);
    beginning.lastIndex = from;
  }
  return result + text.slice(from);
}

/** Returns the index of the first unescaped quotation mark, or the text's length. */
function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === '"' || character === "'") return at;
  }
  return text.length;
}

/** Returns the index of the first closing brace outside of strings, or the text's length. */
function endOfObject(text: string, from: number): number {
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (inString && character === "\\") at++;
    else if (character === '"') inString = !inString;
    else if (!inString && character === "}") return at;
  }
  return text.length;
}

/**
 * Returns at most the first `length` characters of `text` on one line, with keys redacted. The
 * result contains only visible characters, because messages are printed to terminals.
 */
export function redactBeginning(text: string, length: number): string {
  const line = withoutKeys(text, 8 * length)
    .replace(/\s+/g, " ")
    .trim();
  return visible(line.length > length ? `${line.slice(0, length)}…` : line);
}

/** Returns the first `length` characters of `text`, with keys redacted and line breaks kept. */
export function redactedStart(text: string, length: number): string {
  const start = withoutKeys(text, length);
  return start.length > length ? `${start.slice(0, length)}…` : start;
}

/**
 * Returns the beginning of `text` with keys redacted: at least `length` characters, unless the text
 * is shorter. The time that this takes does not grow with the length of the text.
 */
function withoutKeys(text: string, length: number): string {
  const longest = [hiddenStrings, ...jobSecrets.values()].reduce(
    (most, [first]) => Math.max(most, first?.length ?? 0),
    0,
  );
  const window = length + 2 * longest;
  if (text.length <= window) return redact(text);
  // Drop the end of the window, because a key that is cut off there is not recognized.
  const redacted = redact(text.slice(0, window));
  return `${redacted.slice(0, Math.max(0, redacted.length - longest))}…`;
}
