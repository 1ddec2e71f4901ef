import { reusableTimer } from "../time/reusableTimer";
import { forget, leaveFree, type PoolState, show, sizeOf } from "./poolState";
import { REQUEST_COUNT_SCALE_DOWN_MS, workersKept } from "./scaling";
import { noTimer, type Worker } from "./worker";

/** With REQUEST_COUNT, a queue has no idle timeout. */
function hasIdleTimeout({ record, model }: PoolState): boolean {
  return record.scalerType !== "REQUEST_COUNT" || model.usesIdleTimeout === true;
}

/** Starts the idle timeout. If there is none, `stopSurplus` decides when the worker stops. */
export function waitIdle(pool: PoolState, worker: Worker): void {
  stopWaiting(worker);
  const { record, context } = pool;
  if (!hasIdleTimeout(pool)) return;
  worker.idleTimer ??= reusableTimer(
    context.clock,
    () => {
      if (sizeOf(pool) > workersKept(record)) removeWorker(pool, worker);
    },
    true,
  );
  worker.idleTimer.set(record.idleTimeout * 1000);
  worker.cancelTimer = worker.idleTimer.cancel;
}

/** If there is no idle timeout, stops surplus idle workers after a while. */
export function stopSurplus(pool: PoolState): void {
  if (hasIdleTimeout(pool) || sizeOf(pool) <= pool.wanted) return;
  for (const worker of pool.free) {
    if (worker.cancelTimer !== noTimer || worker.jobs > 0) continue;
    const stop = () => {
      worker.cancelTimer = noTimer;
      if (sizeOf(pool) > pool.wanted) removeWorker(pool, worker);
    };
    worker.cancelTimer = pool.context.clock.schedule(REQUEST_COUNT_SCALE_DOWN_MS, stop, true);
  }
}

export function stopWaiting(worker: Worker): void {
  worker.cancelTimer();
  worker.cancelTimer = noTimer;
}

/** Stops assigning jobs to a worker, and removes it once it has no jobs left. */
export function drain(pool: PoolState, worker: Worker, reason: string): void {
  stopWaiting(worker);
  worker.draining = true;
  pool.draining += 1;
  leaveFree(pool, worker);
  worker.pod.lastStatusChange = `Draining after a ${reason}`;
  show(pool, worker);
  if (worker.state !== "running") removeLater(pool, worker);
}

/** Removes a draining worker that has no job. A process takes some time to exit. */
export function removeLater(pool: PoolState, worker: Worker): void {
  if (worker.runner.hasProcess) {
    worker.runner.stop();
    return;
  }
  worker.cancelTimer = pool.context.clock.schedule(pool.context.drainMs, () => {
    removeWorker(pool, worker);
    pool.onRoom();
  });
}

/** Removes a worker. A worker with a process counts until the process has exited. */
export function removeWorker(pool: PoolState, worker: Worker): void {
  if (!worker.runner.hasProcess || !pool.workers.has(worker)) {
    forget(pool, worker);
    return;
  }
  if (!worker.draining) drain(pool, worker, "scale-down");
  worker.runner.stop();
}
