import { JobQueue, type Waiting } from "../jobs/jobQueue";
import type { JobRun, JobRunEvents, Outcome } from "../jobs/jobRun";
import type { Job, StreamItem } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import { Lane, type Place } from "../jobs/lane";
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
  /** The worker's activity, even while it drains. */
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
  /**
   * Adds a job to the queue. It can start at the next `dispatch`. Returns `undefined` if there is
   * no queue.
   */
  enqueue(job: Job): ScheduledJob | undefined;
  /** Removes a job whose run is not over from the queue or from its worker. */
  withdraw(scheduled: ScheduledJob): void;
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

/** Assigns the jobs of a queue-based endpoint. */
export interface JobScheduler extends Scheduler {
  /** The waiting jobs, each as it was when it entered the queue. */
  readonly queue: Pick<JobQueue<ScheduledJob>, "size" | "first">;
}

/** The parts of an endpoint's scheduler. */
interface SchedulerState {
  readonly queue: JobQueue<ScheduledJob>;
  readonly pool: WorkerPool;
  readonly autoscaler: Autoscaler;
  /** The jobs in progress, in the order in which they started. */
  readonly running: Lane<ScheduledJob>;
  readonly store: Pick<JobStore, "apply" | "addItems">;
  readonly onRunOver: (job: Job) => void;
}

/** @param onRunOver called with each job that has ended or must be queued again */
export function createScheduler(
  record: EndpointRecord,
  context: RuntimeContext,
  store: SchedulerState["store"],
  onRunOver: SchedulerState["onRunOver"],
): JobScheduler {
  const model = context.model ?? emulatedWorkers(record, context);
  const queue = new JobQueue<ScheduledJob>();
  const running = new Lane<ScheduledJob>();
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
    queue,
    get running() {
      return running.size;
    },
    workers: pool,
    workerViews: () => workerViews(state),
    demand: autoscaler.demand,
    kill: (workerId) => kill(state, workerId),
    enqueue: (job) => enqueue(state, job),
    withdraw: (scheduled) => withdraw(state, scheduled),
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
      for (const { run } of running) run?.stop();
      pool.dispose();
    },
  };
}

function enqueue(state: SchedulerState, job: Job): ScheduledJob {
  const scheduled = new ScheduledJob(state, job);
  scheduled.place = state.queue.push(scheduled);
  return scheduled;
}

function dispatch(state: SchedulerState): void {
  const { queue, pool, autoscaler } = state;
  while (queue.size > 0) {
    const worker = pool.take();
    if (!worker) break;
    start(state, queue.shift() as ScheduledJob, worker);
  }
  autoscaler.evaluate();
}

function start({ store, running }: SchedulerState, scheduled: ScheduledJob, worker: Worker): void {
  const job = store.apply(scheduled.job, { type: "start", workerId: worker.pod.id });
  scheduled.worker = worker;
  scheduled.run = worker.runner.run(job, scheduled);
  scheduled.place = running.push(scheduled, 0);
}

/**
 * A job from the time it enters the queue to the end of its run, and what happens to it. It is one
 * object, because a forecast plays millions of jobs, and closures for each would give the garbage
 * collector as much work as the rest.
 */
export class ScheduledJob implements Waiting, JobRunEvents {
  /** The job when it entered the queue. */
  readonly job: Job;
  /** Its place in the queue or among the jobs in progress. */
  place: Place<ScheduledJob> | undefined = undefined;
  worker: Worker | undefined = undefined;
  run: JobRun | undefined = undefined;
  readonly #state: SchedulerState;

  constructor(state: SchedulerState, job: Job) {
    this.#state = state;
    this.job = job;
  }

  get queuedAt(): number {
    return this.job.queuedAt;
  }

  get lowPriority(): boolean {
    return this.job.request.policy.lowPriority;
  }

  onProgress(output: unknown): void {
    this.#state.store.apply(this.job, { type: "progress", output });
  }

  onItems(items: readonly StreamItem[]): void {
    this.#state.store.addItems(this.job.id, items);
  }

  onOutcome(outcome: Outcome): void {
    end(this.#state, this, outcome);
  }
}

function end(state: SchedulerState, { job, worker, place }: ScheduledJob, outcome: Outcome): void {
  const { pool, running, store, onRunOver } = state;
  running.remove(place as Place<ScheduledJob>);
  if (outcome.type === "loseWorker") pool.remove(worker as Worker);
  else pool.release(worker as Worker);
  onRunOver(store.apply(job, outcome));
  dispatch(state);
}

function kill(state: SchedulerState, workerId: string): boolean {
  const { pool, running } = state;
  const worker = pool.all().find(({ pod }) => pod.id === workerId);
  if (!worker) return false;
  // When a process ends, its jobs end too.
  if (worker.runner.kill()) return true;
  const taken = [...running].find((each) => each.worker === worker);
  taken?.run?.stop();
  if (taken) end(state, taken, { type: "loseWorker" });
  else {
    pool.remove(worker);
    dispatch(state);
  }
  return true;
}

function withdraw({ queue, running, pool }: SchedulerState, scheduled: ScheduledJob): void {
  const { place, worker, run } = scheduled as ScheduledJob & { place: Place<ScheduledJob> };
  if (!worker) {
    queue.remove(place);
    return;
  }
  running.remove(place);
  run?.stop();
  pool.release(worker);
}

function withdrawWaiting({ queue, autoscaler }: SchedulerState): string[] {
  const ids: string[] = [];
  for (let waiting = queue.shift(); waiting; waiting = queue.shift()) ids.push(waiting.job.id);
  autoscaler.scale();
  return ids;
}

function workerViews({ pool, running }: SchedulerState): WorkerView[] {
  const jobs = new Map(Array.from(running, ({ job, worker }) => [worker, job.id]));
  return pool.all().map((worker) => {
    const { id, startedAt, slsVersion } = worker.pod;
    const jobId = jobs.get(worker);
    const { since, state: phase } = worker;
    return { id, state: shownState(worker), phase, since, startedAt, slsVersion, ...(jobId && { jobId }) };
  });
}
