import { ENDPOINT_FIELDS, type EndpointInput } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpoints";
import type { Properties } from "./inputs";

/** Inputs that are not the service's and that outputs keep as they were given. */
const OWN_INPUTS = ["__nameIsAutomatic"];

/** The service's fields that the program manages, in normal form. */
export function managedFields(inputs: Properties): Partial<EndpointInput> {
  return pick(inputs, ENDPOINT_FIELDS);
}

/**
 * The endpoint as the service has it, complete: outputs that left out what inputs hold would hide drift. `__inputs`
 * records which inputs there were, because `read` is given the outputs only.
 */
export function toOutputs(endpoint: Endpoint, inputs: Properties, queueUrl: string): Properties {
  // In an order of our own: another one would look like a change.
  const names = ENDPOINT_FIELDS.filter((field) => field in inputs);
  return {
    ...pick({ ...endpoint }, ENDPOINT_FIELDS),
    ...pick(inputs, OWN_INPUTS),
    endpointId: endpoint.id,
    queueUrl: `${queueUrl}/v2/${endpoint.id}`,
    __inputs: names.join(","),
  };
}

/** The inputs that would declare the endpoint as it is now: of its fields, those that the program manages. */
export function toInputs(endpoint: Endpoint, outputs: Properties): Properties {
  const names = String(outputs.__inputs ?? "").split(",");
  return {
    ...pick(outputs, OWN_INPUTS),
    ...pick(
      { ...endpoint },
      ENDPOINT_FIELDS.filter((field) => names.includes(field)),
    ),
  };
}

function pick(properties: Properties, names: readonly string[]): Properties {
  return Object.fromEntries(names.filter((name) => name in properties).map((name) => [name, properties[name]]));
}
