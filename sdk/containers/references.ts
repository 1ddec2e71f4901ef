/** Matches a reference to a secret. The group is the secret's name. */
const REFERENCE = /\{\{\s*RUNPOD_SECRET_([\w.\-/]+)\s*\}\}/g;

/** Returns the names of the secrets to which the value of an environment variable refers. */
export function referencesIn(text: string): string[] {
  return Array.from(text.matchAll(REFERENCE), ([, name = ""]) => name);
}
