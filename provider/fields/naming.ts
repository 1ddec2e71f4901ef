import { createHash } from "node:crypto";
import type { Properties } from "../engine/properties";

const DIGITS = 7;

/**
 * Returns `<logical name>-<7 hex digits>`. The digits are a hash of the values that identify the
 * resource, so they are the same on every run.
 */
export function hashedName(logicalName: string, identity: readonly string[]): string {
  const digest = createHash("sha256").update(JSON.stringify(identity)).digest("hex");
  return `${logicalName}-${digest.slice(0, DIGITS)}`;
}

/** Returns `true` if a name has the form of an automatic name of this resource. */
export function isAutomaticNameOf(logicalName: string, name: string): boolean {
  const suffix = name.slice(logicalName.length);
  return name.startsWith(logicalName) && suffix.length === DIGITS + 1 && /^-[0-9a-f]+$/.test(suffix);
}

/**
 * Returns the inputs that determine the name of a resource for which the program sets no name. Such
 * a resource keeps its first name, or the name that it has been given elsewhere since.
 * `__automaticName` records that the program sets no name, because `ignoreChanges` copies the old
 * name into the new inputs.
 * @param automatic the inputs for a resource that has no automatic name yet
 */
export function nameAutomatically(oldInputs: Properties, name: unknown, automatic: Properties): Properties {
  const isKept = oldInputs.__automaticName !== undefined;
  if (name !== undefined && !(isKept && name === oldInputs.name)) return {};
  return isKept ? { name: oldInputs.name, __automaticName: oldInputs.__automaticName } : automatic;
}

/** Returns the inputs for an automatic name that is the same on every run. */
export function stableName(name: unknown): Properties {
  return typeof name === "string" ? { name, __automaticName: true } : {};
}
