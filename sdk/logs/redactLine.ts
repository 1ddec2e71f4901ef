import { redact } from "../errors/secretText";

const HIDDEN = "[redacted]";

/** Matches the word after a name such as `HF_TOKEN=` or `password is`. */
const NAMED =
  /([\w.-]*(?:token|secret|passw(?:or)?d|passphrase|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|credential)s?[\w.-]*["']?\s*(?:[:=]>?|\bis\b)\s*["']?)([^\s"',;]{3,})/gi;
/** Matches a user name with a password in a URL. */
const IN_URL = /(\w+:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/g;
/** Matches keys that can be recognized by their format. */
const FORMS =
  /\b(?:hf_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|rpa_[A-Za-z0-9]{16,}|gh[pousr]_[A-Za-z0-9]{16,}|AKIA[A-Z0-9]{16}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)/g;

/**
 * Returns a log line in which known secrets are redacted, and so is everything that has the name or
 * the format of a secret. A program can print secrets in other forms, so logs are never stored.
 */
export function redactLine(line: string): string {
  return redact(line).replace(NAMED, `$1${HIDDEN}`).replace(IN_URL, `$1${HIDDEN}`).replace(FORMS, HIDDEN);
}
