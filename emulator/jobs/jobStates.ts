import {
  EXECUTION_TIMEOUT_MS,
  type JOB_STATES,
  JOB_TTL_MS,
  RETRYABLE_JOB_STATES,
  RUN_RESULT_RETENTION_MS,
  RUNSYNC_RESULT_RETENTION_MS,
  TERMINAL_JOB_STATES,
} from "../../sdk/contract/limits";
import type { Profile } from "../model/fidelity";

export type JobState = (typeof JOB_STATES)[number];

/** What a caller submits (contract, Job request body), its policy filled with the defaults. */
export interface JobRequest {
  /** Parameters for the handler. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The address to call when the job has ended. */
  readonly webhook?: string;
  /** How long the job may live and run. */
  readonly policy: {
    /** How long it may run once a worker has it, in milliseconds. */
    readonly executionTimeout: number;
    /** Whether it leaves the number of workers as it is. */
    readonly lowPriority: boolean;
    /** How long it exists, waiting and running together, in milliseconds. */
    readonly ttl: number;
  };
  /** Storage that is handed to the worker. */
  readonly s3Config?: Readonly<Record<string, string>>;
}

export const DEFAULT_POLICY: JobRequest["policy"] = {
  executionTimeout: EXECUTION_TIMEOUT_MS.default,
  lowPriority: false,
  ttl: JOB_TTL_MS.default,
};

/** One piece of a streaming handler's output (contract, Stream item). */
export interface StreamItem {
  readonly output: unknown;
  readonly metrics: Readonly<Record<string, unknown>>;
}

/** A job as the service keeps it. All times are milliseconds since the epoch. */
export interface Job {
  readonly id: string;
  readonly operation: "run" | "runsync";
  readonly request: JobRequest;
  readonly status: JobState;
  readonly submittedAt: number;
  /** When it last entered the queue. */
  readonly queuedAt: number;
  /** When a worker last picked it up. */
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly workerId?: string;
  /** How often a worker died under it since it was submitted or retried. */
  readonly retries: number;
  /** The handler's result, or its last progress update while the job is in progress. */
  readonly output?: unknown;
  readonly error?: string;
  /** What `/stream` has not yet handed out; grows and shrinks in place. */
  readonly stream: StreamItem[];
  /** Milliseconds from `submittedAt`, after which the job is deleted in any state. */
  readonly ttlMs: number;
  /** How long the result of an ended job is kept, in milliseconds. */
  readonly retentionMs: number;
}

/** What can happen to a job. */
export type JobEvent =
  | { readonly type: "start"; readonly workerId: string }
  | { readonly type: "progress"; readonly output: unknown }
  | { readonly type: "complete"; readonly output: unknown }
  | { readonly type: "fail"; readonly error: string }
  | { readonly type: "exceedExecutionTimeout" }
  | { readonly type: "loseWorker" }
  | { readonly type: "timeOut" }
  | { readonly type: "cancel" }
  | { readonly type: "retry" };

/** The states in which an event can happen (contract, States and transitions). */
const ALLOWED_IN: Record<JobEvent["type"], readonly JobState[]> = {
  start: ["IN_QUEUE"],
  progress: ["IN_PROGRESS"],
  complete: ["IN_PROGRESS"],
  fail: ["IN_PROGRESS"],
  exceedExecutionTimeout: ["IN_PROGRESS"],
  loseWorker: ["IN_PROGRESS"],
  timeOut: ["IN_PROGRESS"],
  cancel: ["IN_QUEUE", "IN_PROGRESS"],
  retry: RETRYABLE_JOB_STATES,
};

/** A job whose worker dies goes back to the queue this many times, then it fails (observed). */
const RETRIES_AFTER_LOST_WORKER = 1;

export function newJob(id: string, operation: Job["operation"], request: JobRequest, now: number): Job {
  const retentionMs = operation === "run" ? RUN_RESULT_RETENTION_MS : RUNSYNC_RESULT_RETENTION_MS.default;
  const times = { submittedAt: now, queuedAt: now, ttlMs: request.policy.ttl, retentionMs };
  return { id, operation, request, status: "IN_QUEUE", retries: 0, stream: [], ...times };
}

export function canHappen(job: Job, type: JobEvent["type"]): boolean {
  return ALLOWED_IN[type].includes(job.status);
}

/** The job after the event. Throws when the event cannot happen in the job's state. */
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

/** A job that was in progress when the emulator stopped goes back to the queue; it is not counted as a retry. */
export function recovered(job: Job, now: number): Job {
  const known = withoutFuture(job, now);
  return job.status === "IN_PROGRESS" ? queuedAgain(known, now, job.retries) : known;
}

/** Another process may have saved a job before the clock was set back: what has happened happened now at the latest. */
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

/** The job with another time to live. A /runsync result is then kept for that long, 5 minutes at most (assumed). */
export function withTtl(job: Job, ttlMs: number): Job {
  const { default: shortest, max } = RUNSYNC_RESULT_RETENTION_MS;
  const retentionMs = job.operation === "runsync" ? Math.max(shortest, Math.min(ttlMs, max)) : job.retentionMs;
  return { ...job, ttlMs, retentionMs };
}

export function hasEnded(job: Job): boolean {
  return (TERMINAL_JOB_STATES as readonly JobState[]).includes(job.status);
}

/** When the service forgets the job: its ttl, or the retention of its result if that is sooner. */
export function forgottenAt(job: Job): number {
  const ttlEnd = job.submittedAt + job.ttlMs;
  return job.endedAt === undefined ? ttlEnd : Math.min(ttlEnd, job.endedAt + job.retentionMs);
}

/** The job as `/status` and `/runsync` show it (contract, Job). */
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

/** A progress update is no result: it goes when the job ends without one. */
function ended(job: Job, status: JobState, now: number, error?: string): Job {
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
