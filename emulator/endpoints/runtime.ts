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
import { JobStore } from "../jobs/jobStore";
import { createRateLimiter, type RateLimiter } from "../jobs/rateLimits";
import { createWebhooks, type Webhooks } from "../jobs/webhooks";
import { type Balancer, createBalancer } from "../loadBalancer/balancer";
import type { EndpointRecord } from "../model/endpointFields";
import { jobId } from "../model/random";
import type { RuntimeContext } from "../workers/context";
import { watchIdleness } from "../workers/idleScaleDown";
import { scalingInWords } from "../workers/scalingWords";
import { createScheduler, type ScheduledJob, type Scheduler, type WorkerView } from "../workers/scheduler";
import type { Worker, WorkerPod } from "../workers/worker";

/** Event counts since the endpoint was created. */
interface Counters {
  /** The number of submitted jobs. It is part of job ids. */
  submitted: number;
  completed: number;
  /** Jobs that became FAILED or TIMED_OUT. */
  failed: number;
  /** Jobs that were queued again by `/retry` or because their worker died. */
  retried: number;
}

/**
 * The counts that `/health` returns (contract, Health record), and workers that have not started
 * yet.
 */
interface Health {
  readonly jobs: Omit<Counters, "submitted"> & { readonly inProgress: number; readonly inQueue: number };
  readonly workers: Readonly<Record<Worker["state"], number>>;
}

interface RuntimeSnapshot {
  readonly jobs: readonly Job[];
  readonly counters: Counters;
  /** When the endpoint last had a job or was last saved, in milliseconds since the epoch. */
  readonly idleSince: number;
}

/** The runtime of an endpoint: its jobs, workers and scaling. */
export class EndpointRuntime {
  readonly context: RuntimeContext;
  readonly limiter: RateLimiter;
  /** Serves requests to a load-balancing endpoint; `undefined` for a queue-based one. */
  readonly balancer: Pick<Balancer, "serve"> | undefined;
  readonly #record: EndpointRecord;
  readonly #store: JobStore;
  readonly #scheduler: Scheduler;
  /** The waiting jobs and those in progress, by id. */
  readonly #scheduled = new Map<string, ScheduledJob>();
  readonly #webhooks: Webhooks;
  readonly #stopWatching: () => void;
  readonly #counters: Counters;
  #idleSince: number;

  /**
   * Starts the endpoint's runtime.
   * @param saved the result of `snapshot()` before a restart. Jobs in progress are queued again.
   */
  constructor(record: EndpointRecord, context: RuntimeContext, saved?: unknown) {
    const { clock } = context;
    const { jobs, counters, idleSince } = (saved as RuntimeSnapshot | undefined) ?? emptySnapshot(clock.now());
    this.context = context;
    this.#record = record;
    this.#counters = counters;
    // The clock may have been set back since the state was saved.
    this.#idleSince = Math.min(idleSince, clock.now());
    this.#webhooks = createWebhooks(record.id, context);
    this.#store = new JobStore(
      clock,
      (id) => this.#jobChanged(id),
      (job) => this.#drop(job),
    );
    // An endpoint's type never changes.
    const balancer = record.type === "LB" ? createBalancer(record, context) : undefined;
    this.balancer = balancer && {
      serve: (request, client) => {
        this.#idleSince = clock.now();
        return balancer.serve(request, client);
      },
    };
    this.#scheduler = balancer ?? createScheduler(record, context, this.#store, (job) => this.#onRunOver(job));
    this.limiter = createRateLimiter(context.rateLimits, clock, () => this.#scheduler.running);
    this.#stopWatching = watchIdleness(
      record,
      clock,
      () => (this.#scheduler.waiting + this.#scheduler.running > 0 ? clock.now() : this.#idleSince),
      () => {
        context.changed();
        this.#scheduler.reconcile();
      },
    );
    context.changed();
    this.#recover(jobs);
  }

