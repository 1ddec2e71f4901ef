import * as z from "zod";
import { type JobState, type OpenEnum, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "../contract/enums";

/**
 * A job's status. An unknown status means that the job has not ended.
 * @useDeclaredType
 */
export type JobStatus = OpenEnum<JobState>;

/**
 * A job at the service (contract, Job). Optional fields with an unreadable value are left out. The
 * responses to a submit, a cancel and a retry have only `id` and `status` (contract, Cancel
 * result).
 */
export interface Job {
  /** The id of the job. Empty only if the service returned a result of `/runsync` without an id. */
  readonly id: string;
  /** The job's status. */
  readonly status: JobStatus;
  /** The time before a worker took the job, in milliseconds. */
  readonly delayTime?: number | null;
  /** The time that it ran, in milliseconds. */
  readonly executionTime?: number | null;
  /** The handler's result. While the job is in progress it may be a progress update. */
  readonly output?: unknown;
  /** The reason why the job failed. It may be a string of JSON. */
  readonly error?: unknown;
  /** The number of workers that were lost while they ran the job. */
  readonly retries?: number | null;
  /** The worker that took the job. */
  readonly workerId?: string | null;
}

/** A job that completed, with its handler's result. */
export interface CompletedJob<Output = unknown> extends Job {
  /** Only completed jobs have a result. */
  readonly status: "COMPLETED";
  /** The handler's result, as the schema returned it where one was given. */
  readonly output: Output;
}

/** One piece of a job's output (contract, Stream item). */
export interface StreamItem<Output = unknown> {
  /** One piece of the handler's output, as the schema returned it where one was given. */
  readonly output: Output;
  /** Statistics for the piece, of a shape that the worker defines. */
  readonly metrics?: Readonly<Record<string, unknown>> | null;
}

/**
 * The response of one read of `/stream`. Without a `status`, only `/status` shows whether more
 * pieces may come.
 */
export interface StreamChunk {
  /** The id of the job, if the response has it. */
  readonly id?: string;
  readonly items: StreamItem[];
  /**
   * The number of pieces before the first item that is not one, and was left out. Not set if there
   * was none.
   */
  readonly oddAfter?: number;
  readonly status?: JobStatus;
}

/** The result of purging the queue (contract, Purge result). */
export interface PurgeResult {
  /** The number of waiting jobs that were removed. */
  readonly removed: number;
  /** The service's word for the completed purge, in lower case. */
  readonly status: string;
}

/** Job counts of an endpoint, by state (contract, Health record). */
export interface JobCounts {
  /** Jobs that completed (integer, ≥ 0). */
  readonly completed: number;
  /** Jobs that failed (integer, ≥ 0). */
  readonly failed: number;
  /** Jobs in progress (integer, ≥ 0). */
  readonly inProgress: number;
  /** Jobs that wait for a worker (integer, ≥ 0). */
  readonly inQueue: number;
  /** Jobs that were retried (integer, ≥ 0). */
  readonly retried: number;
}

/**
 * Worker counts of an endpoint, by state (contract, Health record; the fields after `running`:
 * observed).
 */
export interface WorkerCounts {
  /** Workers without a job (integer, ≥ 0). */
  readonly idle: number;
  /** Workers with a job (integer, ≥ 0). */
  readonly running: number;
  /** Workers that are starting (integer, ≥ 0). */
  readonly initializing?: number | null;
  /** Workers that can take a job (integer, ≥ 0). */
  readonly ready?: number | null;
  /** Workers that wait for a free GPU (integer, ≥ 0). */
  readonly throttled?: number | null;
  /** Workers that crashed or do not respond (integer, ≥ 0). */
  readonly unhealthy?: number | null;
}

/** The state of an endpoint's queue and workers (contract, Health record). */
export interface EndpointHealth {
  /** Job counts. */
  readonly jobs: JobCounts;
  /** Worker counts. */
  readonly workers: WorkerCounts;
}

const status = z.custom<JobStatus>((value) => typeof value === "string" && value !== "", "must be a string");
const wholeAsString = z.int().transform(String);
const id = z.union([z.string().min(1), wholeAsString]);
const numericString = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/)
  .transform(Number);
