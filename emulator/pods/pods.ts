import { completePod, type Pod, type PodSeed } from "./podRecord";

/** The pods that are known to the REST interface: those that were added here. Workers come and go with their endpoints. */
export interface Pods {
  /** Adds a pod, or replaces the one with this id. Fields that are left out get a default. */
  add(pod: PodSeed): Pod;
  /** One pod, or nothing when there is none. */
  get(id: string): Pod | undefined;
  /** All pods that were added. */
  list(): Pod[];
  /** Takes a pod away. Returns false when there is none. */
  remove(id: string): boolean;
  /** Takes all pods away. */
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
