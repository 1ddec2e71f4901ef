import { type JobState, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "../../sdk/contract/enums";
import {
  EXECUTION_TIMEOUT_MS,
  JOB_TTL_MS,
  RUN_RESULT_RETENTION_MS,
  RUNSYNC_RESULT_RETENTION_MS,
} from "../../sdk/contract/limits";
import type { Profile } from "../model/fidelity";

export type JobStatus = JobState;

/**
 * The body of a job request (contract, Job request body). Defaults are filled in for its policy.
 */
export interface JobRequest {
  /** The handler's input. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The URL to notify when the job has ended. */
  readonly webhook?: string;
  /** The job's limits. */
  readonly policy: {
    /**
     * How long the job may run on a worker, in milliseconds; 0 for no limit, which only an endpoint
     * can set.
     */
    readonly executionTimeout: number;
    /** `true` if the job does not trigger scaling. */
    readonly lowPriority: boolean;
    /** The time to live, in milliseconds. It includes waiting and running. */
    readonly ttl: number;
  };
  /** Storage credentials to pass to the worker. */
  readonly s3Config?: Readonly<Record<string, string>>;
}

export const DEFAULT_POLICY: JobRequest["policy"] = {
  executionTimeout: EXECUTION_TIMEOUT_MS.default,
  lowPriority: false,
  ttl: JOB_TTL_MS.default,
};

/** An item that a streaming handler yielded (contract, Stream item). */
export interface StreamItem {
  readonly output: unknown;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** A job as the service stores it. Times are in milliseconds since the epoch. */
export interface Job {
  readonly id: string;
  readonly operation: "run" | "runsync";
  readonly request: JobRequest;
  readonly status: JobStatus;
  readonly submittedAt: number;
  /** When the job last entered the queue. */
  readonly queuedAt: number;
  /** When a worker last started the job. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly workerId?: string;
  /** How many workers died while running the job since it was submitted or retried. */
  readonly retries: number;
  /** The handler's result, or the latest progress update while the job is in progress. */
  readonly output?: unknown;
  readonly error?: string;
  /** Items that `/stream` has not returned yet. The array is modified in place. */
  readonly stream: StreamItem[];
  /**
   * The time to live, counted from `submittedAt`, in milliseconds. The job is then deleted in any
   * state.
   */
  readonly ttlMs: number;
  /** How long the result of an ended job is kept, in milliseconds. */
  readonly retentionMs: number;
}

/** An event that changes a job. */
export type JobEvent =
  | { readonly type: "start"; readonly workerId: string }
  | { readonly type: "progress"; readonly output: unknown }
  | { readonly type: "complete"; readonly output: unknown }
  | { readonly type: "fail"; readonly error: string }
  | { readonly type: "exceedExecutionTimeout" }
  | { readonly type: "loseWorker" }
  | { readonly type: "loseJob" }
  | { readonly type: "timeOut" }
  | { readonly type: "cancel" }
  | { readonly type: "retry" };

/** The states in which each event can happen (contract, States and transitions). */
const ALLOWED_IN: Record<JobEvent["type"], readonly JobStatus[]> = {
  start: ["IN_QUEUE"],
  progress: ["IN_PROGRESS"],
  complete: ["IN_PROGRESS"],
  fail: ["IN_PROGRESS"],
  exceedExecutionTimeout: ["IN_PROGRESS"],
  loseWorker: ["IN_PROGRESS"],
  loseJob: ["IN_PROGRESS"],
  timeOut: ["IN_PROGRESS"],
  cancel: ["IN_QUEUE", "IN_PROGRESS"],
  retry: RETRYABLE_JOB_STATES,
};

/** How often a job is queued again after its worker died, before it fails (observed). */
const RETRIES_AFTER_LOST_WORKER = 1;

export function newJob(id: string, operation: Job["operation"], request: JobRequest, now: number): Job {
  const retentionMs = operation === "run" ? RUN_RESULT_RETENTION_MS : RUNSYNC_RESULT_RETENTION_MS.default;
  // Contains every field that a job may get later. Otherwise Node.js creates a hidden class for
  // each copy that adds a field.
  return {
    id,
    operation,
    request,
    status: "IN_QUEUE",
    submittedAt: now,
    queuedAt: now,
    startedAt: undefined,
    endedAt: undefined,
    workerId: undefined,
    retries: 0,
    output: undefined,
    error: undefined,
    stream: [],
    ttlMs: request.policy.ttl,
    retentionMs,
  };
}

/** The states in which a job can be retried, as messages name them. */
export const RETRYABLE = RETRYABLE_JOB_STATES.join(" and ");

export function canHappen(job: Job, type: JobEvent["type"]): boolean {
  return ALLOWED_IN[type].includes(job.status);
}

/**
 * Returns the job after an event.
 * @throws Error if the event cannot happen in the job's state
 */
export function apply(job: Job, event: JobEvent, now: number): Job {
  if (!canHappen(job, event.type))
    throw new Error(`Job ${job.id} is ${job.status}: ${event.type} cannot happen to it.`);
  switch (event.type) {
    case "start":
      return { ...job, status: "IN_PROGRESS", startedAt: now, workerId: event.workerId };
    case "progress":
      return { ...job, output: event.output };
    case "complete":
      return { ...job, status: "COMPLETED", output: event.output, endedAt: now };
    case "fail":
      return ended(job, "FAILED", now, event.error);
    case "exceedExecutionTimeout":
      return ended(job, "FAILED", now, "executionTimeout exceeded");
    case "loseWorker":
    case "loseJob":
      return job.retries < RETRIES_AFTER_LOST_WORKER
        ? queuedAgain(job, now, job.retries + 1)
        : ended(job, "FAILED", now, `job timed out after ${job.retries} retries`);
    case "timeOut":
      return ended(job, "TIMED_OUT", now);
    case "cancel":
      return ended(job, "CANCELLED", now);
    case "retry":
      return queuedAgain(job, now, 0);
  }
}

/**
 * Returns a saved job as it is after a restart. A job in progress is queued again, which does not
 * count as a retry.
 */
export function recovered(job: Job, now: number): Job {
  const known = withoutFuture(job, now);
  return job.status === "IN_PROGRESS" ? queuedAgain(known, now, job.retries) : known;
}

/**
 * The clock may have been set back since the job was saved. Times in the future are replaced by the
 * current time.
 */
function withoutFuture(job: Job, now: number): Job {
  if (Math.max(job.submittedAt, job.queuedAt, job.startedAt ?? 0, job.endedAt ?? 0) <= now) return job;
  const atMost = (time: number | undefined) => (time === undefined ? undefined : Math.min(time, now));
  return {
    ...job,
    submittedAt: Math.min(job.submittedAt, now),
    queuedAt: Math.min(job.queuedAt, now),
    startedAt: atMost(job.startedAt),
    endedAt: atMost(job.endedAt),
  };
}

/**
 * Returns the job with a new time to live. The result of `/runsync` is kept for the same time, but
 * at most for 5 minutes (assumed).
 */
export function withTtl(job: Job, ttlMs: number): Job {
  const { default: shortest, max } = RUNSYNC_RESULT_RETENTION_MS;
  const retentionMs = job.operation === "runsync" ? Math.max(shortest, Math.min(ttlMs, max)) : job.retentionMs;
  return { ...job, ttlMs, retentionMs };
}

export function hasEnded(job: Job): boolean {
  return TERMINAL_JOB_STATES.includes(job.status);
}

/**
 * Returns when the service deletes the job: at the end of its ttl or of its result's retention,
 * whichever is earlier.
 */
export function forgottenAt(job: Job): number {
  const ttlEnd = job.submittedAt + job.ttlMs;
  return job.endedAt === undefined ? ttlEnd : Math.min(ttlEnd, job.endedAt + job.retentionMs);
}

/** Returns the job in the form of `/status` and `/runsync` (contract, Job). */
export function jobRecord(job: Job, now: number, profile: Profile): Record<string, unknown> {
  const startedAt = job.startedAt ?? job.endedAt ?? now;
  return {
    id: job.id,
    status: job.status,
    delayTime: startedAt - job.queuedAt,
    executionTime: job.startedAt === undefined ? 0 : (job.endedAt ?? now) - startedAt,
    ...(job.output !== undefined && { output: job.output }),
    ...(job.error !== undefined && { error: job.error }),
    ...(job.retries > 0 && { retries: job.retries }),
    ...(profile === "observed" && job.workerId !== undefined && { workerId: job.workerId }),
  };
}

/** A progress update is not a result, so a job that ends without a result has no output. */
function ended(job: Job, status: JobStatus, now: number, error?: string): Job {
  return { ...job, status, endedAt: now, output: undefined, error };
}

function queuedAgain(job: Job, now: number, retries: number): Job {
  return {
    ...job,
    status: "IN_QUEUE",
    queuedAt: now,
    retries,
    startedAt: undefined,
    endedAt: undefined,
    workerId: undefined,
    output: undefined,
    error: undefined,
    stream: [],
  };
}
