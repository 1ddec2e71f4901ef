import { isDeepStrictEqual } from "node:util";
import { FIELDS } from "../../sdk/endpoints/fields";
import { workerFields } from "../../sdk/records/fields";
import { changedIn } from "../fields/managed";
import { isObject, objectOrEmpty, type Properties, pick } from "../properties";

/*
 * Settings of an endpoint as a rollout compares, records and restores them: only those that a run
 * changes. `env` holds the variables that it changes by name, with `null` for one that is absent,
 * so that settings are also the changes that make an endpoint have them.
 */

/** The fields whose change is a release: the service replaces the workers. */
const RELEASE_FIELDS: readonly string[] = workerFields(FIELDS);

/** Returns the settings that an update with these inputs gives an endpoint. */
export function wantedSettings(inputs: Properties, outputs: Properties): Properties {
  const fields = pick(inputs, (name) => Object.hasOwn(FIELDS, name) && inputs[name] !== undefined);
  if (!isObject(fields.env)) return fields;
  const removed = Object.keys(objectOrEmpty(outputs.env)).map((name) => [name, null]);
  return { ...fields, env: { ...Object.fromEntries(removed), ...fields.env } };
}

/** Returns the same settings as an endpoint has them. `from` is the endpoint, or its outputs. */
export function sameSettings(settings: Properties, from: Properties): Properties {
  const env = objectOrEmpty(from.env);
  const variables = Object.keys(objectOrEmpty(settings.env)).map((name) => [name, env[name] ?? null]);
  return {
    ...pick(from, (name) => name in settings && name !== "env"),
    ...(settings.env !== undefined && { env: Object.fromEntries(variables) }),
  };
}

/** Returns the settings that differ from those of an endpoint; of `env`, the variables. */
export function differing(settings: Properties, from: Properties): Properties {
  const now = sameSettings(settings, from);
  const changed = changedIn(FIELDS, now, settings);
  const { env, ...others } = pick(settings, (name) => changed.includes(name));
  const variables = Object.entries(objectOrEmpty(env)).filter(
    ([name, value]) => !isDeepStrictEqual(value, objectOrEmpty(now.env)[name]),
  );
  return { ...others, ...(variables.length > 0 && { env: Object.fromEntries(variables) }) };
}

/** Returns those of the settings that an endpoint has; of `env`, the variables. */
export function heldOf(settings: Properties, from: Properties): Properties {
  const { env: otherVariables, ...others } = differing(settings, from);
  const { env, ...held } = pick(settings, (name) => !(name in others));
  const variables = pick(objectOrEmpty(env), (name) => !(name in objectOrEmpty(otherVariables)));
  return { ...held, ...(Object.keys(variables).length > 0 && { env: variables }) };
}

/** Returns those of the settings that others do not have; of `env`, the variables. */
export function without({ env, ...settings }: Properties, others: Properties): Properties {
  const variables = pick(objectOrEmpty(env), (name) => !(name in objectOrEmpty(others.env)));
  return {
    ...pick(settings, (name) => !(name in others)),
    ...(Object.keys(variables).length > 0 && { env: variables }),
  };
}

/** Returns those of the settings whose change is a release. */
export function releaseOf(settings: Properties): Properties {
  return pick(settings, (name) => RELEASE_FIELDS.includes(name));
}

/** Returns `true` if an endpoint has the release of these settings. */
export function serves(release: Properties, from: Properties): boolean {
  return Object.keys(differing(releaseOf(release), from)).length === 0;
}

/** Returns settings in which those of `over` take precedence; of `env`, the variables. */
export function merged(settings: Properties, over: Properties): Properties {
  const isEnv = settings.env !== undefined || over.env !== undefined;
  return {
    ...settings,
    ...over,
    ...(isEnv && { env: { ...objectOrEmpty(settings.env), ...objectOrEmpty(over.env) } }),
  };
}

/** Returns the names of the settings, for people: never a value. */
export function namesOf(settings: Properties): string {
  const { env, ...others } = settings;
  return [...Object.keys(others), ...Object.keys(objectOrEmpty(env)).map((name) => `env.${name}`)].sort().join(", ");
}
