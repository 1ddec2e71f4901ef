import type { Profile } from "../model/fidelity";
import { placeVariables } from "../model/places";
import type { WorkerPod } from "./worker";

/** The variables of workers, with the values of secrets. Nothing shows them. */
export interface WorkerEnvironments {
  /**
   * Must be called when a container starts: it gets the present values. Returns the names of
   * secrets without which it cannot start.
   */
  fill(pod: WorkerPod): readonly string[];
  /** Returns a worker's variables as they were when its container started. */
  of(pod: WorkerPod): Record<string, string>;
}

/** A reference to a secret in the value of a variable. */
const REFERENCE = /\{\{\s*RUNPOD_SECRET_([\w.\-/]+)\s*\}\}/g;

/** @param secretNamed returns the value of a secret, which then counts as used */
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
