import { FIELDS } from "../../sdk/endpoints/fields";
import type { Properties } from "../properties";
import { changedIn, managesOthersIn, newlyManagedIn } from "../resource/managed";
import { CONTROL_INPUTS } from "./providerOnlyInputs";

/**
 * Returns the fields of the checked inputs that differ from the resource's last known outputs. A field that the inputs do
 * not contain is not managed and never differs.
 */
export function changedFields(outputs: Properties, inputs: Properties): string[] {
  return changedIn(FIELDS, outputs, inputs);
}

/** Returns `true` if the endpoint must be saved: a managed field differs, or is newly managed. */
export function mustSave(outputs: Properties, inputs: Properties): boolean {
  return changedFields(outputs, inputs).length > 0 || newlyManagedIn(FIELDS, outputs, inputs).length > 0;
}

/** Returns `true` if anything must be saved or recorded. */
export function hasChanged(outputs: Properties, inputs: Properties): boolean {
  return (
    mustSave(outputs, inputs) ||
    managesOthersIn(FIELDS, outputs, inputs) ||
    CONTROL_INPUTS.some((input) => inputs[input] !== outputs[input])
  );
}
