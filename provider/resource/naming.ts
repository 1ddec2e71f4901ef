import type { Properties } from "../properties";

/**
 * Returns the name of a resource whose program sets none. A resource keeps its first name, or the one that it was given
 * elsewhere since; `__automaticName` records that the program sets none. `ignoreChanges` puts the old name into the new
 * inputs.
 * @param automaticName the name that the resource class passes
 */
export function nameAutomatically(oldInputs: Properties, name: unknown, automaticName: unknown): Properties {
  const isKept = oldInputs.__automaticName !== undefined;
  if (name !== undefined && !(isKept && name === oldInputs.name)) return {};
  if (isKept) return { name: oldInputs.name, __automaticName: true };
  return typeof automaticName === "string" ? { name: automaticName, __automaticName: true } : {};
}

/** Returns the defaults of the fields that the program has removed. */
export function removedFields(
  defaults: Readonly<Record<string, unknown>>,
  oldInputs: Properties,
  newInputs: Properties,
): Properties {
  const isRemoved = ([field]: [string, unknown]) => field in oldInputs && newInputs[field] === undefined;
  return Object.fromEntries(Object.entries(defaults).filter(isRemoved));
}
