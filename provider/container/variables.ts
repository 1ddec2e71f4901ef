import type { EnvChanges } from "../../sdk/containers/record";
import {
  readRecord,
  removeRecord,
  type ServiceRecord,
  type Subject,
  subjectAbout,
  writeRecord,
} from "../machine/machineRecord";
import { isObject, type Properties } from "../properties";

/*
 * The names of the variables that a save sets and that state did not have before it. If a run is
 * killed before the engine writes state, only this machine's record tells them from the variables
 * of others.
 */

/** Returns the names of the variables in inputs or outputs. */
export function variablesOf({ env }: Properties): string[] {
  return isObject(env) ? Object.keys(env) : [];
}

/** Fields to save, and with them the variables of the program. */
interface WithEnv {
  readonly env?: Readonly<Record<string, string>> | null;
}

/**
 * Saves fields and variables. Variables that the program no longer sets, or that a killed run has
 * left, are removed.
 * @param holder the record whose variables are saved
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
  const left = leftVariables(holder, outputs);
  const removed = [...left, ...unwanted, ...(env ? variablesOf(outputs) : [])];
  const kept = env ? Object.keys(env) : variablesOf(outputs);
  const removals = removed.filter((name) => !kept.includes(name)).map((name) => [name, null]);
  const added = Object.keys(env ?? {}).filter((name) => !variablesOf(outputs).includes(name));
  noteVariables(holder, [...left, ...added]);
  const changes = env || removals.length > 0 ? { ...others, env: { ...Object.fromEntries(removals), ...env } } : others;
  const saved = await save(changes);
  noteVariables(holder, added);
  return saved;
}

/** Records the names before a save. */
export function noteVariables(holder: ServiceRecord, names: readonly string[]): void {
  if (names.length === 0) removeRecord(subjectOf(holder));
  else writeRecord(subjectOf(holder), { names: [...new Set(names)] });
}

/**
 * Returns the names of the variables that a killed run of this machine may have set, and that state
 * does not have. The record is removed once state has all of them: from then on, state decides.
 */
export function leftVariables(holder: ServiceRecord, outputs: Properties): string[] {
  const subject = subjectOf(holder);
  const names = readRecord(subject)?.names;
  if (!Array.isArray(names)) return [];
  const known = variablesOf(outputs);
  const left = names.filter((name) => typeof name === "string" && !known.includes(name));
  if (left.length === 0) removeRecord(subject);
  return left;
}

function subjectOf(holder: ServiceRecord): Subject {
  return subjectAbout(holder, "variables");
}
