import { createJobQueue } from "../jobs/jobQueue";
import type { JobRun, JobRunEvents, Outcome } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { handlerFor } from "./jobHandlers";
import { runJob } from "./runJob";
import { type Demand, workersWanted } from "./scaling";
import type { WorkerState } from "./watch";
import { shownState, type Worker } from "./worker";
import { FAULTY } from "./workerFaults";
import { createWorkerPool, type WorkerPool } from "./workerPool";

/** A worker as people see it. All times are in milliseconds since the epoch. */
export interface WorkerView {
  /** Id of the worker's pod. */
  readonly id: string;
  readonly state: WorkerState;
  /** The time when the worker entered its state. */
  readonly since: number;
  readonly startedAt: number;
  /** The endpoint's `version` when the worker started. */
  readonly slsVersion: number;
  /** The job that the worker runs, if it has one. */
  readonly jobId?: string;
}

/** Assigns the jobs of an endpoint to its workers, and scales the workers. */
export interface Scheduler {
  /** The number of jobs that wait. */
  readonly waiting: number;
  /** The time when the first of the waiting jobs entered the queue, in milliseconds since the epoch. */
  readonly oldestQueuedAt: number | undefined;
  /** The number of jobs in progress. */
  readonly running: number;
  readonly workers: Pick<WorkerPool, "pods" | "count">;
  /** Returns the workers in order of their start, including those that drain. */
  workerViews(): WorkerView[];
  /** The present input of the autoscaler. */
  demand(): Demand;
  /** Kills a worker, as a crash does. Returns `false` if there is no worker with the id. */
  kill(workerId: string): boolean;
  /** Adds a job to the queue. It can start with the next `dispatch`. */
  enqueue(job: Job): void;
  /** Removes a job from the queue or from its worker. */
  withdraw(job: Job): void;
  /** Empties the queue and returns the ids of the jobs that waited. */
  withdrawWaiting(): string[];
  /** Starts waiting jobs on idle workers, and starts workers if more are needed. */
  dispatch(): void;
  /** Adjusts the workers after a change to the endpoint's record. */
  reconcile(): void;
  /** Replaces the workers by ones that run the present version of the template: idle ones at once, others after their job. */
  rollOut(): void;
  dispose(): void;
}

