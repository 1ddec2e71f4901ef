import { normalizeGpuIds, normalizeLocations, normalizeName } from "../sdk/normalForms";
import type { Properties } from "./inputs";

/** Fields of which several texts mean the same. */
const NORMAL_FORMS: Record<string, (value: string) => string> = {
  gpuIds: normalizeGpuIds,
  locations: normalizeLocations,
  name: normalizeName,
};

/** Properties that only steer the provider. */
const NOT_COMPARED = ["__provider", "__nameIsAutomatic"];

/**
 * Fields of the checked inputs that differ from the resource's last known outputs. What the inputs do not hold is not
 * managed and never differs.
 */
export function changedFields(outputs: Properties, inputs: Properties): string[] {
  return Object.keys(inputs).filter((field) => {
    if (NOT_COMPARED.includes(field)) return false;
    return normalForm(field, inputs[field]) !== normalForm(field, outputs[field]);
  });
}

function normalForm(field: string, value: unknown): unknown {
  return typeof value === "string" ? (NORMAL_FORMS[field]?.(value) ?? value) : value;
}
