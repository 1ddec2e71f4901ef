import { ENDPOINT_FIELDS, FIELDS } from "../../sdk/endpoints/fields";
import type { EndpointInput } from "../../sdk/endpoints/record";
import { InvalidInputError } from "../../sdk/errors";
import { type Properties, UNKNOWN } from "../properties";
import { managesOtherFields, newlyManagedFields } from "./outputs";
import { CONTROL_INPUTS } from "./providerOnlyInputs";

/**
 * Returns the fields of the checked inputs that differ from the resource's last known outputs. A field that the inputs do
 * not contain is not managed and never differs.
 */
export function changedFields(outputs: Properties, inputs: Properties): string[] {
  return ENDPOINT_FIELDS.filter(
    (field) => field in inputs && normalForm(field, inputs[field]) !== normalForm(field, outputs[field]),
  );
}

/** Returns `true` if the endpoint must be saved: a managed field differs, or is newly managed. */
export function mustSave(outputs: Properties, inputs: Properties): boolean {
  return changedFields(outputs, inputs).length > 0 || newlyManagedFields(outputs, inputs).length > 0;
}

/** Returns `true` if anything must be saved or recorded. */
export function hasChanged(outputs: Properties, inputs: Properties): boolean {
  return (
    mustSave(outputs, inputs) ||
    managesOtherFields(outputs, inputs) ||
    CONTROL_INPUTS.some((input) => inputs[input] !== outputs[input])
  );
}

/**
 * Refuses to adopt another endpoint for a resource that has one.
 * @throws InvalidInputError if `adoptId` names another endpoint
 */
export function refuseOtherEndpoint(id: string, { adoptId }: Properties): void {
  if (adoptId === undefined || adoptId === id || adoptId === UNKNOWN) return;
  const message =
    `is ${adoptId}, but this resource has endpoint ${id} already. Only a new resource can adopt an ` +
    "endpoint: declare another resource for it, or remove adoptId";
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

function normalForm(field: keyof EndpointInput, value: unknown): unknown {
  const { normalize } = FIELDS[field];
  return normalize && typeof value === "string" ? normalize(value) : value;
}
