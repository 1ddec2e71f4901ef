import { z } from "zod";
import type { OpenEnum } from "./enums";
import { type JOB_STATES, RETRYABLE_JOB_STATES, TERMINAL_JOB_STATES } from "./spec";

/** A job's state. Words that are not known here stand for a job that has not ended. */
export type JobStatus = OpenEnum<(typeof JOB_STATES)[number]>;

const status = z.custom<JobStatus>((value) => typeof value === "string" && value !== "", "must be a text");
const id = z.string().min(1);
const numeric = z.number().nullish();

export const jobSchema = z.looseObject({
  /** Job identifier. */
  id,
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
export type Job = z.infer<typeof jobSchema>;

/** A job that completed, with its handler's result. */
export type CompletedJob<Output = unknown> = Job & { readonly status: "COMPLETED"; readonly output: Output };

/** What `/run`, `/cancel` and `/retry` answer (contract, Cancel result). */
export const jobStateSchema = z.looseObject({ id, status });
export type JobState = z.infer<typeof jobStateSchema>;

const streamItemSchema = z.looseObject({
  /** One piece of the handler's output, of a shape that the worker defines. */
  output: z.unknown(),
  /** Statistics for the piece, of a shape that the worker defines. */
  metrics: z.record(z.string(), z.unknown()).nullish(),
});

/** A piece of a job's output (contract, Stream item). */
export type StreamItem<Output = unknown> = Omit<z.infer<typeof streamItemSchema>, "output"> & {
  readonly output: Output;
};

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
export type PurgeResult = z.infer<typeof purgeSchema>;

export const healthSchema = z.looseObject({
  /** Numbers of jobs. */
  jobs: z.looseObject({
    completed: z.number(),
    failed: z.number(),
    inProgress: z.number(),
    inQueue: z.number(),
    retried: z.number(),
  }),
  /** Numbers of workers; those after `running` are not in the contract. */
  workers: z.looseObject({
    idle: z.number(),
    running: z.number(),
    initializing: numeric,
    ready: numeric,
    throttled: numeric,
    unhealthy: numeric,
  }),
});

/** The state of an endpoint's queue and workers (contract, Health record). */
export type EndpointHealth = z.infer<typeof healthSchema>;

/** Whether a job in this state has ended. Only `retry` takes it out of it again. */
export function isTerminal(jobStatus: JobStatus): boolean {
  return (TERMINAL_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Whether `/retry` takes a job in this state (contract, Endpoints, rule 3). */
export function isRetryable(jobStatus: JobStatus): boolean {
  return (RETRYABLE_JOB_STATES as readonly string[]).includes(jobStatus);
}

/** Whether the job completed: then its `output` is the handler's result, and no progress update. */
export function isCompleted<T extends { readonly status: JobStatus }>(
  job: T,
): job is T & { readonly status: "COMPLETED" } {
  return job.status === "COMPLETED";
}
