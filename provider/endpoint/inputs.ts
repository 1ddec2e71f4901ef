import { ENDPOINT_DEFAULTS, isEndpointField } from "../../sdk/endpoints/fields";
import {
  checkEndpointFields,
  crossFieldProblems,
  type EndpointInputOptions,
  missingFieldProblems,
} from "../../sdk/endpoints/input";
import type { InputProblem } from "../../sdk/errors";
import { containsUnknown, type Properties, pick, UNKNOWN } from "../properties";
import { nameAutomatically, removedFields, stableName } from "../resource/naming";
import { checkProviderOnlyInputs, isProviderOnlyInput } from "./providerOnlyInputs";

/** Inputs in normal form, and their problems. */
export interface CheckedInputs {
  readonly inputs: Properties;
  readonly problems: InputProblem[];
}

/**
 * Converts a program's inputs to normal form, so that inputs with the same meaning are equal.
 * @param oldInputs the normal form of the last run; empty for a new resource
 */
export function checkInputs(
  oldInputs: Properties,
  newInputs: Properties,
  options: EndpointInputOptions,
): CheckedInputs {
  const { __provider, automaticName, proposedName = automaticName, ...given } = newInputs;
  // An adopted endpoint has its own name, even after the program removes adoptId.
  const isAdopted = given.adoptId != null || oldInputs.__adopter !== undefined;
  const naming = isAdopted
    ? { __adopter: oldInputs.__adopter }
    : nameAutomatically(oldInputs, given.name, stableName(proposedName));
  const entries = Object.entries({ ...managedWorkers(given), ...naming, ...removedInputs(oldInputs, given) }).filter(
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
 * Returns the inputs with both numbers of workers if `recycleWorkers` is set: an `up` that finishes an interrupted recycle
 * must know what to restore.
 */
function managedWorkers(given: Properties): Properties {
  if (given.recycleWorkers !== true) return given;
  const { workersMin, workersMax } = ENDPOINT_DEFAULTS;
  return { ...given, workersMin: given.workersMin ?? workersMin, workersMax: given.workersMax ?? workersMax };
}

/**
 * Returns the defaults of the fields that the program has removed. Leaves out `scalerType` if `scalerValue` stays: the
 * default could have another unit, so `scalerType` is reported as missing.
 */
function removedInputs(oldInputs: Properties, newInputs: Properties): Properties {
  const { scalerType, ...others } = removedFields(ENDPOINT_DEFAULTS, oldInputs, newInputs);
  const keepsScalerValue = newInputs.scalerValue !== undefined && newInputs.scalerValue !== null;
  return scalerType === undefined || keepsScalerValue ? others : { ...others, scalerType };
}

/** Returns `true` for an existing property with an unknown value. A property that does not exist is always a mistake. */
function isUnknownField([property, value]: [string, unknown]): boolean {
  return (isEndpointField(property) || isProviderOnlyInput(property)) && containsUnknown(value);
}
