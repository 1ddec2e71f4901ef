import {
  canHappen,
  DEFAULT_POLICY,
  forgottenAt,
  hasEnded,
  type Job,
  type JobRequest,
  newJob,
  recovered,
  type StreamItem,
  withTtl,
} from "../jobs/jobStates";
import { createJobStore, type JobStore } from "../jobs/jobStore";
import { createRateLimiter, type RateLimiter } from "../jobs/rateLimits";
import { createWebhooks } from "../jobs/webhooks";
import { type Balancer, createBalancer } from "../loadBalancer/balancer";
import type { EndpointRecord } from "../model/endpointFields";
import { jobId } from "../model/random";
import type { RuntimeContext } from "../workers/context";
import { watchIdleness } from "../workers/idleScaleDown";
import { scalingInWords } from "../workers/scalingWords";
import { createScheduler, type WorkerView } from "../workers/scheduler";
import type { WorkerPod } from "../workers/worker";

/** Numbers of events since the endpoint was created. */
interface Counters {
  /** Jobs submitted. The number is part of their ids. */
  submitted: number;
  completed: number;
  /** Jobs that became FAILED or TIMED_OUT. */
  failed: number;
  /** Jobs that were queued again, by `/retry` or because their worker died. */
  retried: number;
}

/** The counts of `/health` (contract, Health record), and the workers that have not started yet. */
export interface Health {
  readonly jobs: Omit<Counters, "submitted"> & { readonly inProgress: number; readonly inQueue: number };
  readonly workers: Readonly<Record<"idle" | "running" | "initializing" | "throttled", number>>;
}

/** The running part of an endpoint: its jobs, its workers and their scaling. */
export interface EndpointRuntime {
  readonly context: RuntimeContext;
  readonly limiter: RateLimiter;
  /** Returns the policy of a job that sets none. */
  policy(): JobRequest["policy"];
  /** Serves the requests to a load-balancing endpoint. `undefined` for one with a queue. */
  readonly balancer: Pick<Balancer, "serve"> | undefined;
  submit(operation: Job["operation"], request: JobRequest): Job;
  find(id: string): Job | undefined;
  waitForEnd: JobStore["waitForEnd"];
  waitForItems: JobStore["waitForItems"];
  /**
   * Sets the time to live of a job. Returns `undefined` if it is already over: the job is deleted.
   */
  setTtl(job: Job, ttlMs: number): Job | undefined;
  /** Returns the items that a job has streamed since the last call. */
  takeStream(job: Job): StreamItem[];
  /** Cancels a job that is waiting or running, and returns it. Returns any other job unchanged. */
  cancel(job: Job): Job;
  /**
   * Queues a `FAILED` or `TIMED_OUT` job again.
   * @throws Error for a job in any other state
   */
  retry(job: Job): Job;
  /** Deletes all waiting jobs, and returns their number. */
  purge(): number;
  health(): Health;
  /**
   * Returns the number of waiting jobs, and the time when the first of them entered the queue, in
   * milliseconds since the epoch.
   */
  queue(): { readonly waiting: number; readonly oldestQueuedAt: number | undefined };
  /** Returns the arithmetic of the autoscaler, for people. */
  scaling(): string;
  /** Returns the workers in order of their start, including those that drain. */
  workers(): WorkerView[];
  /** Kills a worker, as a crash does. Returns `false` if there is no worker with the id. */
  killWorker(workerId: string): boolean;
  /** Returns all jobs, the newest last. */
  jobs(): Iterable<Job>;
  /** Returns the pods of all workers, including those that drain. */
  pods(): readonly WorkerPod[];
  /** Starts or drains workers. Must be called after a change to the endpoint's record. */
  reconcile(): void;
  /** Starts jobs and workers that can start now. */
  dispatch(): void;
  /** Replaces the workers. Must be called after a change to the endpoint's template. */
  rollOut(): void;
  /** Returns the state to save for a restart, as plain JSON, with all jobs or those given. */
  snapshot(jobIds?: ReadonlySet<string>): RuntimeSnapshot;
  /**
   * Stops everything. Must be called when the endpoint is deleted and when the emulator is reset or
   * stops.
   */
  dispose(): void;
}

export interface RuntimeSnapshot {
  readonly jobs: readonly Job[];
  readonly counters: Counters;
  /** The time when the endpoint last had a job or was saved, in milliseconds since the epoch. */
  readonly idleSince: number;
}

/**
 * Starts the running part of an endpoint.
 * @param saved the result of `snapshot()` before a restart. Jobs that were in progress are queued
 * again.
 */