  /** Returns the policy for jobs that don't set one. */
  policy(): JobRequest["policy"] {
    const { executionTimeout } = DEFAULT_POLICY;
    return { ...DEFAULT_POLICY, executionTimeout: this.#record.executionTimeoutMs ?? executionTimeout };
  }

  /** @throws RangeError for a load-balancing endpoint, where no worker would take the job */
  submit(operation: Job["operation"], request: JobRequest): Job {
    if (this.balancer) {
      throw new RangeError(
        `Endpoint ${this.#record.id} is a load-balancing endpoint, which has no queue: send requests to /lb/${this.#record.id}/.`,
      );
    }
    this.#counters.submitted += 1;
    const job = newJob(jobId(this.context.random, this.#counters.submitted), operation, request, this.#now());
    this.#store.add(job);
    this.#enqueue(job);
    this.#scheduler.dispatch();
    return job;
  }

  find(id: string): Job | undefined {
    return this.#store.get(id);
  }

  /** Waits up to `waitMs` milliseconds for a job to end. See `JobStore` for details. */
  waitForEnd(id: string, waitMs: number | undefined, signal: AbortSignal): Promise<Job | undefined> {
    return this.#store.waitForEnd(id, waitMs, signal);
  }

  /** Waits until a job ends or has stream items to take. */
  waitForItems(id: string, signal: AbortSignal): Promise<Job | undefined> {
    return this.#store.waitForItems(id, signal);
  }

  /**
   * Sets a job's time to live. Returns `undefined` if it has already expired, in which case the job
   * is deleted.
   */
  setTtl(job: Job, ttlMs: number): Job | undefined {
    const next = withTtl(job, ttlMs);
    this.#store.replace(next);
    if (forgottenAt(next) > this.#now()) return next;
    this.#store.forget(next.id);
    this.#drop(next);
    return undefined;
  }

  /** Returns the items that a job has streamed since the previous call. */
  takeStream(job: Job): StreamItem[] {
    if (job.stream.length > 0) this.context.changed();
    return job.stream.splice(0);
  }

  /** Cancels a waiting or running job and returns it. Returns any other job unchanged. */
  cancel(job: Job): Job {
    if (!canHappen(job, "cancel")) return job;
    this.#withdraw(job);
    const cancelled = this.#store.apply(job, { type: "cancel" });
    this.#scheduler.dispatch();
    return cancelled;
  }

  /**
   * Queues a `FAILED` or `TIMED_OUT` job again.
   * @throws Error for a job in any other state
   */
  retry(job: Job): Job {
    const queued = this.#store.apply(job, { type: "retry" });
    this.#counters.retried += 1;
    this.#enqueue(queued);
    this.#scheduler.dispatch();
    return queued;
  }

  /** Deletes all waiting jobs and returns their number. */
  purge(): number {
    const ids = this.#scheduler.withdrawWaiting();
    for (const id of ids) {
      this.#scheduled.delete(id);
      this.#store.forget(id);
    }
    return ids.length;
  }

  health(): Health {
    const { completed, failed, retried } = this.#counters;
    const { waiting: inQueue, running: inProgress, workers } = this.#scheduler;
    return {
      jobs: { completed, failed, inProgress, inQueue, retried },
      workers: {
        idle: workers.count("idle"),
        running: workers.count("running"),
        initializing: workers.count("initializing"),
        throttled: workers.count("throttled"),
        unhealthy: workers.count("unhealthy"),
      },
    };
  }

  /**
   * Returns the number of waiting jobs, and when the oldest one entered the queue (milliseconds
   * since the epoch).
   */
  queue(): { readonly waiting: number; readonly oldestQueuedAt: number | undefined } {
    const { waiting, oldestQueuedAt } = this.#scheduler;
    return { waiting, oldestQueuedAt };
  }

  /**
   * Returns the number of requests that workers are processing and the number that are waiting, for
   * a load-balancing endpoint.
   */
  requests(): { readonly open: number; readonly waiting: number } {
    return { open: this.#scheduler.running, waiting: this.#scheduler.waiting };
  }

  /** Describes the autoscaler's calculation. */
  scaling(): string {
    const words = scalingInWords(this.#record, this.#scheduler.demand());
    return this.context.placesOf(this.#record).length > 0 ? words : `${words}, but no machine fits`;
  }

  /** Returns the workers in start order, including draining ones. */
  workers(): WorkerView[] {
    return this.#scheduler.workerViews();
  }

  /** Kills a worker, as a crash would. Returns `false` if no worker has this id. */
  killWorker(workerId: string): boolean {
    return this.#scheduler.kill(workerId);
  }

  /** Returns all jobs, newest last. */
  jobs(): Iterable<Job> {
    return this.#store.all();
  }

  /** Returns the pods of all workers, including draining ones. */
  pods(): readonly WorkerPod[] {
    return this.#scheduler.workers.pods();
  }

  /** Starts or drains workers. Must be called after the endpoint's record has changed. */
  reconcile(): void {
    this.#idleSince = this.#now();
    this.#scheduler.reconcile();
  }

  /** Starts the jobs and workers that can start now. */
  dispatch(): void {
    this.#scheduler.dispatch();
  }

  /** Replaces the workers. Must be called after the endpoint's template has changed. */
  rollOut(): void {
    this.#scheduler.rollOut();
  }

  /** Returns the state to save for a restart as plain JSON. */
  snapshot(): RuntimeSnapshot {
    return {
      jobs: [...this.#store.all()],
      counters: { ...this.#counters },
      idleSince: this.#idleSince,
    };
  }

  /**
   * Stops everything. Must be called when the endpoint is deleted, and when the emulator is reset
   * or stopped.
   */
  dispose(): void {
    this.#stopWatching();
    this.#webhooks.dispose();
    this.#scheduler.dispose();
    this.#store.dispose();
  }

  /** Restores saved jobs that have not expired, and queues those that had not ended. */
  #recover(jobs: readonly Job[]): void {
    const now = this.#now();
    const known = jobs.filter((job) => forgottenAt(job) > now).map((job) => recovered(job, now));
    for (const job of known) this.#store.add(job);
    const waiting = known.filter((job) => job.status === "IN_QUEUE").sort((a, b) => a.queuedAt - b.queuedAt);
    for (const job of waiting) this.#enqueue(job);
    this.#scheduler.dispatch();
  }

  #now(): number {
    return this.context.clock.now();
  }

  #jobChanged(id: string): void {
    this.context.changed();
    this.context.watch.job(this.#record.id, id);
  }

  #enqueue(job: Job): void {
    this.#idleSince = this.#now();
    const scheduled = this.#scheduler.enqueue(job);
    if (scheduled) this.#scheduled.set(job.id, scheduled);
  }

  #onRunOver(job: Job): void {
    this.#scheduled.delete(job.id);
    this.#idleSince = this.#now();
    if (hasEnded(job)) {
      this.#counters[job.status === "COMPLETED" ? "completed" : "failed"] += 1;
      this.#webhooks.deliver(job);
    } else {
      this.#counters.retried += 1;
      this.#enqueue(job);
    }
  }

  /** Must be called when a job has been deleted. */
  #drop(job: Job): void {
    this.#withdraw(job);
    this.#scheduler.dispatch();
  }

  /** Removes a deleted or cancelled job from the queue or from its worker, if it is there. */
  #withdraw({ id }: Job): void {
    const scheduled = this.#scheduled.get(id);
    if (!scheduled) return;
    this.#scheduled.delete(id);
    this.#scheduler.withdraw(scheduled);
  }
}

function emptySnapshot(now: number): RuntimeSnapshot {
  return { jobs: [], counters: { submitted: 0, completed: 0, failed: 0, retried: 0 }, idleSince: now };
}
