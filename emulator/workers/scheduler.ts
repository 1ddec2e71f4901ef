import { createJobQueue, type JobQueue } from "../jobs/jobQueue";
import type { JobRun, JobRunEvents, Outcome } from "../jobs/jobRun";
import type { Job, StreamItem } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import type { EndpointRecord } from "../model/endpointFields";
import { type Autoscaler, createAutoscaler } from "./autoscaler";
import type { RuntimeContext } from "./context";
import { emulatedWorkers } from "./runners";
import type { Demand } from "./scaling";
import type { WorkerState } from "./watch";
import { shownState, type Worker } from "./worker";
import { createWorkerPool, type WorkerPool } from "./workerPool";

/** A worker as shown to users. Times are in milliseconds since the epoch. */
export interface WorkerView {
  /** Id of the worker's pod. */
  readonly id: string;
  readonly state: WorkerState;
  /** What the worker is doing, even while it drains. */
  readonly phase: Worker["state"];
  /** When the worker entered its current state. */
  readonly since: number;
  readonly startedAt: number;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The job that the worker runs, if it has one. */
  readonly jobId?: string;
}

/** Assigns an endpoint's jobs to its workers, and scales the workers. */
export interface Scheduler {
  /** The number of waiting jobs. */
  readonly waiting: number;
  /** When the oldest waiting job entered the queue, in milliseconds since the epoch. */
  readonly oldestQueuedAt: number | undefined;
  /** The number of jobs in progress. */
  readonly running: number;
  readonly workers: Pick<WorkerPool, "pods" | "count">;
  /** Returns the workers in start order, including draining ones. */
  workerViews(): WorkerView[];
  /** Returns the current input of the autoscaler. */
  demand(): Demand;
  /** Kills a worker, as a crash would. Returns `false` if no worker has this id. */
  kill(workerId: string): boolean;
  /** Adds a job to the queue. It can start at the next `dispatch`. */
  enqueue(job: Job): void;
  /** Removes a job from the queue or from its worker. */
  withdraw(job: Job): void;
  /** Empties the queue. Returns the ids of the jobs that were waiting. */
  withdrawWaiting(): string[];
  /** Starts waiting jobs on idle workers, and starts more workers if needed. */
  dispatch(): void;
  /** Adjusts the workers after the endpoint's record has changed. */
  reconcile(): void;
  /**
   * Replaces the workers with ones that run the template's current version: idle workers
   * immediately, and busy ones after their job.
   */
  rollOut(): void;
  dispose(): void;
}

/** The parts of an endpoint's scheduler. */
interface SchedulerState {
  readonly queue: JobQueue;
  readonly pool: WorkerPool;
  readonly autoscaler: Autoscaler;
  /** The jobs in progress, by id. */
  readonly running: Map<string, RunningJob>;
  readonly store: Pick<JobStore, "apply" | "addItems">;
  readonly onRunOver: (job: Job) => void;
}

/** @param onRunOver called with each job that has ended or must be queued again */
export function createScheduler(
  record: EndpointRecord,
  context: RuntimeContext,
  store: SchedulerState["store"],
  onRunOver: SchedulerState["onRunOver"],
): Scheduler {
  const model = context.model ?? emulatedWorkers(record, context);
  const queue = createJobQueue();
  const running: SchedulerState["running"] = new Map();
  const pool = createWorkerPool(record, context, model, () => dispatch(state));
  const autoscaler = createAutoscaler({ record, context, model, queue, pool, inProgress: () => running.size });
  const state: SchedulerState = { queue, pool, autoscaler, running, store, onRunOver };
  return {
    get waiting() {
      return queue.size;
    },
    get oldestQueuedAt() {
      return queue.first?.queuedAt;
    },
    get running() {
      return running.size;
    },
    workers: pool,
    workerViews: () => workerViews(state),
    demand: autoscaler.demand,
    kill: (workerId) => kill(state, workerId),
    enqueue({ id, queuedAt, request }) {
      queue.push({ id, queuedAt, lowPriority: request.policy.lowPriority });
    },
    withdraw: (job) => withdraw(state, job),
    withdrawWaiting: () => withdrawWaiting(state),
    dispatch: () => dispatch(state),
    reconcile() {
      pool.shrinkToRecord();
      dispatch(state);
    },
    rollOut() {
      pool.rollOut();
      dispatch(state);
    },
    dispose() {
      autoscaler.dispose();
      for (const { run } of running.values()) run?.stop();
      pool.dispose();
    },
  };
}

