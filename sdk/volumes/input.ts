import * as z from "zod";
import { DATA_CENTER_ID } from "../contract/limits";
import type { InputProblem } from "../errors";
import { checkFields, fieldSchemas, must, parseFields } from "../records/input";
import { VOLUME_DEFAULTS, VOLUME_FIELDS, type VolumeChanges, type VolumeInput, type VolumeSettings } from "./volume";

const SCHEMAS = fieldSchemas(VOLUME_FIELDS, {
  "data center": ({ mustBe }) => z.string(must(mustBe)).trim().regex(DATA_CENTER_ID, must(mustBe)),
});

/** Returns each valid field in normal form, and the problems with the others. */
export function checkVolumeFields(input: Readonly<Record<string, unknown>>): {
  fields: Record<string, unknown>;
  problems: InputProblem[];
} {
  return checkFields(SCHEMAS, input);
}

/**
 * Checks the settings of a new volume and returns them in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseVolume(input: VolumeInput): VolumeSettings {
  const fields = parseFields("the new network volume", VOLUME_FIELDS, SCHEMAS, input, true);
  return { ...VOLUME_DEFAULTS, ...fields } as VolumeSettings;
}

/**
 * Checks changes and returns them in normal form.
 * @throws InvalidInputError that lists every problem
 */
export function parseVolumeChanges(id: string, changes: VolumeChanges): VolumeChanges {
  const { name, size } = SCHEMAS;
  const schemas = { ...(name && { name }), ...(size && { size }) };
  return parseFields(`the change of network volume ${id}`, VOLUME_FIELDS, schemas, changes, false);
}
