import { FIELDS, isEndpointField } from "../../sdk/endpoints/fields";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { type Place, placeRecord } from "../connection/account";
import { type Properties, pick } from "../properties";
import { fieldsInRecord, managedRecord } from "../resource/managed";
import { isProviderOnlyInput } from "./providerOnlyInputs";

/** Returns the fields of the endpoint that the program manages, in normal form. */
export function managedFields(inputs: Properties): Partial<EndpointInput> {
  return pick(inputs, isEndpointField);
}

/**
 * Returns the fields in whose words an endpoint to adopt is read. The template is not among them: one that is not shown is
 * not known, and must be applied.
 */
export function knownToAdopter({ templateId: _, ...fields }: Properties): Properties {
  return fields;
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
  return { ...pick(inputs, isProviderOnlyInput), __inputs: managedRecord(FIELDS, inputs) };
}

/** Returns the inputs that would declare the endpoint as it is now, limited to the fields that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const managed = fieldsInRecord(FIELDS, outputs.__inputs);
  return {
    ...pick({ ...endpoint }, (name) => managed.includes(name)),
    ...pick(outputs, isProviderOnlyInput),
  };
}

/** Returns the endpoint that outputs describe. */
export function toEndpoint(id: string, outputs: Properties): Endpoint {
  return { ...pick(outputs, isEndpointField), id, pods: [] } as unknown as Endpoint;
}
