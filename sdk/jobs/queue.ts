import { RUNSYNC_WAIT_MS } from "../contract/limits";
import { warn } from "../transport/observers";
import type { CallOptions } from "../transport/retryingCall";
import { pathSegment } from "../transport/urls";
import { JobHandle, type StatusOptions, type StreamOptions, type WaitOptions } from "./jobHandle";
import { type JobLifetime, jobLifetime, RETENTION_MS } from "./jobLifetime";
import { completedJob, type OutputSchema } from "./jobOutput";
import {
  type CompletedJob,
  type EndpointHealth,
  isTerminal,
  type Job,
  type JobState,
  type PurgeResult,
  type StreamItem,
} from "./jobRecord";
import { type CheckedJobRequest, checkJobRequest, checkTime, checkTimeout, type JobRequest } from "./jobRequest";
import { type OpenAiOptions, type OpenAiRequest, openai, openaiStream } from "./openai";
import { purgeQueue, readHealth, readRequests, readStatusOnce } from "./operations";
import { Poller } from "./poller";
import { createQueueTransport, type QueueContext, type QueueTransport } from "./queueTransport";
import { type SubmitOptions, type Submitted, submitRun, submitRunSync } from "./submit";

/** How `run` submits. */
export interface RunOptions<Output> extends SubmitOptions {
  /** What the job's output looks like, a zod schema for instance. Default: `unknown`. */
  readonly schema?: OutputSchema<Output> | undefined;
}

/** How `runSync` submits and waits. */
export interface RunSyncOptions<Output> extends RunOptions<Output> {
  /**
   * What an abort of `signal` does to the job: `detach` lets it go on, `cancel` cancels it before the call is rejected,
   * as `wait` does. A job must be known to be cancelled: with `cancel` it is submitted by `/run`, which takes 10 MB, and
   * `wait` has no effect.
   * @default "detach"
   */
  readonly onAbort?: WaitOptions["onAbort"];
  /** How long all of it may take, in milliseconds, at least 2,000. Default: until the job has ended. */
  readonly timeoutMs?: number | undefined;
  /**
   * How long the service holds the request back for the result, in milliseconds: 1,000 to 300,000. After that the client
   * asks for it. Default: what `timeoutMs` leaves, else 90,000.
   */
  readonly wait?: number | undefined;
}

/** What is known of a job that was submitted elsewhere. */
export interface JobOptions<Output> {
  /** What the job's output looks like. Default: `unknown`. */
  readonly schema?: OutputSchema<Output> | undefined;
  /** When it was submitted: then the handle knows when it expires. */
  readonly submittedAt?: Date | undefined;
  /** The `policy.ttl` that it was submitted with, in milliseconds. Default 86,400,000 (24 hours). */
  readonly ttl?: number | undefined;
}

/**
 * The queue of one endpoint (contract, Queue-based job API). Its limits and polls are shared by all that use it through
 * the same client.
 */
export interface EndpointQueue {
  /** Identifier of the endpoint. */
  readonly endpointId: string;
  /**
   * Submits a job and returns at once. It is sent again only when it certainly did nothing.
   * @throws InvalidInputError, before any call
   * @throws SubmitUncertainError when the job may have been submitted
   * @example
   * const job = await client.endpoint("abc").run({ input: { prompt: "Hi" } }, { schema: z.object({ text: z.string() }) });
   * const { output } = await job.wait({ timeoutMs: 60_000 });
   */
  run<Output = unknown>(request: JobRequest, options?: RunOptions<Output>): Promise<JobHandle<Output>>;
  /**
   * Submits a job and waits until it has completed.
   * @throws InvalidInputError, before any call
   * @throws SubmitUncertainError when the job may have been submitted
   * @throws JobFailedError when it failed, was cancelled or timed out
   * @throws WaitTimeoutError when the time is over; the job goes on, and the error holds its handle
   */
  runSync<Output = unknown>(request: JobRequest, options?: RunSyncOptions<Output>): Promise<CompletedJob<Output>>;
  /** A handle of a job by its id. It sends nothing. */
  job<Output = unknown>(jobId: string, options?: JobOptions<Output>): JobHandle<Output>;
  /**
   * Reads a job.
   * @throws NotFoundError when the service does not know it, or not any more
   */
  status(jobId: string, options?: StatusOptions): Promise<Job>;
  /** See `JobHandle.stream`. */
  stream<Item = unknown>(jobId: string, options?: StreamOptions<Item>): AsyncGenerator<StreamItem<Item>, void>;
  /** See `JobHandle.cancel`. */
  cancel(jobId: string, options?: CallOptions): Promise<JobState>;
  /** See `JobHandle.retry`. */
  retry(jobId: string, options?: CallOptions): Promise<JobState>;
  /**
   * Removes all waiting jobs. Those that are in progress keep running. It is sent again only when it certainly did
   * nothing.
   * @throws PurgeUncertainError when it may have taken place
   */
  purgeQueue(options?: CallOptions): Promise<PurgeResult>;
  /** Counts the endpoint's jobs and workers. */
  health(options?: CallOptions): Promise<EndpointHealth>;
  /** The endpoint's recent requests, in the service's own shape, which the contract does not show. */
  requests(options?: CallOptions): Promise<unknown>;
  /**
   * Passes a request through to the workers' OpenAI-compatible server: `openai("v1/chat/completions", { body })`.
   * @throws SubmitUncertainError when the answer to a request with a body was lost
   */
  openai<Output = unknown>(path: string, options?: OpenAiOptions<Output>): Promise<Output>;
  /** The same for an answer that is read as it comes, such as server-sent events. The signal ends the body too. */
  openaiStream(path: string, options?: OpenAiRequest): Promise<AsyncIterable<Uint8Array>>;
}

