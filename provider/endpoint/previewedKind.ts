import { ENDPOINT_DEFAULTS, FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { Properties } from "../properties";
import type { PreviewedKind } from "../resource/adoptionDescription";
import { knownToAdopter } from "./outputs";

/** The rules of an endpoint that a preview of its adoption needs. */
export const PREVIEWED_ENDPOINT: PreviewedKind<Endpoint> = {
  one: "an endpoint",
  noun: "endpoint",
  table: FIELDS,
  fixedFields: [],
  records: ({ endpoints }) => endpoints,
  toFields: (endpoint) => ({ ...endpoint }),
  known: knownToAdopter,
  checkFields(given) {
    const fields = Object.entries(given).map(([field, value]) => [field, normalForm(field, value)]);
    return { fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)), problems: [] };
  },
};

const DEFAULTS: Properties = ENDPOINT_DEFAULTS as Properties;

/** Returns a value as the service shows it. */
function normalForm(field: string, value: unknown): unknown {
  if (value === null) return DEFAULTS[field];
  if (Array.isArray(value)) return value.join();
  return typeof value === "string" ? value.trim() : value;
}