function dispatch(state: SchedulerState): void {
  const { queue, pool, autoscaler } = state;
  while (queue.size > 0) {
    const worker = pool.take();
    if (!worker) break;
    start(state, (queue.shift() as { id: string }).id, worker);
  }
  autoscaler.evaluate();
}

function start(state: SchedulerState, id: string, worker: Worker): void {
  const job = state.store.apply(id, { type: "start", workerId: worker.pod.id });
  const taken = new RunningJob(state, id, worker);
  taken.run = worker.runner.run(job, taken);
  state.running.set(id, taken);
}

/**
 * A job in progress, and what happens to it. It is one object, because a forecast plays millions of
 * jobs, and closures for each would give the garbage collector as much work as the rest.
 */
class RunningJob implements JobRunEvents {
  run: JobRun | undefined = undefined;
  readonly worker: Worker;
  readonly #state: SchedulerState;
  readonly #id: string;

  constructor(state: SchedulerState, id: string, worker: Worker) {
    this.#state = state;
    this.#id = id;
    this.worker = worker;
  }

  onProgress(output: unknown): void {
    this.#state.store.apply(this.#id, { type: "progress", output });
  }

  onItems(items: readonly StreamItem[]): void {
    this.#state.store.addItems(this.#id, items);
  }

  onOutcome(outcome: Outcome): void {
    end(this.#state, this.#id, this.worker, outcome);
  }
}

function end(state: SchedulerState, id: string, worker: Worker, outcome: Outcome): void {
  const { pool, running, store, onRunOver } = state;
  running.delete(id);
  if (outcome.type === "loseWorker") pool.remove(worker);
  else pool.release(worker);
  onRunOver(store.apply(id, outcome));
  dispatch(state);
}

function kill(state: SchedulerState, workerId: string): boolean {
  const { pool, running } = state;
  const worker = pool.all().find(({ pod }) => pod.id === workerId);
  if (!worker) return false;
  // When a process ends, its jobs end too.
  if (worker.runner.kill()) return true;
  const [jobId, taken] = [...running].find(([, each]) => each.worker === worker) ?? [];
  taken?.run?.stop();
  if (jobId !== undefined) end(state, jobId, worker, { type: "loseWorker" });
  else {
    pool.remove(worker);
    dispatch(state);
  }
  return true;
}

function withdraw({ queue, running, pool }: SchedulerState, { id }: Job): void {
  queue.remove(id);
  const taken = running.get(id);
  if (!taken) return;
  running.delete(id);
  taken.run?.stop();
  pool.release(taken.worker);
}

function withdrawWaiting({ queue, autoscaler }: SchedulerState): string[] {
  const ids: string[] = [];
  for (let waiting = queue.shift(); waiting; waiting = queue.shift()) ids.push(waiting.id);
  autoscaler.scale();
  return ids;
}

function workerViews({ pool, running }: SchedulerState): WorkerView[] {
  const jobs = new Map(Array.from(running, ([jobId, { worker }]) => [worker, jobId]));
  return pool.all().map((worker) => {
    const { id, startedAt, slsVersion } = worker.pod;
    const jobId = jobs.get(worker);
    const { since, state: phase } = worker;
    return { id, state: shownState(worker), phase, since, startedAt, slsVersion, ...(jobId && { jobId }) };
  });
}
