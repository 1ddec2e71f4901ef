import { type Execution, execute, type Outcome } from "./execution";
import { handlerFor } from "./handlers";
import { watchIdleness } from "./idleScaleDown";
import { createJobStore, type JobStore } from "./jobStore";
import {
  canHappen,
  forgottenAt,
  hasEnded,
  type Job,
  type JobRequest,
  newJob,
  recovered,
  type StreamItem,
  withTtl,
} from "./jobs";
import type { EndpointRecord, EndpointRuntime, RuntimeContext } from "./model";
import { createRateLimiter, type RateLimiter } from "./rateLimits";
import { workersWanted } from "./scaling";
import { createWaitingLine } from "./waitingLine";
import { createWebhooks } from "./webhooks";
import { createWorkerPool, type Worker } from "./workers";

/** How often something happened since the endpoint was created. */
interface Counters {
  /** Jobs submitted: the source of their ids. */
  submitted: number;
  completed: number;
  /** Jobs that became FAILED or TIMED_OUT. */
  failed: number;
  /** Jobs that went back to the queue, by `/retry` or because their worker died. */
  retried: number;
}

/** What `/health` counts (contract, Health record), and the worker states that were observed besides. */
export interface Health {
  readonly jobs: Omit<Counters, "submitted"> & { readonly inProgress: number; readonly inQueue: number };
  readonly workers: { readonly idle: number; readonly running: number; readonly initializing: number };
}

/** An endpoint with its queue. */
export interface QueueRuntime extends EndpointRuntime {
  readonly context: RuntimeContext;
  readonly limiter: RateLimiter;
  submit(operation: Job["operation"], request: JobRequest): Job;
  find(id: string): Job | undefined;
  /** Resolves with the job once it has ended or `waitMs` are over; with `undefined` when it is not known any more. */
  waitForEnd: JobStore["waitForEnd"];
  /** Gives a job another time to live. Returns `undefined` when that is over already: the job is forgotten. */
  setTtl(job: Job, ttlMs: number): Job | undefined;
  /** Hands out what a job has streamed since the last call. */
  takeStream(job: Job): StreamItem[];
  /** Ends a job that waits or runs; any other stays as it is. Returns what it is then. */
  cancel(job: Job): Job;
  /** Puts a FAILED or TIMED_OUT job back into the queue. Throws for any other. */
  retry(job: Job): Job;
  /** Removes all jobs that wait; returns how many. */
  purge(): number;
  health(): Health;
  /** All jobs that are known, the newest last. */
  jobs(): Iterable<Job>;
}

interface Snapshot {
  readonly jobs: readonly Job[];
  readonly counters: Counters;
  readonly idleSince: number;
}

/**
 * Brings an endpoint to life: its jobs run on workers that come and go as its record says.
 * @param saved what `snapshot()` of an earlier runtime of this endpoint returned; jobs that were in progress then are
 * queued again
 */
