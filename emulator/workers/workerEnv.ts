import type { Profile } from "../model/fidelity";
import { placeVariables } from "../model/places";
import type { WorkerPod } from "./worker";

/** The environment variables of workers, including the values of secrets. Nothing displays them. */
export interface WorkerEnvironments {
  /**
   * Must be called when a container starts, which then gets the current values. Returns the names
   * of missing secrets that prevent the start.
   */
  fill(pod: WorkerPod): readonly string[];
  /** Returns a worker's environment variables as of its container's start. */
  of(pod: WorkerPod): Record<string, string>;
}

/** A reference to a secret in a variable's value. */
const REFERENCE = /\{\{\s*RUNPOD_SECRET_([\w.\-/]+)\s*\}\}/g;

/** @param secretNamed returns a secret's value. The secret then counts as used. */
export function createEnvironments(
  secretNamed: (name: string) => string | undefined,
  profile: Profile,
): WorkerEnvironments {
  const filled = new WeakMap<WorkerPod, Record<string, string>>();
  return {
    fill(pod) {
      const unknown = new Set<string>();
      const fillIn = (reference: string, name: string) => {
        const value = secretNamed(name);
        if (value === undefined) unknown.add(name);
        return value ?? reference;
      };
      const variables = Object.entries(pod.container.env);
      filled.set(pod, Object.fromEntries(variables.map(([key, value]) => [key, value.replace(REFERENCE, fillIn)])));
      return profile === "observed" ? [...unknown] : [];
    },
    of: (pod) => ({ ...(filled.get(pod) ?? pod.container.env), ...placeVariables(pod.place) }),
  };
}
