import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isObject, type Properties } from "../properties";

/*
 * The names of the variables that a save sets and that state did not have before it. If a run is
 * killed before the engine writes state, only the machine record distinguishes them from other
 * people's variables.
 */

/** Returns the names of the variables in inputs or outputs. */
export function variablesOf({ env }: Properties): string[] {
  return isObject(env) ? Object.keys(env) : [];
}

/** Records the names before a save. */
export function noteVariables(service: string, id: string, names: readonly string[]): void {
  if (names.length === 0) removeRecord(subjectOf(service, id));
  else writeRecord(subjectOf(service, id), { names: [...new Set(names)] });
}

/**
 * Returns the names of the variables that a killed run of this machine may have set, and that state
 * does not have. The record is removed once state has all of them: from then on, state decides.
 */
export function leftVariables(service: string, id: string, outputs: Properties): string[] {
  const subject = subjectOf(service, id);
  const names = readRecord(subject)?.names;
  if (!Array.isArray(names)) return [];
  const known = variablesOf(outputs);
  const left = names.filter((name) => typeof name === "string" && !known.includes(name));
  if (left.length === 0) removeRecord(subject);
  return left;
}

function subjectOf(service: string, id: string): Subject {
  return { service, noun: "template variables", key: id };
}
