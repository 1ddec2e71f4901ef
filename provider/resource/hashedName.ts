import { createHash } from "node:crypto";

const DIGITS = 7;

/** Returns `<logical name>-<7 hex digits>`. The digits are a hash of what identifies the resource: the same on every run. */
export function hashedName(logicalName: string, identity: readonly string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex");
  return `${logicalName}-${digest.slice(0, DIGITS)}`;
}
