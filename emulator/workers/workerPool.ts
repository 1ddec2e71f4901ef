import type { EndpointRecord } from "../model/endpointFields";
import { randomId } from "../model/random";
import type { WorkerContainer } from "./container";
import type { RuntimeContext } from "./context";
import { REQUEST_COUNT_SCALE_DOWN_MS } from "./scaling";

/** A pod that is a worker of an endpoint. The REST interface adds the other fields of the contract. */
export interface WorkerPod {
  /** Pod identifier. */
  readonly id: string;
  /** Id of the endpoint whose worker the pod is. */
  readonly endpointId: string;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The image, the environment and the rest of the template that the worker runs with. */
  readonly container: WorkerContainer;
  /** The currently expected status. */
  desiredStatus: "RUNNING" | "EXITED" | "TERMINATED";
  /** Time of the start, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** Description of the last lifecycle event. */
  lastStatusChange: string;
}

/** A worker of an endpoint. It runs one job at a time, unless a model allows more. */
export interface Worker {
  readonly pod: WorkerPod;
  /** The number of its jobs. */
  jobs: number;
  /** The number of jobs that it takes no earlier than at its next request for jobs. */
  resting: number;
  /** The time when it last took a job, in milliseconds since the epoch. */
  tookAt: number;
  /** `initializing` while its container starts, `idle` while it waits for a job, `running` while it has one. */
  state: "initializing" | "idle" | "running";
  /** `true` if the worker takes no more jobs and stops when it has none. */
  draining: boolean;
  /** Cancels the timer of its cold start, of its idle time or of its draining. */
  cancelTimer: () => void;
}

/** The origin of a worker: a version of its endpoint, with the template as it was then. */
type Release = Pick<WorkerPod, "slsVersion" | "container">;

export interface WorkerPool {
  /** The workers that are not draining. */
  readonly size: number;
  pods(): readonly WorkerPod[];
  /** Counts the workers in a state. A draining worker counts only while it still runs a job. */
  count(state: Worker["state"]): number;
  /**
   * Starts workers until there are `wanted`, but never more than `workersMax` including those that drain. Under
   * REQUEST_COUNT, idle workers above `wanted` stop after a while.
   */
  scaleTo(wanted: number): void;
  /** Drains the workers above `workersMax`, and applies the changed record to idle ones. */
  shrinkToRecord(): void;
  /** Stops the workers without a job, and drains the others: later ones run the present version of the template. */
  rollOut(): void;
  /** Takes a worker for a job. Returns `undefined` if none can take one now. */
  take(): Worker | undefined;
  /** Returns a worker whose job has ended to the pool. */
  release(worker: Worker): void;
  /** Removes a worker that died. */
  remove(worker: Worker): void;
  dispose(): void;
}

const noTimer = () => {};

/**
 * Creates the workers of one endpoint.
 * @param onRoom called when a worker becomes idle, and when a draining worker has stopped and another may start
 */