const numeric = z.union([z.number(), numericString]);
// A bad value in a minor field must not cost the user a result.
const optionalNumeric = numeric.nullish().catch(undefined);

// Fields that the service adds are kept.
export const jobSchema = z.looseObject({
  id,
  status,
  delayTime: optionalNumeric,
  executionTime: optionalNumeric,
  output: z.unknown().optional(),
  error: z.unknown().optional(),
  retries: optionalNumeric,
  workerId: z.union([z.string(), wholeAsString]).nullish().catch(undefined),
}) satisfies z.ZodType<Job>;

/** The response of `/cancel` and `/retry` (contract, Cancel result). */
export const jobStatusSchema: z.ZodType<Job> = z.looseObject({ id, status });

// A job that has an id exists, and `/status` returns its status. An odd id alone proves nothing.
const withoutStatus = { id: z.string().min(1), status: status.catch("IN_QUEUE") };

/** The response of `/run`. */
export const submittedSchema: z.ZodType<Job> = z.union([jobStatusSchema, z.looseObject(withoutStatus)]);

/** The response of `/runsync`. */
export const submittedSyncSchema: z.ZodType<Job> = z.union([
  jobSchema,
  jobSchema.extend(withoutStatus),
  // A result that was paid for is returned even without an id.
  jobSchema.extend({
    id: z.literal("").catch(""),
    status: z.literal("COMPLETED"),
    output: z.unknown().refine((output) => output !== undefined),
  }),
]);

const streamItemSchema: z.ZodType<StreamItem> = z.looseObject({
  output: z.unknown(),
  metrics: z.record(z.string(), z.unknown()).nullish().catch(undefined),
});

/**
 * The response of `/stream`: a bare list (contract), or the list with the job's status (observed).
 */
export const streamSchema = z.union([
  z.array(z.unknown()).transform(piecesOf),
  z
    .looseObject({ id: id.optional().catch(undefined), status, stream: z.array(z.unknown()) })
    .transform(
      ({ id, status, stream }): StreamChunk => ({ ...(id !== undefined && { id }), ...piecesOf(stream), status }),
    ),
]);

/** Leaves out the items that are not pieces: one odd item must not cost the others. */
function piecesOf(given: readonly unknown[]): StreamChunk {
  const items: StreamItem[] = [];
  let oddAfter: number | undefined;
  for (const item of given) {
    const { success, data } = streamItemSchema.safeParse(item);
    if (success) items.push(data);
    else oddAfter ??= items.length;
  }
  return { items, ...(oddAfter !== undefined && { oddAfter }) };
}

export const purgeSchema = z.looseObject({ removed: numeric, status: z.string() }) satisfies z.ZodType<PurgeResult>;

/** The service leaves out counts of 0 (observed). */
const count = numeric.nullish().transform((value) => value ?? 0);

const jobCountsSchema = z.looseObject({
  completed: count,
  failed: count,
  inProgress: count,
  inQueue: count,
  retried: count,
});

const workerCountsSchema = z.looseObject({
  idle: count,
  running: count,
  initializing: optionalNumeric,
  ready: optionalNumeric,
  throttled: optionalNumeric,
  unhealthy: optionalNumeric,
});

export const healthSchema = z.looseObject({
  jobs: jobCountsSchema,
  workers: workerCountsSchema,
}) satisfies z.ZodType<EndpointHealth>;

/** Returns `true` if a job with this status has ended. Only `retry` changes such a status. */
export function isTerminal(jobStatus: JobStatus): boolean {
  return (TERMINAL_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Returns `true` if `/retry` accepts a job with this status (contract, Endpoints, rule 3). */
export function isRetryable(jobStatus: JobStatus): boolean {
  return (RETRYABLE_JOB_STATES as readonly string[]).includes(jobStatus);
}

/**
 * Returns `true` if the job completed. Its `output` is then the handler's result, not a progress
 * update.
 */
export function isCompleted<T extends Job>(job: T): job is T & Pick<CompletedJob, "status"> {
  return job.status === "COMPLETED";
}
