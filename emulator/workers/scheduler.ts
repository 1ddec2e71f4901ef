import { createJobQueue } from "../jobs/jobQueue";
import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { handlerFor } from "./jobHandlers";
import { runJob } from "./runJob";
import { workersWanted } from "./scaling";
import { createWorkerPool, type Worker, type WorkerPool } from "./workerPool";

/** Assigns the jobs of an endpoint to its workers, and scales the workers. */
export interface Scheduler {
  /** The number of jobs that wait. */
  readonly waiting: number;
  /** The number of jobs in progress. */
  readonly running: number;
  readonly workers: Pick<WorkerPool, "pods" | "count">;
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
  store: Pick<JobStore, "apply">,
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
    if (pool.size === 0) pool.scaleTo(Math.min(1, wanted()));
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
      onItems: (items) => {
        job.stream.push(...items);
        context.changed();
      },
      onOutcome: (outcome) => {
        running.delete(id);
        if (outcome.type === "loseWorker") pool.remove(worker);
        else pool.release(worker);
        onRunOver(store.apply(id, outcome));
        dispatch();
      },
    });
    running.set(id, { worker, run });
  }

  function begin(job: Job, { pod }: Worker, events: JobRunEvents): JobRun {
    return model
      ? model.run(job, events)
      : runJob(handlerFor(context.handlers, record), job, pod.container, context, events);
  }

  function scale(): void {
    cancelOverdue();
    const { overdue, nextAt } = overdueJobs();
    const target = wanted(overdue);
    pool.scaleTo(Math.min(target, pool.size + (model?.startAtOnce ?? Number.POSITIVE_INFINITY)));
    if (model && pool.size < target) evaluate();
    if (nextAt !== undefined && pool.size < record.workersMax) {
      cancelOverdue = clock.schedule(nextAt - clock.now(), evaluate);
    }
  }

  function wanted(overdue = 0): number {
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
    get running() {
      return running.size;
    },
    workers: pool,
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
