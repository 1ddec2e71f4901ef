import { FIELDS } from "../../sdk/endpoints/fields";
import { workerFields } from "../../sdk/records/fields";
import { changedIn } from "../fields/managed";
import { isObject, objectOrEmpty, type Properties, pick } from "../properties";

/*
 * Settings of an endpoint as a rollout compares, records and restores them: only those that a run
 * changes, each variable as a setting of its own: `env.MODEL`, with `null` if it is absent. So
 * settings are also the changes that make an endpoint have them. The functions take inputs, outputs
 * and endpoints as well.
 */

/** The fields whose change makes a release, which means that RunPod replaces the workers. */
const RELEASE_FIELDS: readonly string[] = workerFields(FIELDS);

const VARIABLE = "env.";

/** Converts fields to settings, in which each variable is a setting of its own. */
function flat({ env, ...fields }: Properties): Properties {
  const variables = Object.entries(objectOrEmpty(env)).map(([name, value]) => [VARIABLE + name, value]);
  return { ...fields, ...Object.fromEntries(variables) };
}

/** Converts settings to fields, which is the reverse of `flat`. */
export function nested(settings: Properties): Properties {
  const [variables, fields] = [true, false].map((each) => pick(settings, (name) => isVariable(name) === each));
  const env = Object.entries(variables ?? {}).map(([name, value]) => [name.slice(VARIABLE.length), value]);
  return { ...fields, ...(env.length > 0 && { env: Object.fromEntries(env) }) };
}

/** Returns `true` if a setting is an environment variable. */
export function isVariable(name: string): boolean {
  return name.startsWith(VARIABLE);
}

/** Returns `true` for a field whose change is a release. */
export function isReleaseField(name: string): boolean {
  return RELEASE_FIELDS.includes(name);
}

/** Returns the settings that an update with these inputs gives an endpoint. */
export function wantedSettings(inputs: Properties, outputs: Properties): Properties {
  const fields = flat(pick(inputs, (name) => Object.hasOwn(FIELDS, name) && inputs[name] !== undefined));
  if (!isObject(inputs.env)) return fields;
  const removed = Object.keys(objectOrEmpty(outputs.env)).map((name) => [VARIABLE + name, null]);
  return { ...Object.fromEntries(removed), ...fields };
}

/** Returns the endpoint's current values of the given settings. */
export function sameSettings(settings: Properties, endpoint: Properties): Properties {
  const all = flat(endpoint);
  const names = Object.keys(flat(settings)).filter((name) => isVariable(name) || name in all);
  return Object.fromEntries(names.map((name) => [name, isVariable(name) ? (all[name] ?? null) : all[name]]));
}

/** Returns those of the settings whose values the endpoint does not have. */
export function differing(settings: Properties, endpoint: Properties): Properties {
  const [wanted, now] = [flat(settings), sameSettings(settings, endpoint)];
  const fields = changedIn(FIELDS, now, wanted);
  return pick(wanted, (name) => (isVariable(name) ? wanted[name] !== now[name] : fields.includes(name)));
}

/** Returns those of the settings whose values the endpoint already has. */
export function heldOf(settings: Properties, endpoint: Properties): Properties {
  return without(settings, differing(settings, endpoint));
}

/** Returns those of the settings that are not among the others. */
export function without(settings: Properties, others: Properties): Properties {
  return pick(flat(settings), (name) => !(name in flat(others)));
}

/** Returns only the settings whose change makes a release. */
export function releaseOf(settings: Properties): Properties {
  return pick(flat(settings), (name) => isReleaseField(isVariable(name) ? "env" : name));
}

/** Returns `true` if an endpoint has all of these settings that make a release. */
export function serves(release: Properties, endpoint: Properties): boolean {
  return Object.keys(differing(releaseOf(release), endpoint)).length === 0;
}

/**
 * Returns the merged settings. If a setting occurs in both arguments, the value in `over` is used.
 */
export function mergedSettings(settings: Properties, over: Properties): Properties {
  return { ...flat(settings), ...flat(over) };
}

/** Returns the names of the settings, for messages. Never includes a value. */
export function namesOf(settings: Properties): string {
  return Object.keys(flat(settings)).sort().join(", ");
}
