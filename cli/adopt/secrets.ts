import { looksLikeCredential } from "../../sdk/containers/fields";

// A value is in a program only if it is clearly harmless. A wrong "may be secret" costs a line of
// config; a wrong "harmless" would put a secret into a program.

/** Names, and words of a text, that tell of a secret. */
const SECRET_WORDS =
  /PASS|PWD|PHRASE|AUTH|BEARER|COOKIE|SESSION|SALT|SIGNATURE|PRIVATE|ACCESS|LICEN[CS]E|WEBHOOK|(^|[\W_])(PW|PIN|OTP|CODE|DSN|JWT|PAT|PSK)([\W_]|$)/i;

/** Words of names whose values are settings. */
const HARMLESS_WORDS =
  /(^|[_-])(MODELS?|PATH|DIR|DIRECTORY|FOLDER|FILE|HOME|HOST|PORT|LEVEL|MODE|D?TYPE|FORMAT|DEVICE|BACKEND|QUANTIZATION|REVISION|VERSION|BRANCH|REGION|LANG|LANGUAGE|TZ|ENV|ENVIRONMENT)([_-]|$)/i;

/** The beginnings of well-known keys and tokens, and identifiers that serve as keys. */
const KNOWN_KEYS =
  /(^|[^a-z])(sk-|rpa_|hf_|gh[opsu]_|github_pat_|glpat-|npm_|AKIA|ASIA|xox[abp]-|eyJ|AIza|ya29\.|-----BEGIN)|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i;

/** A long run of letters and digits, as in a token. */
const LONG_RUN = /[A-Za-z0-9]{16,}/g;

const NUMBER = /^[+-]?\d{1,9}(\.\d{1,9})?$/;

/** An absolute or relative path, or the name of a file with a well-known ending. */
const FILE = /^((~|\.{1,2})?(\/[\w.+-]+)+\/?|[\w./+-]+\.(py|sh|js|json|ya?ml|toml|txt))$/;

/** A word, or the name of a model or an image, such as "org/model". */
const WORD = /^[\w./-]{1,100}$/;

/** The name of an option. A value may be attached to "-x", so a longer one is none. */
const OPTION = /^(--[a-z][a-z-]*|-[a-z])$/i;

/** Returns `true` for a text that contains a key or a token, or looks as if it did. */
function containsKey(text: string): boolean {
  const runs = text.match(LONG_RUN) ?? [];
  return KNOWN_KEYS.test(text) || runs.some((run) => /\d/.test(run) || run.length >= 24);
}

function namesSecret(text: string): boolean {
  return looksLikeCredential(text) || SECRET_WORDS.test(text);
}

/**
 * Returns `true` for a variable whose value may be in a program: `true` and `false`; a number or a
 * file path; or, if a word of its name says that it is a setting, one word. A name that tells of a
 * secret and a value that looks like a key exclude all but the first.
 */
export function isHarmlessVariable(name: string, value: string): boolean {
  if (/^(true|false)$/i.test(value)) return true;
  if (namesSecret(name) || containsKey(value)) return false;
  return NUMBER.test(value) || FILE.test(value) || (HARMLESS_WORDS.test(name) && WORD.test(value));
}

/**
 * Returns `true` for a start command that consists of the program, files, numbers, and options
 * whose values are harmless, as those of variables are.
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

/** Returns `true` for a setting whose value must not be in a program. */
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
 * Returns the fields of a record without a start command and a description that may hold a secret,
 * and a comment for each of these.
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
