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
    queueUrl: `${queueUrl}/v2/${endpoint.id}`,
    __inputs: toInputBits(inputs),
    __account: accountRecord(account, endpoint.id),
  };
}

/** The inputs that would declare the endpoint as it is now: of its fields, those that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const managed = fromInputBits(outputs.__inputs);
  return {
    ...pick({ ...endpoint }, (name) => managed.includes(name)),
    ...pick(outputs, isOwnInput),
  };
}

/** The endpoint that outputs describe. */
export function toEndpoint(id: string, outputs: Properties): Endpoint {
  return { ...pick(outputs, isEndpointField), id, pods: [] } as unknown as Endpoint;
}

/** The bits of `__inputs`, the lowest first. State holds them, so the order is permanent: new fields go to the end. */
const INPUT_BITS = [
  "name",
  "gpuIds",
  "templateId",
  "idleTimeout",
  "scalerValue",
  "workersMax",
  "workersMin",
  "locations",
  "flashBootType",
  "scalerType",
  "networkVolumeId",
] as const satisfies readonly (keyof EndpointInput)[];

/** Which of the endpoint's fields are there, as a hexadecimal number: the engine writes all of state at every step. */
function toInputBits(inputs: Properties): string {
  return INPUT_BITS.reduce((bits, field, index) => (field in inputs ? bits | (1 << index) : bits), 0).toString(16);
}

function fromInputBits(bits: unknown): readonly string[] {
  const set = Number.parseInt(String(bits), 16);
  return INPUT_BITS.filter((_field, index) => set & (1 << index));
}

function isEndpointField(name: string): boolean {
  return (ENDPOINT_FIELDS as readonly string[]).includes(name);
}
