import { looksLikeCredential } from "../../sdk/containers/fields";

// A program may contain a value only if the value is clearly harmless. Treating a harmless value as
// secret costs a line of config. Treating a secret as harmless would leak it.

/** Words in a name or text that suggest a secret. */
const SECRET_WORDS =
  /PASS|PWD|PHRASE|AUTH|BEARER|COOKIE|SESSION|SALT|SIGNATURE|PRIVATE|ACCESS|LICEN[CS]E|WEBHOOK|(^|[\W_])(PW|PIN|OTP|CODE|DSN|JWT|PAT|PSK)([\W_]|$)/i;

/** Words in a name that suggest an ordinary setting. */
const HARMLESS_WORDS =
  /(^|[_-])(MODELS?|PATH|DIR|DIRECTORY|FOLDER|FILE|HOME|HOST|PORT|LEVEL|MODE|D?TYPE|FORMAT|DEVICE|BACKEND|QUANTIZATION|REVISION|VERSION|BRANCH|REGION|LANG|LANGUAGE|TZ|ENV|ENVIRONMENT)([_-]|$)/i;

/** Prefixes of well-known keys and tokens, and ids that are used as keys. */
const KNOWN_KEYS =
  /(^|[^a-z])(sk-|rpa_|hf_|gh[opsu]_|github_pat_|glpat-|npm_|AKIA|ASIA|xox[abp]-|eyJ|AIza|ya29\.|-----BEGIN)|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i;

/** A long run of letters and digits, as tokens have. */
const LONG_RUN = /[A-Za-z0-9]{16,}/g;

const NUMBER = /^[+-]?\d{1,9}(\.\d{1,9})?$/;

/** An absolute or relative path, or a file name with a well-known extension. */
const FILE = /^((~|\.{1,2})?(\/[\w.+-]+)+\/?|[\w./+-]+\.(py|sh|js|json|ya?ml|toml|txt))$/;

/** A single word, or the name of a model or image, such as "org/model". */
const WORD = /^[\w./-]{1,100}$/;

/**
 * The name of an option. Longer options with a single dash don't match, because their value may be
 * attached to them.
 */
const OPTION = /^(--[a-z][a-z-]*|-[a-z])$/i;

/** Returns `true` if a text contains, or may contain, a key or token. */
function containsKey(text: string): boolean {
  const runs = text.match(LONG_RUN) ?? [];
  return KNOWN_KEYS.test(text) || runs.some((run) => /\d/.test(run) || run.length >= 24);
}

function namesSecret(text: string): boolean {
  return looksLikeCredential(text) || SECRET_WORDS.test(text);
}

/**
 * Returns `true` if a program may contain the variable's value. That is the case for `true` and
 * `false`, for numbers and file paths, and for a single word if the variable's name suggests a
 * setting. If the name suggests a secret or the value looks like a key, only `true` and `false` are
 * harmless.
 */
export function isHarmlessVariable(name: string, value: string): boolean {
  if (/^(true|false)$/i.test(value)) return true;
  if (namesSecret(name) || containsKey(value)) return false;
  return NUMBER.test(value) || FILE.test(value) || (HARMLESS_WORDS.test(name) && WORD.test(value));
}

/**
 * Returns `true` if a start command contains nothing but a program, files, numbers, and options
 * with harmless values.
 */
function isHarmlessCommand(command: string): boolean {
  const words = command.trim().split(/\s+/);
  return words.every((word, index) => {
    const [, name, value] = /^-{0,2}([\w-]+)=(.*)$/.exec(word) ?? [];
    if (name !== undefined && value !== undefined) return isHarmlessVariable(name, value);
    if (containsKey(word)) return false;
    if (OPTION.test(word) || (index === 0 && WORD.test(word))) return true;
    const before = words[index - 1] ?? "";
    return isHarmlessVariable(OPTION.test(before) ? before.replace(/^-+/, "") : "", word);
  });
}

/** Returns `true` if a program must not contain the value of this setting. */
export function mayHoldSecret(field: string, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((part) => mayHoldSecret(field, part));
  if (field === "password") return true;
  if (typeof value !== "string" || value === "") return false;
  if (field === "dockerArgs") return !isHarmlessCommand(value);
  if (field === "username") return !WORD.test(value) || containsKey(value);
  if (field === "readme") return namesSecret(value) || containsKey(value);
  return (
    KNOWN_KEYS.test(value) || /:\/\/[^/\s]*@|(token|secret|passw\w*|key|credential\w*|auth\w*)["']?[=:\s]/i.test(value)
  );
}

/**
 * Returns the fields of a record without any start command or description that may contain a
 * secret, and a comment for each field that was removed.
 */
export function withoutSecretTexts(fields: readonly (readonly [string, unknown])[]) {
  const isHidden = ([field, value]: readonly [string, unknown]) =>
    ["dockerArgs", "readme"].includes(field) && mayHoldSecret(field, value);
  return {
    shown: fields.filter((entry) => !isHidden(entry)),
    comments: fields
      .filter(isHidden)
      .map(([field]) => `not managed: ${field}, which may hold a secret. Add it with a config secret`),
  };
}
