import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { askAgain, startWorker } from "./poolStarts";
import { createPoolState, leaveFree, type PoolState, show, sizeOf } from "./poolState";
import { drain, removeLater, removeWorker, stopSurplus, stopWaiting, waitIdle } from "./poolStops";
import { byReadiness, type Worker, type WorkerPod } from "./worker";
import type { WorkerModel } from "./workerModel";

export interface WorkerPool {
  /** Returns the number of workers that are not draining. */
  size(): number;
  pods(): readonly WorkerPod[];
  /** Returns the workers in start order, including draining ones. */
  all(): readonly Worker[];
  /** Counts the workers in a state. A draining worker only counts while it is running a job. */
  count(state: Worker["state"]): number;
  /**
   * Starts workers until there are `wanted`. Never exceeds `workersMax`, including draining
   * workers, and never starts one without a suitable machine. With REQUEST_COUNT, idle workers
   * above `wanted` stop after a while.
   */
  scaleTo(wanted: number): void;
  /** Drains the workers above `workersMax`, and applies the changed record to idle ones. */
  shrinkToRecord(): void;
  /**
   * Stops the workers without a job and drains the others. New workers run the template's current
   * version.
   */
  rollOut(): void;
  /**
   * Takes a worker for a job, preferably an idle one. Returns `undefined` if no worker can take a
   * job.
   */
  take(): Worker | undefined;
  /** Takes this worker for a job. The worker must have room. */
  reserve(worker: Worker): void;
  /** Restarts a stopped worker under the same id. Returns `false` if there is no room. */
  resume(id: string): boolean;
  /** Returns a worker to the pool when its job has ended. */
  release(worker: Worker): void;
  /** Removes a worker that died, and stops its process if it still has one. */
  remove(worker: Worker): void;
  dispose(): void;
}

/**
 * Creates the workers of an endpoint.
 * @param onRoom called when a worker becomes idle, or when a draining worker has stopped so that
 * another may start
 */
export function createWorkerPool(
  record: EndpointRecord,
  context: RuntimeContext,
  model: WorkerModel,
  onRoom: () => void,
): WorkerPool {
  const pool = createPoolState(record, context, model, onRoom);
  return {
    size: () => sizeOf(pool),
    pods: () => Array.from(pool.workers, (worker) => worker.pod),
    all: () => [...pool.workers],
    count: (state) => count(pool, state),
    scaleTo: (wanted) => scaleTo(pool, wanted),
    shrinkToRecord: () => shrinkToRecord(pool),
    rollOut: () => rollOut(pool),
    take: () => take(pool),
    reserve: (worker) => reserve(pool, worker),
    resume(id) {
      if (pool.workers.size >= record.workersMax) return false;
      startWorker(pool, id);
      return true;
    },
    release: (worker) => release(pool, worker),
    remove: (worker) => removeWorker(pool, worker),
    dispose: () => dispose(pool),
  };
}

function count({ workers }: PoolState, state: Worker["state"]): number {
  let count = 0;
  for (const worker of workers) if (worker.state === state && (!worker.draining || state === "running")) count += 1;
  return count;
}

function scaleTo(pool: PoolState, wanted: number): void {
  const { record, workers } = pool;
  pool.wanted = Math.min(wanted, record.workersMax);
  const room = record.workersMax - workers.size;
  let missing = Math.min(pool.wanted - sizeOf(pool), room);
  while (missing > 0 && startWorker(pool)) missing -= 1;
  stopSurplus(pool);
}

function shrinkToRecord(pool: PoolState): void {
  const { record, workers } = pool;
  const program = pool.model.program();
  for (const worker of workers) {
    if (!worker.draining && worker.runner.program !== program) drain(pool, worker, "new release");
  }
  const excess = sizeOf(pool) - record.workersMax;
  if (excess > 0) for (const worker of byReadiness(workers).slice(0, excess)) drain(pool, worker, "scale-down");
  for (const worker of [...pool.free]) waitIdle(pool, worker);
  if (record.workersMax === 0) pool.releases.forget();
}

function rollOut(pool: PoolState): void {
  for (const worker of byReadiness(pool.workers)) {
    if (pool.releases.isKept(worker.pod.container)) continue;
    if (worker.state === "running") drain(pool, worker, "new release");
    else removeWorker(pool, worker);
  }
}

function take(pool: PoolState): Worker | undefined {
  const worker = ready(pool);
  if (worker) reserve(pool, worker);
  return worker;
}

function reserve(pool: PoolState, worker: Worker): void {
  stopWaiting(worker);
  worker.jobs += 1;
  worker.tookAt = pool.context.clock.now();
  if (worker.jobs + worker.resting >= worker.runner.concurrency) leaveFree(pool, worker);
  worker.state = "running";
  show(pool, worker);
}

function canTake({ runner, draining }: Worker): boolean {
  return !draining && runner.hasRoom;
}

/** Returns the most recently freed worker, or a busy one whose program asks for another job. */
function ready({ free, workers, model }: PoolState): Worker | undefined {
  for (let index = free.length - 1; index >= 0; index--) {
    const worker = free[index] as Worker;
    if (canTake(worker)) return worker;
  }
  // Only programs ask for jobs while they have one. The search would slow down all other endpoints.
  if (!model.program()) return undefined;
  return Array.from(workers).find((worker) => worker.state === "running" && canTake(worker));
}

function release(pool: PoolState, worker: Worker): void {
  worker.jobs -= 1;
  if (!pool.workers.has(worker)) return;
  if (!worker.draining) askAgain(pool, worker);
  else if (worker.jobs === 0) {
    worker.state = "idle";
    removeLater(pool, worker);
  }
}

function dispose({ workers, free, context }: PoolState): void {
  for (const worker of workers) {
    worker.cancelTimer();
    worker.runner.stop();
    context.billing?.end(worker.pod.id);
    context.released(worker.pod.container.templateId);
  }
  workers.clear();
  free.length = 0;
}
