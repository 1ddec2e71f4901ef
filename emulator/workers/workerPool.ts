import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { askAgain, startWorker } from "./poolStarts";
import { createPoolState, leaveFree, type PoolState, show, sizeOf } from "./poolState";
import { drain, removeLater, removeWorker, stopSurplus, stopWaiting, waitIdle } from "./poolStops";
import { byReadiness, type Worker, type WorkerPod } from "./worker";
import type { WorkerModel } from "./workerModel";

export interface WorkerPool {
  /** The workers that are not draining. */
  readonly size: number;
  pods(): readonly WorkerPod[];
  /** Returns the workers in order of their start, including those that drain. */
  all(): readonly Worker[];
  /** Counts the workers in a state. A draining worker counts only while it still runs a job. */
  count(state: Worker["state"]): number;
  /**
   * Starts workers until there are `wanted`, but never more than `workersMax` including those that
   * drain, and none without a machine that fits. Under REQUEST_COUNT, idle workers above `wanted`
   * stop after a while.
   */
  scaleTo(wanted: number): void;
  /** Drains the workers above `workersMax`, and applies the changed record to idle ones. */
  shrinkToRecord(): void;
  /**
   * Stops the workers without a job, and drains the others: later ones run the current version of
   * the template.
   */
  rollOut(): void;
  /**
   * Takes a worker for a job, an idle one if possible. Returns `undefined` if none can take a job
   * now.
   */
  take(): Worker | undefined;
  /** Takes this worker for a job. It must have room. */
  reserve(worker: Worker): void;
  /** Starts a worker with the id of one that has stopped. Returns `false` if there is no room. */
  resume(id: string): boolean;
  /** Returns a worker whose job has ended to the pool. */
  release(worker: Worker): void;
  /** Removes a worker that died. A process that it still has is stopped. */
  remove(worker: Worker): void;
  dispose(): void;
}

/**
 * Creates the workers of one endpoint.
 * @param onRoom called when a worker becomes idle, and when a draining worker has stopped and
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
    get size() {
      return sizeOf(pool);
    },
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

/** The latest free worker, or a busy one whose program asks for another job. */
function ready({ free, workers, model }: PoolState): Worker | undefined {
  const canTake = ({ runner, draining }: Worker) => !draining && runner.hasRoom;
  const found = free.findLast(canTake);
  // Only a program asks for jobs while it has one. The search would slow down all other endpoints.
  if (found || !model.program()) return found;
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
    context.released(worker.pod.container.templateId);
  }
  workers.clear();
  free.length = 0;
}
