import type { EndpointRecord } from "../model/endpointFields";
import { randomId } from "../model/random";
import type { WorkerProgram } from "../programs/program";
import type { ProgramWorker } from "../programs/programWorker";
import type { RuntimeContext } from "./context";
import { programFor } from "./jobHandlers";
import { createReleases } from "./releases";
import { REQUEST_COUNT_SCALE_DOWN_MS } from "./scaling";
import { byReadiness, newWorker, noTimer, shownState, type Worker, type WorkerPod } from "./worker";

export interface WorkerPool {
  /** The workers that are not draining. */
  readonly size: number;
  pods(): readonly WorkerPod[];
  /** Returns the workers in order of their start, including those that drain. */
  all(): readonly Worker[];
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
  /** Takes a worker for a job, an idle one if possible. Returns `undefined` if none can take a job now. */
  take(): Worker | undefined;
  /** Returns a worker whose job has ended to the pool. */
  release(worker: Worker): void;
  /** Removes a worker that died. A process that it still has is stopped. */
  remove(worker: Worker): void;
  dispose(): void;
}

/**
 * Creates the workers of one endpoint.
 * @param onRoom called when a worker becomes idle, and when a draining worker has stopped and another may start
 */
export function createWorkerPool(record: EndpointRecord, context: RuntimeContext, onRoom: () => void): WorkerPool {
  const { clock, model } = context;
  const concurrency = model?.concurrency ?? 1;
  const workers = new Set<Worker>();
  /** The idle workers; with a model all that can take a job now. */
  const idle: Worker[] = [];
  let draining = 0;
  let wantedNow = 0;
  const releases = createReleases(record, context);

  const size = () => workers.size - draining;

  /** Tells the watchers the state of a worker. Must be called after every change. */
  function show(worker: Worker): void {
    worker.since = clock.now();
    model?.onWorker(worker);
    context.watch.worker(record.id, worker.pod.id, shownState(worker));
  }

  function start(): void {
    const pod: WorkerPod = {
      id: randomId(context.random),
      endpointId: record.id,
      ...releases.current(),
      desiredStatus: "RUNNING",
      startedAt: clock.now(),
      lastStatusChange: "Started by the endpoint's autoscaling",
    };
    const program = programFor(context.handlers, record);
    const { throttledMs, imagePullMs } = context.workerFaults.atStart(record.id);
    const state = throttledMs > 0 ? "throttled" : "initializing";
    const worker = newWorker(pod, program, state);
    workers.add(worker);
    if (throttledMs > 0) show(worker);
    if (throttledMs === 0) initialize(worker, imagePullMs);
    else worker.cancelTimer = clock.schedule(throttledMs, () => initialize(worker, imagePullMs));
  }

  /** Starts the container: the process's own start is the cold start of a worker with a program. */
  function initialize(worker: Worker, imagePullMs: number): void {
    worker.state = "initializing";
    show(worker);
    const begin = worker.program ? () => launch(worker, worker.program as WorkerProgram) : () => welcome(worker);
    const delayMs = imagePullMs + (worker.program ? 0 : (model?.coldStartMs() ?? coldStartMs(record, context)));
    if (worker.program && delayMs === 0) begin();
    else worker.cancelTimer = clock.schedule(delayMs, begin);
  }

  function launch(worker: Worker, program: WorkerProgram): void {
    worker.cancelTimer = noTimer;
    worker.process = context.workerHost.start(program, worker.pod, worker.pod.container.env, {
      onAsk: () => welcome(worker),
      onRetire() {
        if (workers.has(worker) && !worker.draining) drain(worker, "refresh");
      },
      onEnd() {
        if (!workers.has(worker)) return;
        forget(worker);
        onRoom();
      },
    });
  }

  /** The worker asks for a job, for the first time or again. */
  function welcome(worker: Worker): void {
    if (!workers.has(worker)) return;
    if (worker.state === "initializing" && !worker.draining) becomeIdle(worker);
    onRoom();
  }

  function becomeIdle(worker: Worker): void {
    worker.state = "idle";
    show(worker);
    makeFree(worker);
  }

  function makeFree(worker: Worker): void {
    if (worker.jobs + worker.resting === concurrency - 1 || !idle.includes(worker)) idle.push(worker);
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

  /** Returns a job of a model's worker to the pool. */
  function releaseModelled(worker: Worker): void {
    if (worker.jobs === 0) {
      worker.state = "idle";
      show(worker);
    }
    const ms = restMs(worker);
    if (ms > 0) rest(worker, ms);
    else makeFree(worker);
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
    for (const worker of idle) {
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
    forgetIdle(worker);
    worker.pod.lastStatusChange = `Draining after a ${reason}`;
    show(worker);
    if (worker.state !== "running") removeLater(worker);
  }

  function removeLater(worker: Worker): void {
    // A process takes its own time to end.
    if (worker.process) {
      worker.process.stop();
      return;
    }
    worker.cancelTimer = clock.schedule(context.drainMs, () => {
      remove(worker);
      onRoom();
    });
  }

  /** A worker with a process counts until the process has ended. */
  function remove(worker: Worker): void {
    if (worker.process && workers.has(worker)) end(worker, worker.process);
    else forget(worker);
  }

  function end(worker: Worker, process: ProgramWorker): void {
    if (!worker.draining) drain(worker, "scale-down");
    process.stop();
  }

  function forget(worker: Worker): void {
    if (!workers.delete(worker)) return;
    worker.cancelTimer();
    forgetIdle(worker);
    if (worker.draining) draining -= 1;
    worker.pod.desiredStatus = "TERMINATED";
    context.released(worker.pod.container.templateId);
    context.watch.worker(record.id, worker.pod.id, "gone");
    model?.onWorker(worker);
  }

  function forgetIdle(worker: Worker): void {
    const index = idle.lastIndexOf(worker);
    if (index >= 0) idle.splice(index, 1);
  }

  /** The latest idle worker, or one with a job that asks for another. */
  function ready(): Worker | undefined {
    const canTake = ({ process, draining }: Worker) => !draining && (!process || process.room > 0);
    return idle.findLast(canTake) ?? (hasPrograms() ? Array.from(workers).find(isBusyWithRoom) : undefined);
  }

  const hasPrograms = () => programFor(context.handlers, record) !== undefined;
  const isBusyWithRoom = ({ state, draining, process }: Worker) =>
    state === "running" && !draining && process !== undefined && process.room > 0;

  return {
    get size() {
      return size();
    },
    pods: () => Array.from(workers, (worker) => worker.pod),
    all: () => [...workers],
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
      const program = programFor(context.handlers, record);
      for (const worker of workers) if (!worker.draining && worker.program !== program) drain(worker, "new release");
      const excess = size() - record.workersMax;
      if (excess > 0) for (const worker of byReadiness(workers).slice(0, excess)) drain(worker, "scale-down");
      for (const worker of [...idle]) waitIdle(worker);
      if (record.workersMax === 0) releases.forget();
    },
    rollOut() {
      for (const worker of byReadiness(workers)) {
        if (releases.isKept(worker.pod.container)) continue;
        if (worker.state === "running") drain(worker, "new release");
        else remove(worker);
      }
    },
    take() {
      const worker = ready();
      if (!worker) return undefined;
      stopWaiting(worker);
      worker.jobs += 1;
      worker.tookAt = clock.now();
      if (worker.jobs + worker.resting >= concurrency) forgetIdle(worker);
      worker.state = "running";
      show(worker);
      return worker;
    },
    release(worker) {
      worker.jobs -= 1;
      if (model && workers.has(worker) && !worker.draining) return releaseModelled(worker);
      if (worker.jobs > 0 || !workers.has(worker)) return;
      if (!worker.draining) return becomeIdle(worker);
      worker.state = "idle";
      removeLater(worker);
    },
    remove,
    dispose() {
      for (const worker of workers) {
        worker.cancelTimer();
        worker.process?.stop();
        context.released(worker.pod.container.templateId);
      }
      workers.clear();
      idle.length = 0;
    },
  };
}

/** FLASHBOOT shortens a cold start (contract, Serverless endpoint). The factor is assumed. */
function coldStartMs(record: EndpointRecord, context: RuntimeContext): number {
  return record.flashBootType === "FLASHBOOT" ? context.coldStartMs / 4 : context.coldStartMs;
}
