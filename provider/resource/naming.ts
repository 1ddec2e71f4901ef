import type { Properties } from "../properties";

/**
 * Returns the name of a resource whose program sets none. A resource keeps its first name, or the one that it was given
 * elsewhere since; `__automaticName` records that the program sets none. `ignoreChanges` puts the old name into the new
 * inputs.
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

/** Returns the defaults of the fields that the program has removed. */
export function removedFields(
  defaults: Readonly<Record<string, unknown>>,
  oldInputs: Properties,
  newInputs: Properties,
): Properties {
  const isRemoved = ([field]: [string, unknown]) => field in oldInputs && newInputs[field] === undefined;
  return Object.fromEntries(Object.entries(defaults).filter(isRemoved));
}
