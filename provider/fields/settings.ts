import type { FieldTable } from "../../sdk/records/fields";
import { isObject, objectOrEmpty, type Properties, pick } from "../engine/properties";
import { changedIn } from "./managed";

/*
 * Settings are fields in the form that a write compares and sends: each variable is a separate
 * setting such as `env.MODEL`, and `null` if it is absent. The functions also accept inputs,
 * outputs and records.
 */

const VARIABLE = "env.";

/** Converts fields to settings, in which each variable is a separate setting. */
export function flat({ env, ...fields }: Properties): Properties {
  if (!isObject(env)) return fields;
  return { ...fields, ...Object.fromEntries(Object.entries(env).map(([name, value]) => [VARIABLE + name, value])) };
}

/** Converts settings to fields, which is the reverse of `flat`. */
export function nested(settings: Properties): Properties {
  const [variables, fields] = [true, false].map((each) => pick(settings, (name) => isVariable(name) === each));
  const env = Object.entries(variables ?? {}).map(([name, value]) => [name.slice(VARIABLE.length), value]);
  return { ...fields, ...(env.length > 0 && { env: Object.fromEntries(env) }) };
}

function isVariable(name: string): boolean {
  return name.startsWith(VARIABLE);
}

/** Returns the field that a setting belongs to. */
export function fieldOf(setting: string): string {
  return isVariable(setting) ? "env" : setting;
}

/** Returns the record's current values of the given settings, as far as it shows them. */
export function sameSettings(settings: Properties, record: Properties): Properties {
  const all = flat(record);
  const names = Object.keys(settings).filter((name) => name in all || (isVariable(name) && isObject(record.env)));
  return Object.fromEntries(names.map((name) => [name, name in all ? all[name] : null]));
}

/**
 * Returns those of the settings whose values the record does not have. A setting that the record
 * does not show counts as different.
 */
export function differing(table: FieldTable, settings: Properties, record: Properties): Properties {
  const now = sameSettings(settings, record);
  const fields = changedIn(table, now, settings);
  return pick(settings, (name) => (isVariable(name) ? settings[name] !== now[name] : fields.includes(name)));
}

/**
 * Returns the settings that a program declares, and `null` for each variable that it no longer sets
 * and that state contains.
 */
export function declaredSettings(table: FieldTable, inputs: Properties, outputs: Properties): Properties {
  const declared = flat(pick(inputs, (name) => Object.hasOwn(table, name) && inputs[name] !== undefined));
  if (!isObject(inputs.env)) return declared;
  const removed = Object.keys(objectOrEmpty(outputs.env)).map((name) => [VARIABLE + name, null]);
  return { ...Object.fromEntries(removed), ...declared };
}

/** Returns the names of the settings, for messages. Never includes a value. */
export function namesOf(settings: Properties): string {
  return Object.keys(settings).sort().join(", ");
}
