import { completePod, type Pod, type PodSeed } from "./podRecord";

/** The pods that the REST interface shows in addition to the workers of endpoints. */
export interface Pods {
  /**
   * Adds a pod, or replaces the one with its id. Omitted fields get a default.
   * @throws RangeError if a field breaks a rule of the contract
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

export function createPods(changed: () => void): Pods {
  const pods = new Map<string, Pod>();
  return {
    add(seed) {
      const pod = completePod(structuredClone(seed));
      pods.set(pod.id, pod);
      changed();
      return pod;
    },
    get: (id) => pods.get(id),
    list: () => [...pods.values()],
    remove(id) {
      changed();
      return pods.delete(id);
    },
    clear: () => pods.clear(),
  };
}
