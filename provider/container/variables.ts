import type { EnvChanges } from "../../sdk/containers/record";
import type { ServiceRecord } from "../machine/machineRecord";
import { leftVariables } from "../machine/unfinishedWrite";
import { isObject, type Properties } from "../properties";

/** Returns the names of the variables in inputs or outputs. */
export function variablesOf({ env }: Properties): string[] {
  return isObject(env) ? Object.keys(env) : [];
}

/** Fields to save, which may include the program's variables. */
interface WithEnv {
  readonly env?: Readonly<Record<string, string>> | null;
}

/**
 * Saves fields and variables. Removes variables that the program no longer sets or that a killed
 * run left.
 * @param holder the record that the variables belong to
 * @param unwanted the names of further variables to remove, unless the program sets them
 * @param save sends the changes, in which `null` removes a variable
 */
export async function saveVariables<Fields extends WithEnv, T>(
  holder: ServiceRecord,
  { env, ...others }: Fields,
  outputs: Properties,
  unwanted: readonly string[],
  save: (changes: Omit<Fields, "env"> & { readonly env?: EnvChanges }) => PromiseLike<T>,
): Promise<T> {
  const removed = [...leftVariables(holder, outputs), ...unwanted, ...(env ? variablesOf(outputs) : [])];
  const kept = env ? Object.keys(env) : variablesOf(outputs);
  const removals = removed.filter((name) => !kept.includes(name)).map((name) => [name, null]);
  const changes = env || removals.length > 0 ? { ...others, env: { ...Object.fromEntries(removals), ...env } } : others;
  return save(changes);
}
