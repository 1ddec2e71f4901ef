import { createJobQueue } from "../jobs/jobQueue";
import type { Job } from "../jobs/jobStates";
import type { JobStore } from "../jobs/jobStore";
import type { EndpointRecord } from "../model/endpointFields";
import type { RuntimeContext } from "./context";
import { handlerFor } from "./handlers";
import { type JobRun, runJob } from "./runJob";
import { workersWanted } from "./scaling";
import { createWorkerPool, type Worker, type WorkerPool } from "./workerPool";

/** Brings the jobs of an endpoint and its workers together, and asks for as many workers as they need. */
export interface Scheduler {
  /** How many jobs wait for a worker. */
  readonly waiting: number;
  /** How many jobs a worker has. */
  readonly running: number;
  readonly workers: Pick<WorkerPool, "pods" | "count">;
  /** Lets a job wait for a worker; takes effect with the next `dispatch`. */
  enqueue(job: Job): void;
  /** Takes a job from the queue or from its worker. */
  withdraw(job: Job): void;
  /** Empties the queue and returns the ids of the jobs that waited. */
  withdrawWaiting(): string[];
  /** Gives waiting jobs to free workers, and starts workers where more are wanted. */
  dispatch(): void;
  /** Adjusts the workers to the endpoint's changed record. */
  reconcile(): void;
  dispose(): void;
}

/** @param onRunOver called with each job whose run by a worker is over: it has ended, or must be queued again */
export function createScheduler(
  record: EndpointRecord,
  context: RuntimeContext,
  store: JobStore,
  onRunOver: (job: Job) => void,
): Scheduler {
  const { clock } = context;
  const queue = createJobQueue();
  const running = new Map<string, { readonly worker: Worker; readonly run: JobRun }>();
  const pool = createWorkerPool(record, context, dispatch);
  let cancelOverdue = () => {};

  function dispatch(): void {
    while (queue.size > 0) {
      const worker = pool.take();
      if (!worker) break;
      start((queue.shift() as { id: string }).id, worker);
    }
    scale();
  }

  function start(id: string, worker: Worker): void {
    const job = store.apply(id, { type: "start", workerId: worker.pod.id });
    const run = runJob(handlerFor(context.handlers, record), job, context, {
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

  function scale(): void {
    cancelOverdue();
    const { overdue, nextAt } = overdueJobs();
    pool.scaleTo(workersWanted(record, { waiting: queue.normalSize, overdue, inProgress: running.size }));
    if (nextAt !== undefined && pool.size < record.workersMax) {
      cancelOverdue = clock.schedule(nextAt - clock.now(), scale);
    }
  }

  /** How many jobs have waited too long, counted up to `workersMax`, and when the next one will have. */
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
    dispose() {
      cancelOverdue();
      for (const { run } of running.values()) run.stop();
      pool.dispose();
    },
  };
}
