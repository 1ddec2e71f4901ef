import { isObject, type Properties } from "../../provider/engine/properties";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { FieldTable } from "../../sdk/records/fields";
import { TEMPLATE_FIELDS } from "../../sdk/templates/template";
import { VOLUME_FIELDS } from "../../sdk/volumes/volume";

// A value from the config or from another language may arrive as text. Everything that judges a
// preview relies on the declared types, so the texts are converted where the preview is read.

const TYPES = new Map(
  ([FIELDS, TEMPLATE_FIELDS, VOLUME_FIELDS] as FieldTable[])
    .flatMap((table) => Object.entries(table))
    .map(([name, { type }]) => [name, type]),
);
const NUMBERS: readonly (string | undefined)[] = ["whole number", "positive number"];
const NUMBER = /^\s*[+-]?\d+(\.\d+)?\s*$/;

/** Returns a resource's values, in which numbers and booleans that are texts have their type. */
export function withTypes(values: Properties): Properties {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typed(name, value)]));
}

function typed(name: string, value: unknown): unknown {
  if (name === "schedule" && isObject(value) && Array.isArray(value.rules))
    return { ...value, rules: value.rules.map((rule: unknown) => (isObject(rule) ? withTypes(rule) : rule)) };
  if (typeof value !== "string") return value;
  if (NUMBERS.includes(TYPES.get(name))) return NUMBER.test(value) ? Number(value) : value;
  return TYPES.get(name) === "boolean" && /^(true|false)$/.test(value) ? value === "true" : value;
}
