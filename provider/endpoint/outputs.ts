import { ENDPOINT_FIELDS, type EndpointInput } from "../../sdk/endpoints/input";
import type { Endpoint } from "../../sdk/endpoints/record";
import { type Place, placeRecord } from "../connection/account";
import { type Properties, pick } from "../properties";
import { isProviderOnlyInput } from "./providerOnlyInputs";

/** The service's fields that the program manages, in normal form. */
export function managedFields(inputs: Properties): Partial<EndpointInput> {
  return pick(inputs, isEndpointField);
}

/**
 * The endpoint as the service has it, complete: outputs that left out what inputs hold would hide drift. `__inputs`
 * records which of its fields the program manages, because `read` is given the outputs only.
 */
export function toOutputs(endpoint: Endpoint, inputs: Properties, place: Place, owner: string): Properties {
  return {
    ...pick({ ...endpoint }, isEndpointField),
    ...recordedInputs(inputs),
    ...placeRecord(place, endpoint.id),
    __owner: owner,
  };
}

/** The outputs of an endpoint that was not looked at: all that was seen of it stays as it was. */
export function unseenOutputs(outputs: Properties, inputs: Properties): Properties {
  const { queueUrl, __account, __owner } = outputs;
  return { ...pick(outputs, isEndpointField), ...recordedInputs(inputs), queueUrl, __account, __owner };
}

function recordedInputs(inputs: Properties): Properties {
  return { ...pick(inputs, isProviderOnlyInput), __inputs: toInputBits(inputs) };
}

/** The inputs that would declare the endpoint as it is now: of its fields, those that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const managed = fromInputBits(outputs.__inputs);
  return {
    ...pick({ ...endpoint }, (name) => managed.includes(name)),
    ...pick(outputs, isProviderOnlyInput),
  };
}

/** The endpoint that outputs describe. */
export function toEndpoint(id: string, outputs: Properties): Endpoint {
  return { ...pick(outputs, isEndpointField), id, pods: [] } as unknown as Endpoint;
}

/** The bit of each field in `__inputs`. Permanent, because state holds them: a new field takes the next higher one. */
const INPUT_BITS = {
  name: 0x1,
  gpuIds: 0x2,
  templateId: 0x4,
  idleTimeout: 0x8,
  scalerValue: 0x10,
  workersMax: 0x20,
  workersMin: 0x40,
  locations: 0x80,
  flashBootType: 0x100,
  scalerType: 0x200,
  networkVolumeId: 0x400,
} satisfies Record<keyof EndpointInput, number>;

/** Which of the endpoint's fields are there, as a hexadecimal number: the engine writes all of state at every step. */
function toInputBits(inputs: Properties): string {
  return Object.entries(INPUT_BITS)
    .reduce((bits, [field, bit]) => (field in inputs ? bits | bit : bits), 0)
    .toString(16);
}

/**
 * Fields that the program manages now and did not when the outputs were recorded. What outputs say of such a field may be
 * long out of date: nothing brought it up to date while nobody managed it.
 */
export function newlyManagedFields(outputs: Properties, inputs: Properties): string[] {
  if (typeof outputs.__inputs !== "string") return [];
  const recorded = fromInputBits(outputs.__inputs);
  return Object.keys(INPUT_BITS).filter((field) => field in inputs && !recorded.includes(field));
}

/** Whether the program manages other fields than the outputs record. A refresh reads those that are recorded. */
export function managesOtherFields(outputs: Properties, inputs: Properties): boolean {
  return typeof outputs.__inputs === "string" && outputs.__inputs !== toInputBits(inputs);
}

function fromInputBits(bits: unknown): string[] {
  const set = Number.parseInt(String(bits), 16);
  return Object.entries(INPUT_BITS)
    .filter(([, bit]) => set & bit)
    .map(([field]) => field);
}

function isEndpointField(name: string): boolean {
  return (ENDPOINT_FIELDS as readonly string[]).includes(name);
}