export function createRuntime(record: EndpointRecord, context: RuntimeContext, saved?: unknown): QueueRuntime {
  const { clock, changed } = context;
  const {
    counters,
    jobs: savedJobs,
    idleSince: savedIdleSince,
  } = (saved as Snapshot | undefined) ?? newSnapshot(clock);
  const line = createWaitingLine();
  const running = new Map<string, { readonly worker: Worker; readonly execution: Execution }>();
  const pool = createWorkerPool(record, context, dispatch);
  const webhooks = createWebhooks(record.id, context);
  const store = createJobStore(context, (job) => {
    leave(job);
    dispatch();
  });
  const limiter = createRateLimiter(context.rateLimits, clock, () => running.size);
  let idleSince = savedIdleSince;
  let cancelOverdue = () => {};
  const stopWatching = watchIdleness(
    record,
    clock,
    () => (running.size + line.size > 0 ? clock.now() : idleSince),
    () => {
      changed();
      pool.shrinkToRecord();
    },
  );

  function enqueue(job: Job): void {
    const { id, queuedAt, request } = job;
    line.push({ id, queuedAt, lowPriority: request.policy.lowPriority });
    idleSince = clock.now();
  }

  /** Takes a job from the queue, or from its worker. */
  function leave(job: Job): void {
    line.remove(job.id);
    const run = running.get(job.id);
    if (!run) return;
    running.delete(job.id);
    run.execution.stop();
    pool.release(run.worker);
  }

  function dispatch(): void {
    while (line.size > 0) {
      const worker = pool.take();
      if (!worker) break;
      start((line.shift() as { id: string }).id, worker);
    }
    scale();
  }

  function start(id: string, worker: Worker): void {
    const job = store.apply(store.get(id) as Job, { type: "start", workerId: worker.pod.id });
    const execution = execute(handlerFor(context.handlers, record), job, context, {
      onProgress: (output) => store.apply(store.get(id) as Job, { type: "progress", output }),
      onItems: (items) => {
        job.stream.push(...items);
        changed();
      },
      onOutcome: (outcome) => finish(id, worker, outcome),
    });
    running.set(id, { worker, execution });
  }

  function finish(id: string, worker: Worker, outcome: Outcome): void {
    running.delete(id);
    idleSince = clock.now();
    const job = store.apply(store.get(id) as Job, outcome);
    if (outcome.type === "loseWorker") pool.remove(worker);
    else pool.release(worker);
    if (hasEnded(job)) {
      counters[job.status === "COMPLETED" ? "completed" : "failed"] += 1;
      webhooks.deliver(job);
    } else {
      counters.retried += 1;
      enqueue(job);
    }
    dispatch();
  }

  function scale(): void {
    cancelOverdue();
    const delayMs = record.scalerType === "QUEUE_DELAY" ? record.scalerValue * 1000 : Number.POSITIVE_INFINITY;
    let overdue = 0;
    let nextOverdueAt: number | undefined;
    for (const { queuedAt } of line.normal()) {
      if (queuedAt + delayMs > clock.now()) nextOverdueAt = queuedAt + delayMs;
      else overdue += 1;
      if (nextOverdueAt !== undefined || overdue >= record.workersMax) break;
    }
    pool.growTo(workersWanted(record, { waiting: line.normalSize, overdue, inProgress: running.size }));
    if (nextOverdueAt === undefined || nextOverdueAt === Number.POSITIVE_INFINITY) return;
    if (pool.size < record.workersMax) cancelOverdue = clock.schedule(nextOverdueAt - clock.now(), scale);
  }

  function restore(): void {
    const known = savedJobs.filter((job) => forgottenAt(job) > clock.now()).map((job) => recovered(job, clock.now()));
    for (const job of known) store.add({ ...job, stream: [...job.stream] });
    const waiting = known.filter((job) => job.status === "IN_QUEUE").sort((a, b) => a.queuedAt - b.queuedAt);
    for (const { id, queuedAt, request } of waiting)
      line.push({ id, queuedAt, lowPriority: request.policy.lowPriority });
  }

  restore();
  dispatch();

  return {
    context,
    limiter,
    submit(operation, request) {
      counters.submitted += 1;
      const job = newJob(jobId(context.random, counters.submitted), operation, request, clock.now());
      store.add(job);
      enqueue(job);
      dispatch();
      return job;
    },
    find: store.get,
    waitForEnd: store.waitForEnd,
    setTtl(job, ttlMs) {
      const next = withTtl(job, ttlMs);
      store.replace(next);
      if (forgottenAt(next) > clock.now()) return next;
      store.forget(next.id);
      leave(next);
      dispatch();
      return undefined;
    },
    takeStream(job) {
      if (job.stream.length > 0) changed();
      return job.stream.splice(0);
    },
    cancel(job) {
      if (!canHappen(job, "cancel")) return job;
      leave(job);
      const cancelled = store.apply(job, { type: "cancel" });
      dispatch();
      return cancelled;
    },
    retry(job) {
      const queued = store.apply(job, { type: "retry" });
      counters.retried += 1;
      enqueue(queued);
      dispatch();
      return queued;
    },
    purge() {
      let removed = 0;
      for (let waiting = line.shift(); waiting; waiting = line.shift()) {
        store.forget(waiting.id);
        removed += 1;
      }
      scale();
      return removed;
    },
    health() {
      const { completed, failed, retried } = counters;
      const [idle, initializing] = [pool.count("idle"), pool.count("initializing")];
      return {
        jobs: { completed, failed, inProgress: running.size, inQueue: line.size, retried },
        workers: { idle, running: running.size, initializing },
      };
    },
    jobs: store.all,
    pods: pool.pods,
    reconcile() {
      idleSince = clock.now();
      pool.shrinkToRecord();
      dispatch();
    },
    snapshot: (): Snapshot => ({ jobs: [...store.all()], counters: { ...counters }, idleSince }),
    dispose() {
      cancelOverdue();
      stopWatching();
      webhooks.dispose();
      for (const { execution } of running.values()) execution.stop();
      store.dispose();
      pool.dispose();
    },
  };
}

function newSnapshot(clock: RuntimeContext["clock"]): Snapshot {
  return { jobs: [], counters: { submitted: 0, completed: 0, failed: 0, retried: 0 }, idleSince: clock.now() };
}

/** The number makes it unique for ever, the rest hard to guess. */
function jobId(random: () => number, number: number): string {
  const digits = Array.from({ length: 2 }, () =>
    Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, "0"),
  );
  return `${digits.join("")}-${number.toString(36)}`;
}
