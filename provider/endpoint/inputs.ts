import {
  checkEndpointFields,
  crossFieldProblems,
  ENDPOINT_DEFAULTS,
  ENDPOINT_FIELDS,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../../sdk/endpoints/input";
import type { InputProblem } from "../../sdk/errors";
import { containsUnknown, type Properties, pick, UNKNOWN } from "../properties";
import { checkProviderOnlyInputs, isProviderOnlyInput } from "./providerOnlyInputs";

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
  const { __provider, automaticName, ...given } = newInputs;
  given.adoptId ??= undefined;
  // An adopted endpoint has a name of its own, also once adoptId is out of the program.
  const isAdopted = given.adoptId !== undefined || oldInputs.__adopter !== undefined;
  const naming = isAdopted
    ? { __adopter: oldInputs.__adopter }
    : nameAutomatically(oldInputs, given.name, automaticName);
  const entries = Object.entries({ ...given, ...naming, ...removedInputs(oldInputs, given) }).filter(
    ([, value]) => value !== undefined,
  );
  const unknown = Object.fromEntries(entries.filter(isUnknownField).map(([field]) => [field, UNKNOWN]));
  const known = Object.fromEntries(entries.filter((entry) => !isUnknownField(entry)));

  const own = checkProviderOnlyInputs(pick(known, isProviderOnlyInput));
  const endpoint = checkEndpointFields(
    pick(known, (name) => !isProviderOnlyInput(name)),
    options,
  );
  const present = { ...known, ...unknown, ...endpoint.fields, ...(isAdopted ? { name: given.name ?? "" } : {}) };
  const isNew = Object.keys(oldInputs).length === 0 && !isAdopted;
  return {
    inputs: { ...endpoint.fields, ...own.inputs, ...unknown, __provider },
    problems: [
      ...own.problems,
      ...endpoint.problems,
      ...missingFieldProblems(present),
      ...crossFieldProblems(present, isNew),
    ],
  };
}

/**
 * The automatic name, as the class passes it. A resource keeps the one that it was given first, which `__automaticName`
 * records: a refresh may put another name into the old inputs, and `ignoreChanges` the recorded one into the new.
 */
function nameAutomatically({ __automaticName: first }: Properties, name: unknown, automaticName: unknown): Properties {
  if (name !== undefined && name !== first) return {};
  const kept = typeof first === "string" ? first : automaticName;
  return typeof kept === "string" ? { name: kept, __automaticName: kept } : {};
}

/**
 * Defaults for the fields that the program has set before and sets no more. Not for the `scalerType` beside a value that
 * stays: the default could be another unit, so it is reported as missing.
 */
function removedInputs(oldInputs: Properties, newInputs: Properties): Properties {
  const isRemoved = (field: string) => field in oldInputs && newInputs[field] === undefined;
  const keepsScalerValue = newInputs.scalerValue !== undefined && newInputs.scalerValue !== null;
  const defaults = Object.entries(ENDPOINT_DEFAULTS).filter(([field]) => isRemoved(field));
  return Object.fromEntries(defaults.filter(([field]) => field !== "scalerType" || !keepsScalerValue));
}

/** A property that does not exist is a mistake, whether its value is known or not. */
function isUnknownField([property, value]: [string, unknown]): boolean {
  const exists = (ENDPOINT_FIELDS as readonly string[]).includes(property) || isProviderOnlyInput(property);
  return exists && containsUnknown(value);
}
