import { randomId } from "../model/random";
import { type ReusableTimer, reusableTimer } from "../time/reusableTimer";
import { failToStart } from "./failedStarts";
import { forget, type PoolState, show } from "./poolState";
import { drain, waitIdle } from "./poolStops";
import { newWorker, type Worker, type WorkerPod } from "./worker";
import type { StartFault } from "./workerFaults";

/** The pause before restarting a container that lacks a secret, in milliseconds. */
const SECRET_RETRY_MS = 10_000;

/**
 * Starts a worker, unless a fault keeps it throttled for a while. Workers use their endpoint's
 * places in turn. Returns `false` if the endpoint has no place.
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
  const fault: RemovableFault = { ...context.workerFaults.atStart(record.id, pod.container.imageName) };
  const { throttledMs } = fault;
  const worker = newWorker(pod, runner, throttledMs > 0 ? "throttled" : "initializing");
  pool.workers.add(worker);
  fault.onRemoved?.(() => heal(pool, worker, fault));
  if (throttledMs === 0) {
    initialize(pool, worker, fault);
    return true;
  }
  show(pool, worker);
  worker.cancelTimer = context.clock.schedule(throttledMs, () => initialize(pool, worker, fault));
  return true;
}

type RemovableFault = { -readonly [Name in keyof StartFault]: StartFault[Name] };

/** Ends the effect of a removed fault rule on a worker that started under the rule. */
function heal(pool: PoolState, worker: Worker, fault: RemovableFault): void {
  const { failure, takesNoJobs } = fault;
  fault.takesNoJobs = false;
  if (!pool.workers.has(worker) || worker.draining) return;
  const healthy = { throttledMs: 0, imagePullMs: 0 };
  const isHeldBack = worker.state === "throttled" || (failure !== undefined && worker.state !== "idle");
  if (isHeldBack) {
    worker.cancelTimer();
    initialize(pool, worker, healthy);
  } else if (takesNoJobs && worker.state === "idle" && !pool.free.includes(worker)) {
    makeFree(pool, worker);
    pool.onRoom();
  }
}

/** Starts a worker's container. */
function initialize(pool: PoolState, worker: Worker, fault: StartFault): void {
  const { clock, environments, logs, billing } = pool.context;
  const { imagePullMs, failure } = fault;
  const { imageName } = worker.pod.container;
  worker.state = "initializing";
  billing?.begin(pool.record, worker.pod.id);
  const [unknown] = environments.fill(worker.pod);
  if (unknown !== undefined) {
    worker.pod.lastStatusChange = `Waiting for secret ${unknown}`;
    show(pool, worker);
    worker.cancelTimer = clock.schedule(SECRET_RETRY_MS, () => initialize(pool, worker, fault));
    return;
  }
  show(pool, worker);
  logs?.add(worker.pod.id, "system", `create container ${imageName}`);
  if (failure) {
    failToStart(pool, worker, failure);
    return;
  }
  logs?.add(
    worker.pod.id,
    "system",
    imagePullMs > 0 ? `Pulling image ${imageName}` : `start container for ${imageName}: begin`,
  );
  worker.cancelTimer = worker.runner.start(imagePullMs, {
    onAsk: () => welcome(pool, worker, fault.takesNoJobs ?? false),
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

/** Called when a worker asks for a job, whether for the first time or again. */
function welcome(pool: PoolState, worker: Worker, takesNoJobs: boolean): void {
  if (!pool.workers.has(worker)) return;
  if (worker.state === "initializing" && !worker.draining) {
    worker.state = "idle";
    show(pool, worker);
    if (takesNoJobs) return;
    // The worker library prints this when a program calls `serverless.start`.
    if (!worker.runner.hasProcess)
      pool.context.logs?.add(worker.pod.id, "container", "--- Starting Serverless Worker ---");
    makeFree(pool, worker);
  }
  pool.onRoom();
}

/**
 * Lets a worker ask for its next job, either immediately or after a pause. Must be called when one
 * of its jobs has ended.
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
  const timer = worker.restTimers.pop() ?? restTimer(pool, worker);
  timer.set(ms);
}

function restTimer(pool: PoolState, worker: Worker): ReusableTimer {
  const timer = reusableTimer(pool.context.clock, () => {
    worker.restTimers.push(timer);
    worker.resting -= 1;
    if (!pool.workers.has(worker) || worker.draining) return;
    makeFree(pool, worker);
    pool.onRoom();
  });
  return timer;
}

function makeFree(pool: PoolState, worker: Worker): void {
  const wasFull = worker.jobs + worker.resting === worker.runner.concurrency - 1;
  if (wasFull || !pool.free.includes(worker)) pool.free.push(worker);
  if (worker.jobs === 0) waitIdle(pool, worker);
}
