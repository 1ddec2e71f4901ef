import { isDeepStrictEqual } from "node:util";
import { type FieldTable, unsetValue } from "../../sdk/records/fields";
import { type Properties, pick } from "../engine/properties";

/*
 * Fields that few records use are left out of state while they are unset, because the engine writes
 * the whole state at every step. The handlers treat a missing field as unset.
 */

/** Returns the outputs, leaving out those of the given fields that are unset. */
export function withoutUnset(table: FieldTable, fields: readonly string[], outputs: Properties): Properties {
  const isUnset = (name: string) => isDeepStrictEqual(outputs[name], unsetOf(table, name));
  return pick(outputs, (name) => !fields.includes(name) || !isUnset(name));
}

/**
 * Returns the outputs in state, with those of the given fields that are missing added. Outputs that
 * no run has recorded are returned unchanged.
 */
export function withUnset(table: FieldTable, fields: readonly string[], outputs: Properties): Properties {
  if (outputs.__account === undefined) return outputs;
  return { ...Object.fromEntries(fields.map((name) => [name, unsetOf(table, name)])), ...outputs };
}

function unsetOf(table: FieldTable, name: string): unknown {
  const field = table[name];
  return field && unsetValue(field);
}
