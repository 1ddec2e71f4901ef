import { coerce, satisfies } from "semver";

/**
 * Returns `true` if a version is in a range. A pre-release counts as the version that it precedes.
 */
export function isInRange(version: string, range: string): boolean {
  return satisfies(coerce(version) ?? version, range);
}
