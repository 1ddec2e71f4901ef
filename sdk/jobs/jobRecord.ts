import * as z from "zod";
import { type JobState, type OpenEnum, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "../contract/enums";

/**
 * The status of a job. An unknown status means that the job has not ended.
 * @useDeclaredType
 */
export type JobStatus = OpenEnum<JobState>;

/**
 * A job as returned by RunPod (contract, Job). Optional fields whose value is not valid are left
 * out. Responses to a submit, a cancellation or a retry contain only `id` and `status` (contract,
 * Cancel result).
 */
export interface Job {
  /**
   * The id of the job. It is empty only if RunPod returned a result of `/runsync` without an id.
   */
  readonly id: string;
  /** The status of the job. */
  readonly status: JobStatus;
  /** How long it took until a worker picked up the job, in milliseconds. */
  readonly delayTime?: number | null;
  /** How long the job ran, in milliseconds. */
  readonly executionTime?: number | null;
  /** The handler's result. While the job is in progress, this may be a progress update. */
  readonly output?: unknown;
  /** The reason why the job failed. This may be a string that contains JSON. */
  readonly error?: unknown;
  /** The number of workers that were lost while they ran the job. */
  readonly retries?: number | null;
  /** The id of the worker that picked up the job. */
  readonly workerId?: string | null;
}

/** A completed job with its handler's result. */
export interface CompletedJob<Output = unknown> extends Job {
  /** Always `COMPLETED`, because only completed jobs have a result. */
  readonly status: "COMPLETED";
  /** The handler's result, or the value that the schema returned for it if there is a schema. */
  readonly output: Output;
}

/** A piece of a job's output (contract, Stream item). */
export interface StreamItem<Output = unknown> {
  /**
   * A piece of the handler's output, or the value that the schema returned for it if there is a
   * schema.
   */
  readonly output: Output;
  /** Statistics about the piece, in a format that the worker defines. */
  readonly metrics?: Readonly<Record<string, unknown>> | null;
}

/**
 * The response to one read of `/stream`. If it contains no `status`, only `/status` shows whether
 * more pieces may follow.
 */
export interface StreamChunk {
  /** The id of the job, if the response contains it. */
  readonly id?: string;
  readonly items: StreamItem[];
  /**
   * The number of valid pieces before the first item that is not a piece. Items that are not pieces
   * are left out. `undefined` if all items are pieces.
   */
  readonly oddAfter?: number;
  readonly status?: JobStatus;
}

/** The result of purging the queue (contract, Purge result). */
export interface PurgeResult {
  /** The number of waiting jobs that were removed. */
  readonly removed: number;
  /** The lowercase word that RunPod returns when the purge is complete. */
  readonly status: string;
}

/** An endpoint's job counts, by state (contract, Health record). */
export interface JobCounts {
  /** Jobs that completed (integer, ≥ 0). */
  readonly completed: number;
  /** Jobs that failed (integer, ≥ 0). */
  readonly failed: number;
  /** Jobs in progress (integer, ≥ 0). */
  readonly inProgress: number;
  /** Jobs that are waiting for a worker (integer, ≥ 0). */
  readonly inQueue: number;
  /** Jobs that were retried (integer, ≥ 0). */
  readonly retried: number;
}

/**
 * An endpoint's worker counts, by state (contract, Health record; the fields after `running`:
 * observed at a running service).
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
  /** Workers that are waiting for a free GPU (integer, ≥ 0). */
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
// An invalid value in a minor field must not make the user lose a result.
const optionalNumeric = numeric.nullish().catch(undefined);

// Keep fields that the service adds.
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

/** The response to `/cancel` and `/retry` (contract, Cancel result). */
export const jobStatusSchema: z.ZodType<Job> = z.looseObject({ id, status });

// If there is a valid id, the job exists, and `/status` returns its status. An id in an unusual
// format proves nothing without a status.
const withoutStatus = { id: z.string().min(1), status: status.catch("IN_QUEUE") };

/** The response to `/run`. */
export const submittedSchema: z.ZodType<Job> = z.union([jobStatusSchema, z.looseObject(withoutStatus)]);

/** The response to `/runsync`. */
export const submittedSyncSchema: z.ZodType<Job> = z.union([
  jobSchema,
  jobSchema.extend(withoutStatus),
  // A result that the user paid for is returned even if it has no id.
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
 * The response to `/stream`: either only the list (contract), or the list together with the job's
 * status (observed).
 */
export const streamSchema = z.union([
  z.array(z.unknown()).transform(piecesOf),
  z
    .looseObject({ id: id.optional().catch(undefined), status, stream: z.array(z.unknown()) })
    .transform(
      ({ id, status, stream }): StreamChunk => ({ ...(id !== undefined && { id }), ...piecesOf(stream), status }),
    ),
]);

/**
 * Returns the pieces without items that are not pieces, so that the user does not lose the other
 * pieces because of one invalid item.
 */
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

/** The service leaves out counts that are 0 (observed). */
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

/**
 * Returns `true` if a job with this status has ended. After that, only `retry` can change the
 * status.
 */
export function isTerminal(jobStatus: JobStatus): boolean {
  return (TERMINAL_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Returns `true` if `/retry` accepts a job with this status (contract, Endpoints, rule 3). */
export function isRetryable(jobStatus: JobStatus): boolean {
  return (RETRYABLE_JOB_STATES as readonly string[]).includes(jobStatus);
}

/**
 * Returns `true` if the job completed. In that case, its `output` is the handler's result and not a
 * progress update.
 */
export function isCompleted<T extends Job>(job: T): job is T & Pick<CompletedJob, "status"> {
  return job.status === "COMPLETED";
}
