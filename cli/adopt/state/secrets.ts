import { looksLikeCredential } from "../../../sdk/containers/fields";

/** Characters of ordinary settings: words, numbers, paths, images, models, flags. */
const ORDINARY = /^[\w ./:,+=-]{0,80}$/;

/** The beginnings of well-known keys and tokens, and identifiers that serve as keys. */
const KNOWN_KEYS =
  /(^|[^a-z])(sk-|rpa_|hf_|gh[opsu]_|github_pat_|glpat-|npm_|AKIA|ASIA|xox[abp]-|eyJ|AIza|ya29\.|-----BEGIN)|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/i;

/** A long run of letters and digits, as in a token. */
const LONG_RUN = /[A-Za-z0-9]{16,}/g;

/**
 * Returns `true` for a variable that may hold a secret, by its name or by its value. A wrong `true`
 * costs a line of config; a wrong `false` would put a secret into a program.
 */
export function mayBeSecret(name: string, value: string): boolean {
  return looksLikeCredential(name) || /PWD|AUTH|DSN|PRIVATE|SIGNATURE/i.test(name) || looksSecret(value);
}

/** Returns `true` for a text that may contain a secret. */
export function looksSecret(value: string): boolean {
  if (!ORDINARY.test(value) || KNOWN_KEYS.test(value)) return true;
  const runs = value.match(LONG_RUN) ?? [];
  return runs.some((run) => /\d/.test(run) || run.length >= 24);
}

/** Returns `true` for a command line that may contain a secret. */
export function commandLooksSecret(command: string): boolean {
  return (
    KNOWN_KEYS.test(command) ||
    /:\/\/[^/\s]*@|(token|secret|passw\w*|key|credential\w*|auth\w*)["']?[=:\s]/i.test(command)
  );
}
