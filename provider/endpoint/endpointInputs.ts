import type { Capabilities } from "../../sdk/contract/capabilities";
import { ENDPOINT_DEFAULTS, FIELDS } from "../../sdk/endpoints/fields";
import { checkEndpointFields, crossFieldProblems } from "../../sdk/endpoints/input";
import { drainProblems, limitProblems } from "../../sdk/endpoints/interfaceLimits";
import type { InputProblem } from "../../sdk/errors";
import { acceptedWords } from "../connection/config";
import type { InputKind } from "../fields/recordInputs";
import { type Properties, SECONDS, TRUE_OR_FALSE } from "../properties";

/** The rules of an endpoint's inputs. */
export const ENDPOINT_INPUTS = {
  one: "an endpoint",
  table: FIELDS,
  hasUniqueNames: false,
  ownRules: {
    drain: TRUE_OR_FALSE,
    drainTimeout: SECONDS,
    awaitReady: TRUE_OR_FALSE,
    awaitReadyTimeout: SECONDS,
    templateRevision: {
      message: "must be the revision of a template: a whole number, 0 or more",
      allows: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
    },
    recycleWorkers: TRUE_OR_FALSE,
  },
  checkFields: (input, readConfig) => checkEndpointFields(input, acceptedWords(readConfig)),
  configuredFields: ["gpuIds", "locations"],
  completed: withRecycledWorkers,
  // The default could have another unit than the scalerValue that stays, so scalerType is reported as missing.
  staysUnset: (field, { scalerValue }) => field === "scalerType" && scalerValue !== undefined && scalerValue !== null,
  crossFieldProblems,
} satisfies InputKind;

/**
 * Returns the inputs with both numbers of workers if `recycleWorkers` is set: an `up` that finishes an interrupted recycle
 * must know what to restore.
 */
function withRecycledWorkers(inputs: Properties): Properties {
  if (inputs.recycleWorkers !== true) return inputs;
  const { workersMin, workersMax } = ENDPOINT_DEFAULTS;
  return { ...inputs, workersMin: inputs.workersMin ?? workersMin, workersMax: inputs.workersMax ?? workersMax };
}

/**
 * Returns the problems of inputs that the management interface does not accept, so that a preview shows them. Values of the
 * last run are no problem: another interface has accepted them, and they are not sent again.
 */
export function interfaceProblems(
  oldInputs: Properties,
  inputs: Properties,
  { endpointLimits, ...abilities }: Capabilities,
): InputProblem[] {
  const problems = drainProblems(abilities, inputs.drain);
  // An endpoint that is adopted may have them already.
  if (!endpointLimits || inputs.adoptId !== undefined) return problems;
  const { scalerType } = inputs;
  const sent = (field: "scalerValue" | "idleTimeout") => {
    const value = inputs[field];
    const isSent = value !== oldInputs[field] || scalerType !== oldInputs.scalerType;
    return isSent && typeof value === "number" ? value : undefined;
  };
  const numbers = { scalerValue: sent("scalerValue"), idleTimeout: sent("idleTimeout") };
  const isByRequests = scalerType === "REQUEST_COUNT";
  return [...problems, ...limitProblems(endpointLimits, { ...numbers, ...(isByRequests && { scalerType }) })];
}
