import { ENDPOINT_FIELDS } from "../../sdk/endpoints/input";
import { normalizeGpuIds, normalizeLocations, normalizeName } from "../../sdk/endpoints/normalForms";
import { InvalidInputError } from "../../sdk/errors";
import { type Properties, UNKNOWN } from "../properties";
import { managesOtherFields, newlyManagedFields } from "./outputs";
import { CONTROL_INPUTS } from "./providerOnlyInputs";

/** Fields of which several texts mean the same. */
const NORMAL_FORMS: Record<string, (value: string) => string> = {
  gpuIds: normalizeGpuIds,
  locations: normalizeLocations,
  name: normalizeName,
};

/**
 * The service's fields of the checked inputs that differ from the resource's last known outputs. What the inputs do not
 * hold is not managed and never differs.
 */
export function changedFields(outputs: Properties, inputs: Properties): string[] {
  return ENDPOINT_FIELDS.filter(
    (field) => field in inputs && normalForm(field, inputs[field]) !== normalForm(field, outputs[field]),
  );
}

/** Whether the service has to be told: a managed field differs, or is managed only from now on. */
export function mustSave(outputs: Properties, inputs: Properties): boolean {
  return changedFields(outputs, inputs).length > 0 || newlyManagedFields(outputs, inputs).length > 0;
}

/** Whether anything has to be done or recorded. */
export function hasChanged(outputs: Properties, inputs: Properties): boolean {
  return (
    mustSave(outputs, inputs) ||
    managesOtherFields(outputs, inputs) ||
    CONTROL_INPUTS.some((input) => inputs[input] !== outputs[input])
  );
}

/** Throws when the program asks a resource that has an endpoint to take over another one. */
export function refuseOtherEndpoint(id: string, { adoptId }: Properties): void {
  if (adoptId === undefined || adoptId === id || adoptId === UNKNOWN) return;
  const message =
    `is ${adoptId}, but this resource has endpoint ${id} already. An endpoint is taken over only when a resource is ` +
    "new: declare another resource for it, or take adoptId out";
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

function normalForm(field: string, value: unknown): unknown {
  return typeof value === "string" ? (NORMAL_FORMS[field]?.(value) ?? value) : value;
}