/** @param onRunOver called with each job that has ended or must be queued again */
export function createScheduler(
  record: EndpointRecord,
  context: RuntimeContext,
  store: Pick<JobStore, "apply" | "addItems">,
  onRunOver: (job: Job) => void,
): Scheduler {
  const { clock, model } = context;
  const queue = createJobQueue();
  const running = new Map<string, { readonly worker: Worker; readonly run: JobRun }>();
  const pool = createWorkerPool(record, context, dispatch);
  let cancelOverdue = () => {};
  let evaluationIsDue = false;

  function dispatch(): void {
    while (queue.size > 0) {
      const worker = pool.take();
      if (!worker) break;
      start((queue.shift() as { id: string }).id, worker);
    }
    evaluate();
  }

  /** Scales at once, or at the next evaluation of the model's scaler. The first worker starts at once. */
  function evaluate(): void {
    const delayMs = model?.evaluationDelayMs() ?? 0;
    if (delayMs === 0) {
      scale();
      return;
    }
    if (pool.size === 0) pool.scaleTo(Math.min(1, wanted(0)));
    if (evaluationIsDue) return;
    evaluationIsDue = true;
    clock.schedule(delayMs, () => {
      evaluationIsDue = false;
      scale();
    });
  }

  function start(id: string, worker: Worker): void {
    const job = store.apply(id, { type: "start", workerId: worker.pod.id });
    const run = begin(job, worker, {
      onProgress: (output) => store.apply(id, { type: "progress", output }),
      onItems: (items) => store.addItems(id, items),
      onOutcome: (outcome) => end(id, worker, outcome),
    });
    running.set(id, { worker, run });
  }

  function begin(job: Job, { process, pod }: Worker, events: JobRunEvents): JobRun {
    if (model) return model.run(job, events);
    const fault = context.workerFaults.atJob(record.id);
    const handler = fault ? FAULTY[fault] : handlerFor(context.handlers, record);
    if (!process) return runJob(handler, job, pod.container, context, events);
    const run = process.run(job, events);
    if (fault === "die") process.kill();
    if (fault === "hang") process.freeze();
    return run;
  }

  function end(id: string, worker: Worker, outcome: Outcome): void {
    running.delete(id);
    if (outcome.type === "loseWorker") pool.remove(worker);
    else pool.release(worker);
    onRunOver(store.apply(id, outcome));
    dispatch();
  }

  function kill(workerId: string): boolean {
    const worker = pool.all().find(({ pod }) => pod.id === workerId);
    if (!worker) return false;
    if (worker.process) {
      // The end of the process ends its jobs.
      worker.process.kill();
      return true;
    }
    const [jobId, taken] = [...running].find(([, each]) => each.worker === worker) ?? [];
    taken?.run.stop();
    if (jobId !== undefined) end(jobId, worker, { type: "loseWorker" });
    else {
      pool.remove(worker);
      dispatch();
    }
    return true;
  }

  function demand(): Demand {
    return { waiting: queue.normalSize, overdue: overdueJobs().overdue, inProgress: running.size };
  }

  function scale(): void {
    cancelOverdue();
    const { overdue, nextAt } = overdueJobs();
    const target = wanted(overdue);
    pool.scaleTo(Math.min(target, pool.size + (model?.startAtOnce ?? Number.POSITIVE_INFINITY)));
    if (model && pool.size < target) evaluate();
    context.watch.endpoint(record.id);
    if (nextAt !== undefined && pool.size < record.workersMax) {
      cancelOverdue = clock.schedule(nextAt - clock.now(), evaluate);
    }
  }

  function wanted(overdue: number): number {
    const inProgress =
      record.scalerType === "QUEUE_DELAY" ? Math.ceil(running.size / (model?.concurrency ?? 1)) : running.size;
    return workersWanted(record, { waiting: queue.normalSize, overdue, inProgress });
  }

  /** Counts the jobs that have waited too long, up to `workersMax`. `nextAt` is the time when one more will have. */
  function overdueJobs(): { overdue: number; nextAt?: number } {
    if (record.scalerType !== "QUEUE_DELAY") return { overdue: 0 };
    let overdue = 0;
    for (const { queuedAt } of queue.normal()) {
      const overdueAt = queuedAt + record.scalerValue * 1000;
      if (overdueAt > clock.now()) return { overdue, nextAt: overdueAt };
      overdue += 1;
      if (overdue >= record.workersMax) break;
    }
    return { overdue };
  }

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
    workerViews() {
      const jobs = new Map(Array.from(running, ([jobId, { worker }]) => [worker, jobId]));
      return pool.all().map((worker) => {
        const { id, startedAt, slsVersion } = worker.pod;
        const jobId = jobs.get(worker);
        return { id, state: shownState(worker), since: worker.since, startedAt, slsVersion, ...(jobId && { jobId }) };
      });
    },
    demand,
    kill,
    enqueue({ id, queuedAt, request }) {
      queue.push({ id, queuedAt, lowPriority: request.policy.lowPriority });
    },
    withdraw({ id }) {
      queue.remove(id);
      const taken = running.get(id);
      if (!taken) return;
      running.delete(id);
      taken.run.stop();
      pool.release(taken.worker);
    },
    withdrawWaiting() {
      const ids: string[] = [];
      for (let waiting = queue.shift(); waiting; waiting = queue.shift()) ids.push(waiting.id);
      scale();
      return ids;
    },
    dispatch,
    reconcile() {
      pool.shrinkToRecord();
      dispatch();
    },
    rollOut() {
      pool.rollOut();
      dispatch();
    },
    dispose() {
      cancelOverdue();
      for (const { run } of running.values()) run.stop();
      pool.dispose();
    },
  };
}