/** An endpoint's queue, and how to end what waits for its jobs. */
export interface ManagedQueue extends EndpointQueue {
  close(): void;
}

/** @throws InvalidInputError when the id cannot be part of a path */
export function createEndpointQueue(context: QueueContext, endpointId: string): ManagedQueue {
  const queue = createQueueTransport(context, endpointId);
  const { clock, retry } = context;
  const read = (jobId: string, signal: AbortSignal) => readStatusOnce(queue, jobId, signal);
  const poller = new Poller({ clock, read, maxOutageMs: retry.maxElapsedMs });

  const handle = <Output>(
    id: string,
    schema: OutputSchema<Output> | undefined,
    lifetime: JobLifetime,
    seenAt: number,
  ) => new JobHandle<Output>(id, { queue, poller, schema, lifetime, seenAt });

  const jobOf = <Output>(jobId: string, { schema, submittedAt, ttl }: JobOptions<Output> = {}) => {
    const lifetime = jobLifetime({ submittedAt: submittedAt?.getTime(), ...(ttl !== undefined && { ttlMs: ttl }) });
    return handle(pathSegment("jobId", jobId), schema, lifetime, Number.NEGATIVE_INFINITY);
  };

  return {
    endpointId,
    async run(request, { schema, ...options } = {}) {
      const { body, ttlMs } = checked(queue, "run", request);
      const { job, sentAt } = await submitRun(queue, body, options);
      const lifetime = { submittedAt: sentAt, ttlMs, retentionMs: RETENTION_MS.run };
      return handle(job.id, schema, lifetime, clock.monotonic());
    },
    async runSync(request, { schema, timeoutMs, wait, onAbort, ...options } = {}) {
      // What the service holds back has no id yet that could be cancelled.
      const operation = onAbort === "cancel" ? "run" : "runsync";
      const { body, ttlMs } = checked(queue, operation, request);
      checkTime("wait", wait);
      checkTimeout(timeoutMs, SHORTEST_RUNSYNC_MS);
      const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
      const waitMs = wait ?? (timeoutMs === undefined ? RUNSYNC_WAIT_MS.default : RUNSYNC_WAIT_MS.max);
      const { job, sentAt }: Submitted<Job> =
        operation === "run"
          ? await submitRun(queue, body, options, { timeoutMs, keepsAttempt: true })
          : await submitRunSync(queue, body, { waitMs, timeoutMs }, options);
      if (operation === "runsync" && isTerminal(job.status)) return completedJob(job, schema);
      const lifetime = { submittedAt: sentAt, ttlMs, retentionMs: RETENTION_MS[operation] };
      const timeLeftMs = deadline === undefined ? undefined : Math.max(0, deadline - clock.monotonic());
      const { signal } = options;
      return handle(job.id, schema, lifetime, clock.monotonic()).wait({ timeoutMs: timeLeftMs, signal, onAbort });
    },
    job: jobOf,
    status: async (jobId, options) => jobOf(jobId).status(options),
    stream: (jobId, options) => jobOf(jobId).stream(options),
    cancel: async (jobId, options) => jobOf(jobId).cancel(options),
    retry: async (jobId, options) => jobOf(jobId).retry(options),
    purgeQueue: (options) => purgeQueue(queue, options?.signal),
    health: (options) => readHealth(queue, options?.signal),
    requests: (options) => readRequests(queue, options?.signal),
    openai: (path, options = {}) => openai(queue, path, options),
    openaiStream: (path, options = {}) => openaiStream(queue, path, options),
    close: () => poller.close(),
  };
}

/** The service waits at least a second for a result, and its answer has to come back. */
const SHORTEST_RUNSYNC_MS = 2 * RUNSYNC_WAIT_MS.min;

function checked(queue: QueueTransport, operation: "run" | "runsync", request: JobRequest): CheckedJobRequest {
  const result = checkJobRequest(operation, request);
  for (const warning of result.warnings) warn(queue.context.logger, { endpointId: queue.endpointId }, warning);
  return result;
}