export function createWorkerPool(record: EndpointRecord, context: RuntimeContext, onRoom: () => void): WorkerPool {
  const { clock, model } = context;
  const concurrency = model?.concurrency ?? 1;
  const workers = new Set<Worker>();
  /** The workers that can take a job now. */
  const free: Worker[] = [];
  let draining = 0;
  let wantedNow = 0;
  let release: Release | undefined;

  const size = () => workers.size - draining;

  const isKept = ({ container }: Pick<WorkerPod, "container">) =>
    context.staleFlashBoot && record.flashBootType === "FLASHBOOT" && container.templateId === record.templateId;

  /** Returns the release that a worker starts from: with `staleFlashBoot`, that of the last one. */
  function currentRelease(): Release {
    if (release && isKept(release)) return release;
    release = { slsVersion: record.version, container: context.containerOf(record.templateId) };
    return release;
  }

  function start(): void {
    const pod: WorkerPod = {
      id: randomId(context.random),
      endpointId: record.id,
      ...currentRelease(),
      desiredStatus: "RUNNING",
      startedAt: clock.now(),
      lastStatusChange: "Started by the endpoint's autoscaling",
    };
    const state = "initializing";
    const worker: Worker = { pod, jobs: 0, resting: 0, tookAt: 0, state, draining: false, cancelTimer: noTimer };
    workers.add(worker);
    model?.onWorker(worker);
    worker.cancelTimer = clock.schedule(model?.coldStartMs() ?? coldStartMs(record, context), () => {
      enter(worker, "idle");
      makeFree(worker);
      onRoom();
    });
  }

  function enter(worker: Worker, state: Worker["state"]): void {
    worker.state = state;
    model?.onWorker(worker);
  }

  function makeFree(worker: Worker): void {
    if (worker.jobs + worker.resting === concurrency - 1 || !free.includes(worker)) free.push(worker);
    if (worker.jobs === 0) waitIdle(worker);
  }

  /** A worker that took a job asks for more after a whole number of intervals. Jobs of the same moment come together. */
  function restMs({ tookAt }: Worker): number {
    if (!model || model.takeEveryMs === 0) return 0;
    const sinceTake = clock.now() - tookAt;
    return Math.ceil(sinceTake / model.takeEveryMs) * model.takeEveryMs - sinceTake;
  }

  function rest(worker: Worker, ms: number): void {
    worker.resting += 1;
    clock.schedule(ms, () => {
      worker.resting -= 1;
      if (!workers.has(worker) || worker.draining) return;
      makeFree(worker);
      onRoom();
    });
  }

  /** Starts the idle timeout. Under REQUEST_COUNT it has no effect: `scaleTo` decides. */
  function waitIdle(worker: Worker): void {
    stopWaiting(worker);
    if (record.scalerType === "REQUEST_COUNT") return;
    const stop = () => {
      if (size() > record.workersMin) remove(worker);
    };
    worker.cancelTimer = clock.schedule(record.idleTimeout * 1000, stop, true);
  }

  function stopSurplus(): void {
    if (record.scalerType !== "REQUEST_COUNT" || size() <= wantedNow) return;
    for (const worker of free) {
      if (worker.cancelTimer !== noTimer || worker.jobs > 0) continue;
      const stop = () => {
        worker.cancelTimer = noTimer;
        if (size() > wantedNow) remove(worker);
      };
      worker.cancelTimer = clock.schedule(REQUEST_COUNT_SCALE_DOWN_MS, stop, true);
    }
  }

  function stopWaiting(worker: Worker): void {
    worker.cancelTimer();
    worker.cancelTimer = noTimer;
  }

  function drain(worker: Worker, reason: string): void {
    stopWaiting(worker);
    worker.draining = true;
    draining += 1;
    forgetFree(worker);
    worker.pod.lastStatusChange = `Draining after a ${reason}`;
    if (worker.state !== "running") removeLater(worker);
  }

  function removeLater(worker: Worker): void {
    worker.cancelTimer = clock.schedule(context.drainMs, () => {
      remove(worker);
      onRoom();
    });
  }

  function remove(worker: Worker): void {
    if (!workers.delete(worker)) return;
    worker.cancelTimer();
    forgetFree(worker);
    if (worker.draining) draining -= 1;
    worker.pod.desiredStatus = "TERMINATED";
    context.released(worker.pod.container.templateId);
    model?.onWorker(worker);
  }

  function forgetFree(worker: Worker): void {
    const index = free.indexOf(worker);
    if (index >= 0) free.splice(index, 1);
  }

  return {
    get size() {
      return size();
    },
    pods: () => Array.from(workers, (worker) => worker.pod),
    count(state) {
      let count = 0;
      for (const worker of workers) if (worker.state === state && (!worker.draining || state === "running")) count += 1;
      return count;
    },
    scaleTo(wanted) {
      wantedNow = Math.min(wanted, record.workersMax);
      const room = record.workersMax - workers.size;
      for (let missing = Math.min(wantedNow - size(), room); missing > 0; missing -= 1) start();
      stopSurplus();
    },
    shrinkToRecord() {
      const excess = size() - record.workersMax;
      if (excess > 0) for (const worker of byReadiness(workers).slice(0, excess)) drain(worker, "scale-down");
      for (const worker of [...free]) if (worker.jobs === 0) waitIdle(worker);
      if (record.workersMax === 0) release = undefined;
    },
    rollOut() {
      for (const worker of byReadiness(workers)) {
        if (isKept(worker.pod)) continue;
        if (worker.state === "running") drain(worker, "new release");
        else remove(worker);
      }
    },
    take() {
      const worker = free.at(-1);
      if (!worker) return undefined;
      stopWaiting(worker);
      worker.jobs += 1;
      worker.tookAt = clock.now();
      if (worker.jobs + worker.resting >= concurrency) free.pop();
      if (worker.state !== "running") enter(worker, "running");
      return worker;
    },
    release(worker) {
      worker.jobs -= 1;
      if (worker.jobs === 0) enter(worker, "idle");
      if (worker.draining) {
        if (worker.jobs === 0) removeLater(worker);
        return;
      }
      const ms = restMs(worker);
      if (ms > 0) rest(worker, ms);
      else makeFree(worker);
    },
    remove,
    dispose() {
      for (const worker of workers) {
        worker.cancelTimer();
        context.released(worker.pod.container.templateId);
      }
      workers.clear();
      free.length = 0;
    },
  };
}

/** FLASHBOOT shortens a cold start (contract, Serverless endpoint). The factor is assumed. */
function coldStartMs(record: EndpointRecord, context: RuntimeContext): number {
  return record.flashBootType === "FLASHBOOT" ? context.coldStartMs / 4 : context.coldStartMs;
}

/** Returns the workers that do not drain, those without a job first. */
function byReadiness(workers: ReadonlySet<Worker>): Worker[] {
  const order = { initializing: 0, idle: 1, running: 2 };
  return [...workers].filter((worker) => !worker.draining).sort((a, b) => order[a.state] - order[b.state]);
}
