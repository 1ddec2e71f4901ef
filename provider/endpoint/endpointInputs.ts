import { isDeepStrictEqual } from "node:util";
import type { Capabilities } from "../../sdk/contract/capabilities";
import { ENDPOINT_DEFAULTS, ENDPOINT_FIELDS, FIELDS } from "../../sdk/endpoints/fields";
import { checkEndpointFields, crossFieldProblems, processorProblems } from "../../sdk/endpoints/input";
import { drainProblems, limitProblems } from "../../sdk/endpoints/interfaceLimits";
import { containerProblems } from "../../sdk/endpoints/ownContainer";
import { newPoolWarnings } from "../../sdk/endpoints/places";
import type { InputProblem } from "../../sdk/errors/errors";
import { lackedAt } from "../../sdk/records/fields";
import { acceptedWords, type ReadConfig } from "../connection/config";
import { isObject, type Properties, pick, SECONDS, TRUE_OR_FALSE, UNKNOWN } from "../engine/properties";
import type { InputKind } from "../fields/recordInputs";
import { moveProblems, rollOutProblems, withoutUnsetParts } from "../rollOut/rollOutInputs";
import { sourceProblems, staysWithOther, withOneSource } from "./ownContainer";
import { isScheduled, scheduleProblems, withScheduledWorkers } from "./schedule";

/** The rules for an endpoint's inputs. */
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
    rollOut: { message: "must be an object with test, watch, or both", allows: isObject },
    schedule: { message: "must be an object with timeZone and rules", allows: isObject },
  },
  checkFields: (input, readConfig) => checkEndpointFields(input, acceptedWords(readConfig)),
  configuredFields: ["gpuIds", "locations"],
  completed: (inputs) =>
    withRecycledWorkers(withScheduledWorkers(withOneVolumeForm(withOneSource(withoutUnsetParts(inputs))))),
  staysUnset(field, inputs) {
    const isSet = (name: string) => inputs[name] !== undefined && inputs[name] !== null;
    // The default's unit may differ from that of the `scalerValue` that stays, so `scalerType` is
    // reported as missing.
    if (field === "scalerType") return isSet("scalerValue");
    if (isScheduled(field, inputs)) return true;
    if (staysWithOther(field, inputs)) return true;
    const other = VOLUME_FORMS.find((form) => form !== field);
    return VOLUME_FORMS.includes(field) && other !== undefined && isSet(other);
  },
  crossFieldProblems: (fields, isNew) => [
    ...processorProblems(fields),
    ...containerProblems(fields),
    ...crossFieldProblems(fields, isNew),
    ...rollOutProblems(fields),
    ...scheduleProblems(fields, isNew),
  ],
  problemsOfChange: moveProblems,
} satisfies InputKind;

/** Two forms of the same setting. A program that switches forms only manages the new one. */
const VOLUME_FORMS: readonly string[] = ["networkVolumeId", "networkVolumeIds"];

/** Drops the volume field that is `null` if the other one is set. */
function withOneVolumeForm(inputs: Properties): Properties {
  if (VOLUME_FORMS.some((form) => inputs[form] === undefined)) return inputs;
  const [empty] = VOLUME_FORMS.filter((form) => inputs[form] === null);
  return empty === undefined ? inputs : pick(inputs, (name) => name !== empty);
}

/**
 * Adds both worker counts to the inputs if `recycleWorkers` is set, because an `up` that finishes
 * an interrupted recycle must know what to restore.
 */
function withRecycledWorkers(inputs: Properties): Properties {
  if (inputs.recycleWorkers !== true) return inputs;
  const { workersMin, workersMax } = ENDPOINT_DEFAULTS;
  return { ...inputs, workersMin: inputs.workersMin ?? workersMin, workersMax: inputs.workersMax ?? workersMax };
}

/**
 * Returns problems with inputs that the API does not accept, so that a preview shows them. Values
 * from the last run cause no problem: another API accepted them, and they are not sent again.
 */
export function apiProblems(
  oldInputs: Properties,
  inputs: Properties,
  { endpointLimits, ...capabilities }: Capabilities,
): InputProblem[] {
  const problems = [
    ...drainProblems(capabilities, inputs.drain),
    ...sourceProblems(oldInputs, inputs, capabilities),
    ...lackedFields(inputs, capabilities).filter(({ property }) => differs(inputs[property], oldInputs[property])),
  ];
  // An endpoint that is being adopted may already have these values.
  if (!endpointLimits || inputs.adoptId !== undefined) return problems;
  const { scalerType, type } = inputs;
  const sent = (field: "scalerValue" | "idleTimeout") => {
    const value = inputs[field];
    const isSent = value !== oldInputs[field] || scalerType !== oldInputs.scalerType;
    return isSent && typeof value === "number" ? value : undefined;
  };
  const numbers = { scalerValue: sent("scalerValue"), idleTimeout: sent("idleTimeout") };
  const isByRequests = scalerType === "REQUEST_COUNT";
  const cuda = (field: "allowedCudaVersions" | "minCudaVersion") => {
    const value = inputs[field];
    return typeof value === "string" && value !== UNKNOWN ? value : undefined;
  };
  const isSame =
    inputs.allowedCudaVersions === oldInputs.allowedCudaVersions && inputs.minCudaVersion === oldInputs.minCudaVersion;
  const rules = { allowedCudaVersions: cuda("allowedCudaVersions"), minCudaVersion: cuda("minCudaVersion") };
  const kind = type === "LOAD_BALANCER" ? { type } : {};
  return [
    ...problems,
    ...limitProblems(endpointLimits, {
      ...numbers,
      ...(isByRequests && { scalerType }),
      ...kind,
      ...(isSame ? {} : rules),
    }),
  ];
}

/** Variables are compared as an object. */
function differs(value: unknown, before: unknown): boolean {
  return !isDeepStrictEqual(value, before);
}

/** Returns a problem for each input that the API does not support. */
function lackedFields(inputs: Properties, place: Pick<Capabilities, "api" | "service">): InputProblem[] {
  return ENDPOINT_FIELDS.flatMap((property) => {
    const value = inputs[property];
    const message = value === UNKNOWN ? undefined : lackedAt(FIELDS[property], value, place);
    return message === undefined ? [] : [{ property, message }];
  });
}

/**
 * Returns warnings about GPU pools that this version does not know, and about inputs from the last
 * run that another API accepted.
 */
export function notices(
  oldInputs: Properties,
  inputs: Properties,
  { capabilities, readConfig }: { readonly capabilities: Capabilities | undefined; readonly readConfig: ReadConfig },
): string[] {
  const isNew = (property: string) => differs(inputs[property], oldInputs[property]);
  const lacked = capabilities ? lackedFields(inputs, capabilities).filter(({ property }) => !isNew(property)) : [];
  return [
    ...(isNew("gpuIds") ? newPoolWarnings(inputs.gpuIds, acceptedWords(readConfig)) : []),
    ...lacked.map(
      ({ property, message }) =>
        `${property} ${message}. Until then it is neither read nor restored: the endpoint keeps the value that it has`,
    ),
  ];
}
