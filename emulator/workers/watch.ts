/** The worker states that are shown to users. */
export const WORKER_STATES = ["starting", "idle", "running", "draining"] as const;

/** A worker's state. A worker that is finishing its last job counts as `draining`. */
export type WorkerState = (typeof WORKER_STATES)[number];

/** Receives changes as they happen. A watcher must be fast and must not throw. */
interface Watcher {
  /**
   * Called when an endpoint was created, changed or deleted, or when its queue or scaling changed.
   */
  endpoint(endpointId: string): void;
  /** Called when a job was added, changed or deleted. */
  job(endpointId: string, jobId: string): void;
  /** Called when a worker enters a state, and with `gone` when it has stopped. */
  worker(endpointId: string, workerId: string, state: WorkerState | "gone"): void;
}

/** Passes every change to all watchers. Costs almost nothing if there are none. */
export interface Watch extends Watcher {
  /** Adds a watcher. Returns a function that removes it. */
  add(watcher: Watcher): () => void;
}

export function createWatch(): Watch {
  let watchers: readonly Watcher[] = [];
  return {
    endpoint(endpointId) {
      for (const watcher of watchers) watcher.endpoint(endpointId);
    },
    job(endpointId, jobId) {
      for (const watcher of watchers) watcher.job(endpointId, jobId);
    },
    worker(endpointId, workerId, state) {
      for (const watcher of watchers) watcher.worker(endpointId, workerId, state);
    },
    add(watcher) {
      watchers = [...watchers, watcher];
      return () => {
        watchers = watchers.filter((each) => each !== watcher);
      };
    },
  };
}
