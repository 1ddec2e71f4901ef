import { z } from "zod";
import type { OpenEnum } from "../contract/enums";
import { type JOB_STATES, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "../contract/limits";

/**
 * A job's state. Words that are not known here stand for a job that has not ended.
 * @useDeclaredType
 */
export type JobStatus = OpenEnum<(typeof JOB_STATES)[number]>;

/** A job as the service shows it (contract, Job). An optional field of a type that cannot be read is left out. */
export interface Job {
  /** Job identifier. Empty only where the service gave a result of `/runsync` without one. */
  readonly id: string;
  /** The job's state. */
  readonly status: JobStatus;
  /** Milliseconds that the job waited before a worker took it. */
  readonly delayTime?: number | null;
  /** Milliseconds that it ran. */
  readonly executionTime?: number | null;
  /** The handler's result. While the job is in progress it may be a progress update. */
  readonly output?: unknown;
  /** Why the job failed; at times JSON text. */
  readonly error?: unknown;
  /** How often a worker was lost under the job. */
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

/** What `/run`, `/cancel` and `/retry` answer (contract, Cancel result). */
export interface JobState {
  /** Job identifier. */
  readonly id: string;
  /** The state that the job is in now. */
  readonly status: JobStatus;
}

/** A piece of a job's output (contract, Stream item). */
export interface StreamItem<Output = unknown> {
  /** One piece of the handler's output, as the schema returned it where one was given. */
  readonly output: Output;
  /** Statistics for the piece, of a shape that the worker defines. */
  readonly metrics?: Readonly<Record<string, unknown>> | null;
}

/** What one read of `/stream` hands out. Without a `status`, `/status` must tell whether more may come. */
export interface StreamChunk {
  /** The job that it is about, where the service says so. */
  readonly id?: string;
  readonly items: StreamItem[];
  readonly status?: JobStatus;
}

/** What a purge of the queue did (contract, Purge result). */
export interface PurgeResult {
  /** How many waiting jobs were removed. */
  readonly removed: number;
  /** A lower-case word for completion. */
  readonly status: string;
}

/** Numbers of an endpoint's jobs by their state (contract, Health record). */
export interface JobCounts {
  /** Jobs that completed. */
  readonly completed: number;
  /** Jobs that failed. */
  readonly failed: number;
  /** Jobs that a worker has. */
  readonly inProgress: number;
  /** Jobs that wait for a worker. */
  readonly inQueue: number;
  /** Jobs that were tried again. */
  readonly retried: number;
}

/** Numbers of an endpoint's workers by their state (contract, Health record; those after `running` are observed). */
export interface WorkerCounts {
  /** Workers without a job. */
  readonly idle: number;
  /** Workers with a job. */
  readonly running: number;
  /** Workers that start. */
  readonly initializing?: number | null;
  /** Workers that can take a job. */
  readonly ready?: number | null;
  /** Workers that wait for a free GPU. */
  readonly throttled?: number | null;
  /** Workers that crashed or do not answer. */
  readonly unhealthy?: number | null;
}

/** The state of an endpoint's queue and workers (contract, Health record). */
export interface EndpointHealth {
  /** Numbers of jobs. */
  readonly jobs: JobCounts;
  /** Numbers of workers. */
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
// A result that was paid for must not be lost because of a field beside it.
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

export const jobStateSchema: z.ZodType<JobState> = z.looseObject({ id, status });

// A job that has an id exists, and `/status` tells its state. An odd id alone proves nothing.
const stateless = { id: z.string().min(1), status: status.catch("IN_QUEUE") };

/** What `/run` responds. */
export const submittedSchema: z.ZodType<JobState> = z.union([jobStateSchema, z.looseObject(stateless)]);

/** What `/runsync` responds. */
export const submittedSyncSchema: z.ZodType<Job> = z.union([
  jobSchema,
  jobSchema.extend(stateless),
  // A result that was paid for needs no id to be handed over.
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

/** `/stream` answers a bare list (contract), or the list with the job's state (observed). */
export const streamSchema = z.union([
  z.array(streamItemSchema).transform((items): StreamChunk => ({ items })),
  z
    .looseObject({ id: id.optional().catch(undefined), status, stream: z.array(streamItemSchema) })
    .transform(({ id, status, stream }): StreamChunk => ({ ...(id !== undefined && { id }), items: stream, status })),
]);

export const purgeSchema = z.looseObject({ removed: numeric, status: z.string() }) satisfies z.ZodType<PurgeResult>;

const jobCountsSchema = z.looseObject({
  completed: numeric,
  failed: numeric,
  inProgress: numeric,
  inQueue: numeric,
  retried: numeric,
});

const workerCountsSchema = z.looseObject({
  idle: numeric,
  running: numeric,
  initializing: optionalNumeric,
  ready: optionalNumeric,
  throttled: optionalNumeric,
  unhealthy: optionalNumeric,
});

export const healthSchema = z.looseObject({
  jobs: jobCountsSchema,
  workers: workerCountsSchema,
}) satisfies z.ZodType<EndpointHealth>;

/** Whether a job in this state has ended. Only `retry` takes it out of it again. */
export function isTerminal(jobStatus: JobStatus): boolean {
  return (TERMINAL_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Whether `/retry` takes a job in this state (contract, Endpoints, rule 3). */
export function isRetryable(jobStatus: JobStatus): boolean {
  return (RETRYABLE_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Whether the job completed: then its `output` is the handler's result, and no progress update. */
export function isCompleted<T extends JobState>(job: T): job is T & Pick<CompletedJob, "status"> {
  return job.status === "COMPLETED";
}
