import { ENDPOINT_FIELDS, isEndpointField } from "../../sdk/endpoints/fields";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { type Place, placeRecord } from "../connection/account";
import { type Properties, pick } from "../properties";
import { isProviderOnlyInput } from "./providerOnlyInputs";

/** Returns the fields of the endpoint that the program manages, in normal form. */
export function managedFields(inputs: Properties): Partial<EndpointInput> {
  return pick(inputs, isEndpointField);
}

/**
 * Returns all fields of the endpoint as the service has them: fewer would hide drift. `__inputs` records the fields that
 * the program manages, because `read` receives only the outputs.
 */
export function toOutputs(endpoint: Endpoint, inputs: Properties, place: Place, owner: string): Properties {
  return {
    ...pick({ ...endpoint }, isEndpointField),
    ...recordedInputs(inputs),
    ...placeRecord(place, endpoint.id),
    __owner: owner,
  };
}

/** Returns the outputs of an endpoint that was not read: its fields stay as they were recorded. */
export function unseenOutputs(outputs: Properties, inputs: Properties): Properties {
  const { queueUrl, __account, __owner } = outputs;
  return { ...pick(outputs, isEndpointField), ...recordedInputs(inputs), queueUrl, __account, __owner };
}

function recordedInputs(inputs: Properties): Properties {
  return { ...pick(inputs, isProviderOnlyInput), __inputs: toRecord(inputs) };
}

/** Returns the inputs that would declare the endpoint as it is now, limited to the fields that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const managed = fromRecord(outputs.__inputs);
  return {
    ...pick({ ...endpoint }, (name) => managed.includes(name)),
    ...pick(outputs, isProviderOnlyInput),
  };
}

/** Returns the endpoint that outputs describe. */
export function toEndpoint(id: string, outputs: Properties): Endpoint {
  return { ...pick(outputs, isEndpointField), id, pods: [] } as unknown as Endpoint;
}

/**
 * Returns the fields that the program manages now, and did not when the outputs were recorded. Their recorded values may
 * be out of date: nothing updates a field that is not managed.
 */
export function newlyManagedFields(outputs: Properties, inputs: Properties): string[] {
  if (typeof outputs.__inputs !== "string") return [];
  const recorded = fromRecord(outputs.__inputs);
  return ENDPOINT_FIELDS.filter((field) => field in inputs && !recorded.includes(field));
}

/** Returns `true` if the program manages other fields than the outputs record. A refresh reads the recorded ones. */
export function managesOtherFields(outputs: Properties, inputs: Properties): boolean {
  return typeof outputs.__inputs === "string" && outputs.__inputs !== toRecord(inputs);
}

/** Returns the record of the managed fields: a hexadecimal number with a bit for each. State holds it, so bits never move. */
function toRecord(inputs: Properties): string {
  return ENDPOINT_FIELDS.reduce((bits, field, index) => (field in inputs ? bits | (1 << index) : bits), 0).toString(16);
}

/** Returns the fields that a record names. */
function fromRecord(record: unknown): string[] {
  const bits = Number.parseInt(String(record), 16);
  return ENDPOINT_FIELDS.filter((_field, index) => bits & (1 << index));
}
