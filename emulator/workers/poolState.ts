import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { createReleases, type Releases } from "./releases";
import { shownState, type Worker } from "./worker";
import type { WorkerModel } from "./workerModel";

/** The workers of one endpoint. */
export interface PoolState {
  readonly record: EndpointRecord;
  readonly context: RuntimeContext;
  readonly model: WorkerModel;
  readonly releases: Releases;
  /** All workers in start order, including draining ones. */
  readonly workers: Set<Worker>;
  /** The workers that can take the next job, most recent last. */
  readonly free: Worker[];
  /** The number of workers started so far. */
  started: number;
  /** The number of draining workers. */
  draining: number;
  /** The number of workers that the autoscaler wants. */
  wanted: number;
  /**
   * Called when a worker becomes free, or when a draining worker has stopped so that another may
   * start.
   */
  readonly onRoom: () => void;
}

export function createPoolState(
  record: EndpointRecord,
  context: RuntimeContext,
  model: WorkerModel,
  onRoom: () => void,
): PoolState {
  const releases = createReleases(record, context);
  return { record, context, model, releases, workers: new Set(), free: [], started: 0, draining: 0, wanted: 0, onRoom };
}

/** Returns the number of workers that are not draining. */
export function sizeOf({ workers, draining }: PoolState): number {
  return workers.size - draining;
}

/** Reports a worker's state to watchers. Must be called after every change. */
export function show({ record, context }: PoolState, worker: Worker): void {
  worker.since = context.clock.now();
  context.watch.worker(record.id, worker.pod.id, shownState(worker));
}

/** Removes a worker that has ended. */
export function forget(pool: PoolState, worker: Worker): void {
  if (!pool.workers.delete(worker)) return;
  worker.cancelTimer();
  worker.runner.stop();
  leaveFree(pool, worker);
  if (worker.draining) pool.draining -= 1;
  worker.pod.desiredStatus = "TERMINATED";
  pool.context.logs?.add(worker.pod.id, "system", "remove container");
  pool.context.released(worker.pod.container.templateId);
  pool.context.billing?.end(worker.pod.id);
  pool.context.watch.worker(pool.record.id, worker.pod.id, "gone");
}

/** Removes a worker from the list of free workers. */
export function leaveFree({ free }: PoolState, worker: Worker): void {
  if (free.at(-1) === worker) {
    free.pop();
    return;
  }
  const index = free.lastIndexOf(worker);
  if (index >= 0) free.splice(index, 1);
}
