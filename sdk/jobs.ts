import { z } from "zod";
import type { OpenEnum } from "./enums";
import { type JOB_STATES, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "./spec";

/**
 * A job's state. Words that are not known here stand for a job that has not ended.
 * @useDeclaredType
 */
export type JobStatus = OpenEnum<(typeof JOB_STATES)[number]>;

const status = z.custom<JobStatus>((value) => typeof value === "string" && value !== "", "must be a text");
const id = z.string().min(1);
const numeric = z.number().nullish();

export const jobSchema = z.looseObject({
  /** Job identifier. */
  id,
  /** The job's state. */
  status,
  /** Milliseconds that the job waited before a worker took it. */
  delayTime: numeric,
  /** Milliseconds that it ran. */
  executionTime: numeric,
  /** The handler's result. While the job is in progress it may be a progress update. */
  output: z.unknown().optional(),
  /** Why the job failed; at times JSON text. */
  error: z.unknown().optional(),
  /** How often a worker was lost under the job. */
  retries: numeric,
  /** The worker that took the job. */
  workerId: z.string().nullish(),
});

/** A job as the service shows it (contract, Job). Fields that the service adds are kept. */
export interface Job extends z.infer<typeof jobSchema> {}

/** A job that completed, with its handler's result. */
export interface CompletedJob<Output = unknown> extends Job {
  /** Only completed jobs have a result. */
  readonly status: "COMPLETED";
  /** The handler's result, as the schema returned it where one was given. */
  readonly output: Output;
}

export const jobStateSchema = z.looseObject({
  /** Job identifier. */
  id,
  /** The state that the job is in now. */
  status,
});

/** What `/run`, `/cancel` and `/retry` answer (contract, Cancel result). */
export interface JobState extends z.infer<typeof jobStateSchema> {}

const streamItemSchema = z.looseObject({
  /** One piece of the handler's output, of a shape that the worker defines. */
  output: z.unknown(),
  /** Statistics for the piece, of a shape that the worker defines. */
  metrics: z.record(z.string(), z.unknown()).nullish(),
});

/** A piece of a job's output (contract, Stream item). */
export interface StreamItem<Output = unknown> extends z.infer<typeof streamItemSchema> {
  /** One piece of the handler's output, as the schema returned it where one was given. */
  readonly output: Output;
}

/** What one read of `/stream` hands out. Without a `status`, `/status` must tell whether more may come. */
export interface StreamChunk {
  readonly items: StreamItem[];
  readonly status?: JobStatus;
}

/** `/stream` answers a bare list (contract), or the list with the job's state (observed). */
export const streamSchema = z.union([
  z.array(streamItemSchema).transform((items): StreamChunk => ({ items })),
  z
    .looseObject({ status, stream: z.array(streamItemSchema) })
    .transform((answer): StreamChunk => ({ items: answer.stream, status: answer.status })),
]);

export const purgeSchema = z.looseObject({
  /** How many waiting jobs were removed. */
  removed: z.number(),
  /** A lower-case word for completion. */
  status: z.string(),
});

/** What a purge of the queue did (contract, Purge result). */
export interface PurgeResult extends z.infer<typeof purgeSchema> {}

export const healthSchema = z.looseObject({
  /** Numbers of jobs. */
  jobs: z.looseObject({
    /** Jobs that completed. */
    completed: z.number(),
    /** Jobs that failed. */
    failed: z.number(),
    /** Jobs that a worker has. */
    inProgress: z.number(),
    /** Jobs that wait for a worker. */
    inQueue: z.number(),
    /** Jobs that were tried again. */
    retried: z.number(),
  }),
  /** Numbers of workers; those after `running` are not in the contract. */
  workers: z.looseObject({
    /** Workers without a job. */
    idle: z.number(),
    /** Workers with a job. */
    running: z.number(),
    /** Workers that start. */
    initializing: numeric,
    /** Workers that can take a job. */
    ready: numeric,
    /** Workers that wait for a free GPU. */
    throttled: numeric,
    /** Workers that crashed or do not answer. */
    unhealthy: numeric,
  }),
});

/** The state of an endpoint's queue and workers (contract, Health record). */
export interface EndpointHealth extends z.infer<typeof healthSchema> {}

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
