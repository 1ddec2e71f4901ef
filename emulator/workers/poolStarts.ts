import { randomId } from "../model/random";
import { forget, type PoolState, show } from "./poolState";
import { drain, waitIdle } from "./poolStops";
import { newWorker, type Worker, type WorkerPod } from "./worker";

/** The pause before a container that lacks a secret is started again, in milliseconds. */
const SECRET_RETRY_MS = 10_000;

/**
 * Starts a worker, unless a fault keeps it throttled for a while. Workers take the places of their
 * endpoint in turn. Returns `false` if the endpoint has no place.
 */
export function startWorker(pool: PoolState, id = randomId(pool.context.random)): boolean {
  const { record, context } = pool;
  const places = context.placesOf(record);
  const place = places[pool.started % places.length];
  if (!place) return false;
  pool.started += 1;
  const pod: WorkerPod = {
    id,
    endpointId: record.id,
    ...pool.releases.current(),
    place,
    desiredStatus: "RUNNING",
    startedAt: context.clock.now(),
    lastStatusChange: "Started by the endpoint's autoscaling",
  };
  const runner = pool.model.runner(pod);
  const { throttledMs, imagePullMs } = context.workerFaults.atStart(record.id);
  const worker = newWorker(pod, runner, throttledMs > 0 ? "throttled" : "initializing");
  pool.workers.add(worker);
  if (throttledMs === 0) {
    initialize(pool, worker, imagePullMs);
    return true;
  }
  show(pool, worker);
  worker.cancelTimer = context.clock.schedule(throttledMs, () => initialize(pool, worker, imagePullMs));
  return true;
}

/** Starts the container of a worker. */
function initialize(pool: PoolState, worker: Worker, imagePullMs: number): void {
  worker.state = "initializing";
  const { clock, environments } = pool.context;
  const [unknown] = environments.fill(worker.pod);
  if (unknown !== undefined) {
    worker.pod.lastStatusChange = `Waiting for secret ${unknown}`;
    show(pool, worker);
    worker.cancelTimer = clock.schedule(SECRET_RETRY_MS, () => initialize(pool, worker, imagePullMs));
    return;
  }
  show(pool, worker);
  worker.cancelTimer = worker.runner.start(imagePullMs, {
    onAsk: () => welcome(pool, worker),
    onRetire() {
      if (pool.workers.has(worker) && !worker.draining) drain(pool, worker, "refresh");
    },
    onEnd() {
      if (!pool.workers.has(worker)) return;
      forget(pool, worker);
      pool.onRoom();
    },
  });
}

/** The worker asks for a job, for the first time or again. */
function welcome(pool: PoolState, worker: Worker): void {
  if (!pool.workers.has(worker)) return;
  if (worker.state === "initializing" && !worker.draining) {
    worker.state = "idle";
    show(pool, worker);
    makeFree(pool, worker);
  }
  pool.onRoom();
}

/**
 * Lets a worker ask for its next job, at once or after a pause. Must be called when one of its jobs
 * has ended.
 */
export function askAgain(pool: PoolState, worker: Worker): void {
  if (worker.jobs === 0) {
    worker.state = "idle";
    show(pool, worker);
  }
  const restMs = worker.runner.restMs(worker);
  if (restMs === undefined) return;
  if (restMs === 0) makeFree(pool, worker);
  else rest(pool, worker, restMs);
}

function rest(pool: PoolState, worker: Worker, ms: number): void {
  worker.resting += 1;
  pool.context.clock.schedule(ms, () => {
    worker.resting -= 1;
    if (!pool.workers.has(worker) || worker.draining) return;
    makeFree(pool, worker);
    pool.onRoom();
  });
}

function makeFree(pool: PoolState, worker: Worker): void {
  const wasFull = worker.jobs + worker.resting === worker.runner.concurrency - 1;
  if (wasFull || !pool.free.includes(worker)) pool.free.push(worker);
  if (worker.jobs === 0) waitIdle(pool, worker);
}
