import { completePod, type Pod, type PodSeed } from "./podRecord";

/** The pods that the REST API shows in addition to the workers of endpoints. */
export interface Pods {
  /**
   * Adds a pod, or replaces the pod with the same id. Omitted fields get defaults.
   * @throws RangeError if a field violates a rule of the contract
   */
  add(pod: PodSeed): Pod;
  /** Returns a pod, or `undefined` if it was not added. */
  get(id: string): Pod | undefined;
  /** Returns all pods that were added. */
  list(): Pod[];
  /** Removes a pod. Returns `false` if it was not added. */
  remove(id: string): boolean;
  /** Removes all pods. */
  clear(): void;
}

/** @param onGone called with each pod that is removed or replaced */
export function createPods(changed: () => void, onGone: (pod: Pod) => void): Pods {
  const pods = new Map<string, Pod>();
  return {
    add(seed) {
      const pod = completePod(structuredClone(seed));
      const replaced = pods.get(pod.id);
      pods.set(pod.id, pod);
      if (replaced) onGone(replaced);
      changed();
      return pod;
    },
    get: (id) => pods.get(id),
    list: () => [...pods.values()],
    remove(id) {
      const pod = pods.get(id);
      if (!pod) return false;
      pods.delete(id);
      onGone(pod);
      changed();
      return true;
    },
    clear: () => pods.clear(),
  };
}
