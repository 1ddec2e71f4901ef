import { coerce, satisfies } from "semver";

/**
 * Returns `true` if a version is within a range. A pre-release counts as the release it precedes.
 */
export function isInRange(version: string, range: string): boolean {
  return satisfies(coerce(version) ?? version, range);
}