export function createRuntime(record: EndpointRecord, context: RuntimeContext, saved?: unknown): EndpointRuntime {
  const { clock, changed } = context;
  const {
    jobs,
    counters,
    idleSince: wasIdleSince,
  } = (saved as RuntimeSnapshot | undefined) ?? emptySnapshot(clock.now());
  // The clock may have been set back since it was saved.
  let idleSince = Math.min(wasIdleSince, clock.now());
  const webhooks = createWebhooks(record.id, context);
  const store = createJobStore(clock, jobChanged, drop);
  // The type of an endpoint never changes.
  const balancer = record.type === "LB" ? createBalancer(record, context) : undefined;
  const scheduler = balancer ?? createScheduler(record, context, store, onRunOver);
  const stopWatching = watchIdleness(
    record,
    clock,
    () => (scheduler.waiting + scheduler.running > 0 ? clock.now() : idleSince),
    () => {
      changed();
      scheduler.reconcile();
    },
  );

  function jobChanged(id: string): void {
    changed(record.id, id);
    context.watch.job(record.id, id);
  }

  function enqueue(job: Job): void {
    idleSince = clock.now();
    scheduler.enqueue(job);
  }

  function onRunOver(job: Job): void {
    idleSince = clock.now();
    if (hasEnded(job)) {
      counters[job.status === "COMPLETED" ? "completed" : "failed"] += 1;
      webhooks.deliver(job);
    } else {
      counters.retried += 1;
      enqueue(job);
    }
  }

  /** Removes a deleted job from the queue or from its worker. */
  function drop(job: Job): void {
    scheduler.withdraw(job);
    scheduler.dispatch();
  }

  // An endpoint that was deleted at this moment may have had the same id.
  changed(record.id);
  const known = jobs.filter((job) => forgottenAt(job) > clock.now()).map((job) => recovered(job, clock.now()));
  for (const job of known) store.add(job);
  const waiting = known.filter((job) => job.status === "IN_QUEUE").sort((a, b) => a.queuedAt - b.queuedAt);
  for (const job of waiting) enqueue(job);
  scheduler.dispatch();

  return {
    context,
    balancer: balancer && {
      serve(request, client) {
        idleSince = clock.now();
        return balancer.serve(request, client);
      },
    },
    limiter: createRateLimiter(context.rateLimits, clock, () => scheduler.running),
    policy() {
      const { executionTimeout } = DEFAULT_POLICY;
      return { ...DEFAULT_POLICY, executionTimeout: record.executionTimeoutMs ?? executionTimeout };
    },
    submit(operation, request) {
      counters.submitted += 1;
      const job = newJob(jobId(context.random, counters.submitted), operation, request, clock.now());
      store.add(job);
      enqueue(job);
      scheduler.dispatch();
      return job;
    },
    find: store.get,
    waitForEnd: store.waitForEnd,
    waitForItems: store.waitForItems,
    setTtl(job, ttlMs) {
      const next = withTtl(job, ttlMs);
      store.replace(next);
      if (forgottenAt(next) > clock.now()) return next;
      store.forget(next.id);
      drop(next);
      return undefined;
    },
    takeStream(job) {
      if (job.stream.length > 0) changed(record.id, job.id);
      return job.stream.splice(0);
    },
    cancel(job) {
      if (!canHappen(job, "cancel")) return job;
      scheduler.withdraw(job);
      const cancelled = store.apply(job.id, { type: "cancel" });
      scheduler.dispatch();
      return cancelled;
    },
    retry({ id }) {
      const queued = store.apply(id, { type: "retry" });
      counters.retried += 1;
      enqueue(queued);
      scheduler.dispatch();
      return queued;
    },
    purge() {
      const ids = scheduler.withdrawWaiting();
      for (const id of ids) store.forget(id);
      return ids.length;
    },
    health() {
      const { completed, failed, retried } = counters;
      const { waiting: inQueue, running: inProgress, workers } = scheduler;
      return {
        jobs: { completed, failed, inProgress, inQueue, retried },
        workers: {
          idle: workers.count("idle"),
          running: workers.count("running"),
          initializing: workers.count("initializing"),
          throttled: workers.count("throttled"),
        },
      };
    },
    queue: () => ({ waiting: scheduler.waiting, oldestQueuedAt: scheduler.oldestQueuedAt }),
    scaling() {
      const words = scalingInWords(record, scheduler.demand());
      return context.placesOf(record).length > 0 ? words : `${words}, but no machine fits`;
    },
    workers: scheduler.workerViews,
    killWorker: scheduler.kill,
    jobs: store.all,
    pods: scheduler.workers.pods,
    dispatch: scheduler.dispatch,
    reconcile() {
      idleSince = clock.now();
      scheduler.reconcile();
    },
    rollOut: scheduler.rollOut,
    snapshot: (jobIds) => ({
      jobs: jobIds ? [...jobIds].flatMap((id) => store.get(id) ?? []) : [...store.all()],
      counters: { ...counters },
      idleSince,
    }),
    dispose() {
      stopWatching();
      webhooks.dispose();
      scheduler.dispose();
      store.dispose();
    },
  };
}

function emptySnapshot(now: number): RuntimeSnapshot {
  return { jobs: [], counters: { submitted: 0, completed: 0, failed: 0, retried: 0 }, idleSince: now };
}
