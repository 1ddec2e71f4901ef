import {
  checkEndpointFields,
  crossFieldProblems,
  ENDPOINT_DEFAULTS,
  ENDPOINT_FIELDS,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../sdk/endpointInput";
import type { InputProblem } from "../sdk/errors";

/** A map of properties as the engine passes it. */
export type Properties = Record<string, unknown>;

/** How the engine writes a value that is not known yet. It stands for any type, at any depth. */
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Inputs in normal form, and what is wrong with them. */
export interface CheckedInputs {
  readonly inputs: Properties;
  readonly problems: InputProblem[];
}

/**
 * Brings a program's inputs into normal form, so that inputs that mean the same are the same.
 * `oldInputs` are the normal form of the last run, or empty for a new resource.
 */
export function checkInputs(
  oldInputs: Properties,
  newInputs: Properties,
  options: EndpointInputOptions,
): CheckedInputs {
  const isNew = Object.keys(oldInputs).length === 0;
  const { __provider, automaticName, ...given } = newInputs;
  const isAutomatic = automaticName !== undefined && given.name === undefined;
  // A resource keeps the automatic name that it was given first.
  if (isAutomatic) given.name = oldInputs.__nameIsAutomatic ? oldInputs.name : automaticName;
  const entries = Object.entries({ ...given, ...removedInputs(oldInputs, given) });
  const unknown = Object.fromEntries(entries.filter(isUnknownField).map(([field]) => [field, UNKNOWN]));
  const known = Object.fromEntries(entries.filter((entry) => !isUnknownField(entry)));
  const { fields, problems } = checkEndpointFields(known, options);
  const present = { ...known, ...unknown, ...fields };
  return {
    inputs: { ...fields, ...unknown, ...(isAutomatic ? { __nameIsAutomatic: true } : {}), __provider },
    problems: [...problems, ...missingFieldProblems(present), ...crossFieldProblems(present, isNew)],
  };
}

/** Defaults for the fields that the program has set before and sets no more. */
function removedInputs(oldInputs: Properties, newInputs: Properties): Properties {
  const defaults = Object.entries(ENDPOINT_DEFAULTS);
  return Object.fromEntries(defaults.filter(([field]) => field in oldInputs && newInputs[field] === undefined));
}

/** A property that does not exist is a mistake, whether its value is known or not. */
function isUnknownField([property, value]: [string, unknown]): boolean {
  return (ENDPOINT_FIELDS as readonly string[]).includes(property) && containsUnknown(value);
}

function containsUnknown(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return value === UNKNOWN;
  return Object.values(value).some(containsUnknown);
}
