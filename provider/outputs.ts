import { ENDPOINT_FIELDS, type EndpointInput } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpointRecord";
import { type Account, accountRecord } from "./account";
import { type Properties, pick } from "./inputs";
import { isOwnInput } from "./ownInputs";

/** The service's fields that the program manages, in normal form. */
export function managedFields(inputs: Properties): Partial<EndpointInput> {
  return pick(inputs, isEndpointField);
}

/** Where an endpoint is, beside its own record. */
export interface Place {
  /** Address of the queue interface. */
  readonly queueUrl: string;
  readonly account: Account;
}

/**
 * The endpoint as the service has it, complete: outputs that left out what inputs hold would hide drift. `__inputs`
 * records which of its fields the program manages, because `read` is given the outputs only.
 */
export function toOutputs(endpoint: Endpoint, inputs: Properties, { queueUrl, account }: Place): Properties {
  return {
    ...pick({ ...endpoint }, isEndpointField),
    ...pick(inputs, isOwnInput),
    endpointId: endpoint.id,
    queueUrl: `${queueUrl}/v2/${endpoint.id}`,
    // In an order of our own: another one would look like a change.
    __inputs: ENDPOINT_FIELDS.filter((field) => field in inputs).join(","),
    __account: accountRecord(account, endpoint.id),
  };
}

/** The inputs that would declare the endpoint as it is now: of its fields, those that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const managed = String(outputs.__inputs ?? "").split(",");
  return {
    ...pick({ ...endpoint }, (name) => isEndpointField(name) && managed.includes(name)),
    ...pick(outputs, isOwnInput),
  };
}

/** The endpoint that outputs describe. */
export function toEndpoint(id: string, outputs: Properties): Endpoint {
  return { ...pick(outputs, isEndpointField), id, pods: [] } as unknown as Endpoint;
}

function isEndpointField(name: string): boolean {
  return (ENDPOINT_FIELDS as readonly string[]).includes(name);
}
