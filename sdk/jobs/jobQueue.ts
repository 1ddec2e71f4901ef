import { RUNSYNC_WAIT_MS } from "../contract/limits";
import {
  aDate,
  aSchema,
  checkCallOptions,
  msFrom,
  type OptionChecks,
  REQUEST_OPTIONS,
  wholeMs,
} from "../transport/callOptions";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { pathSegment } from "../transport/urls";
import { JobHandle } from "./jobHandle";
import { ON_ABORT, type StatusOptions, TTL, type WaitOptions } from "./jobHandleOptions";
import { type JobLifetime, jobLifetime, RETENTION_MS } from "./jobLifetime";
import { completedJob, type OutputSchema } from "./jobOutput";
import { type CompletedJob, type EndpointHealth, isTerminal, type Job, type PurgeResult } from "./jobRecord";
import { type CheckedJobRequest, checkJobRequest, type JobRequest } from "./jobRequest";
import { holdStatusOnce, purgeQueue, readHealth, readRequests, readStatusOnce } from "./operations";
import { HOLD_MS, Poller } from "./poller";
import { createQueueTransport, type QueueContext, type QueueTransport } from "./queueTransport";
import {
  SUBMIT_OPTIONS,
  type SubmitOptions,
  type SubmitTimes,
  type Submitted,
  submitRun,
  submitRunSync,
} from "./submit";

/** Options for `run`. */
export interface RunOptions<Output> extends SubmitOptions {
  /**
   * The schema of the job's output, such as a zod schema or another Standard Schema.
   * @default none: the output is `unknown`
   */
  readonly schema?: OutputSchema<Output> | undefined;
}

const RUN_OPTIONS: OptionChecks<RunOptions<unknown>> = { ...SUBMIT_OPTIONS, schema: aSchema };

/** Options for `runSync`. */
export interface RunSyncOptions<Output> extends RunOptions<Output> {
  /**
   * What happens to the job when `signal` aborts: `detach` lets the job continue, `cancel` cancels
   * it before the call rejects, just as in `wait`. With `cancel`, the job is submitted with `/run`,
   * which accepts bodies up to 10 MB, and `wait` has no effect.
   * @default "detach"
   */
  readonly onAbort?: WaitOptions["onAbort"];
  /** The timeout of the whole call, in milliseconds, ≥ 2,000. @default until the job has ended */
  readonly timeoutMs?: number | undefined;
  /**
   * How long RunPod holds the request while it waits for the result, in milliseconds (integer,
   * 1,000 to 300,000). After that, the client polls.
   * @default the time that `timeoutMs` leaves, else 90,000
   */
  readonly wait?: number | undefined;
}

/**
 * The shortest timeout, in milliseconds. The service waits for at least a second, and its response
 * needs some time to arrive.
 */
const SHORTEST_RUNSYNC_MS = 2 * RUNSYNC_WAIT_MS.min;

const RUN_SYNC_OPTIONS: OptionChecks<RunSyncOptions<unknown>> = {
  ...RUN_OPTIONS,
  onAbort: ON_ABORT,
  timeoutMs: msFrom(SHORTEST_RUNSYNC_MS),
  wait: wholeMs(RUNSYNC_WAIT_MS),
};

/** Facts about a job that was submitted elsewhere. */
export interface JobOptions<Output> {
  /** The schema of the job's output. @default none: the output is `unknown` */
  readonly schema?: OutputSchema<Output> | undefined;
  /** When the job was submitted. The handle uses this to compute when the job expires. */
  readonly submittedAt?: Date | undefined;
  /**
   * The `policy.ttl` that the job was submitted with, in milliseconds. @default 86,400,000 (24
   * hours)
   */
  readonly ttl?: number | undefined;
}

const JOB_OPTIONS: OptionChecks<JobOptions<unknown>> = { schema: aSchema, submittedAt: aDate, ttl: TTL };

/**
 * The jobs of an endpoint (contract, Queue-based job API). All users of the same client share its
 * rate limits and polls.
 */
export interface JobQueue {
  /** The id of the endpoint. */
  readonly endpointId: string;
  /**
   * Submits a job and returns without waiting for it. The request is sent again only if the
   * previous attempt had no effect.
   * @throws InvalidInputError, before any call
   * @throws SubmitUncertainError if the job may have been submitted
   * @example
   * const job = await client.endpoint("abc").run({ input: { prompt: "Hi" } }, { schema: z.object({ text: z.string() }) });
   * const { output } = await job.wait({ timeoutMs: 60_000 });
   */
  run<Output = unknown>(request: JobRequest, options?: RunOptions<Output>): ResponsePromise<JobHandle<Output>>;
  /**
   * Submits a job and waits until it has completed.
   * @throws InvalidInputError, before any call
   * @throws SubmitUncertainError if the job may have been submitted
   * @throws JobFailedError if the job failed, was canceled or timed out
   * @throws OutputMismatchError if the output does not match the schema; the error contains the
   * output
   * @throws WaitTimeoutError if the timeout elapses; the job continues, and the error contains its
   * handle
   */
  runSync<Output = unknown>(request: JobRequest, options?: RunSyncOptions<Output>): Promise<CompletedJob<Output>>;
  /**
   * Returns the handle of a job without sending a request.
   * @throws InvalidInputError if the id cannot be part of a path
   */
  job<Output = unknown>(jobId: string, options?: JobOptions<Output>): JobHandle<Output>;
  /**
   * Reads a job.
   * @throws NotFoundError if RunPod does not know the job or no longer knows it
   */
  status(jobId: string, options?: StatusOptions): ResponsePromise<Job>;
  /**
   * Removes all waiting jobs. Jobs in progress keep running. The request is sent again only if the
   * previous attempt had no effect.
   * @throws PurgeUncertainError if the response was lost, so the purge may have taken effect
   * @throws NotFoundError if the endpoint does not exist
   * @throws RateLimitError if RunPod still responds with 429 after all attempts
   */
  purgeQueue(options?: RequestOptions): ResponsePromise<PurgeResult>;
  /**
   * Reads the endpoint's job and worker counts.
   * @throws NotFoundError if the endpoint does not exist
   * @throws AuthenticationError if RunPod does not accept the key
   */
  health(options?: RequestOptions): ResponsePromise<EndpointHealth>;
  /**
   * Reads the endpoint's recent requests in RunPod's own format, which is not part of the contract.
   */
  requests(options?: RequestOptions): ResponsePromise<unknown>;
}

/** The jobs of an endpoint, and the functions that other modules build on. */
export interface JobQueueParts {
  readonly queue: JobQueue;
  readonly transport: QueueTransport;
  /** Works like `queue.run`, with options that were already checked. */
  run<Output>(
    request: JobRequest,
    options?: RunOptions<Output> & ObservedOptions,
    times?: SubmitTimes,
  ): Promise<JobHandle<Output>>;
  /** Ends all waits for jobs. */
  close(): void;
}

/**
 * Creates the queue of an endpoint.
 * @throws InvalidInputError if the id cannot be part of a path
 */
export function createJobQueue(context: QueueContext, endpointId: string): JobQueueParts {
  const transport = createQueueTransport(context, endpointId);
  const { clock, retry } = context;
  const read = (jobId: string, signal: AbortSignal) => readStatusOnce(transport, jobId, signal);
  const hold = (jobId: string, signal: AbortSignal) => holdStatusOnce(transport, jobId, HOLD_MS, signal);
  const poller = new Poller({
    clock,
    read,
    hold: context.holdsReads ? hold : undefined,
    maxOutageMs: retry.maxElapsedMs,
  });

  const handle = <Output>(
    id: string,
    schema: OutputSchema<Output> | undefined,
    lifetime: JobLifetime,
    seenAt: number,
  ) => new JobHandle<Output>(id, { queue: transport, poller, schema, lifetime, seenAt });

  async function run<Output>(
    request: JobRequest,
    { schema, ...options }: RunOptions<Output> & ObservedOptions = {},
    times?: SubmitTimes,
  ): Promise<JobHandle<Output>> {
    const { body, ttlMs } = checked(transport, "run", request);
    const { job, sentAt } = await submitRun(transport, body, options, times);
    const lifetime = { submittedAt: sentAt, ttlMs, retentionMs: RETENTION_MS.run };
    return handle(job.id, schema, lifetime, clock.monotonic());
  }

  const jobOf = <Output>(jobId: string, options: JobOptions<Output> = {}) => {
    checkCallOptions(options, JOB_OPTIONS);
    const { schema, submittedAt, ttl } = options;
    const lifetime = jobLifetime({ submittedAt: submittedAt?.getTime(), ...(ttl !== undefined && { ttlMs: ttl }) });
    return handle(pathSegment("jobId", jobId), schema, lifetime, Number.NEGATIVE_INFINITY);
  };

  const queue: JobQueue = {
    endpointId,
    run: (request, given) => checkedCall(given, RUN_OPTIONS, (options) => run(request, options)),
    async runSync(request, given = {}) {
      checkCallOptions(given, RUN_SYNC_OPTIONS);
      const { schema, timeoutMs, wait, onAbort, ...options } = given;
      // With `/runsync`, the job could not be canceled, because its id is unknown while the service
      // holds the response.
      const operation = onAbort === "cancel" ? "run" : "runsync";
      const { body, ttlMs } = checked(transport, operation, request);
      const deadline = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
      const waitMs = wait ?? (timeoutMs === undefined ? RUNSYNC_WAIT_MS.default : RUNSYNC_WAIT_MS.max);
      const { job, sentAt }: Submitted<Job> =
        operation === "run"
          ? await submitRun(transport, body, { ...options, timeoutMs }, { keepsAttempt: true })
          : await submitRunSync(transport, body, waitMs, { ...options, timeoutMs });
      if (operation === "runsync" && isTerminal(job.status)) {
        context.onEnded?.({ endpointId, job, submittedAt: sentAt });
        return await completedJob(job, schema);
      }
      const lifetime = { submittedAt: sentAt, ttlMs, retentionMs: RETENTION_MS[operation] };
      const timeLeftMs = deadline === undefined ? undefined : Math.max(0, deadline - clock.monotonic());
      const { signal } = options;
      return handle(job.id, schema, lifetime, clock.monotonic()).wait({ timeoutMs: timeLeftMs, signal, onAbort });
    },
    job: jobOf,
    // The id is not checked here, because the read checks it.
    status: (jobId, options) => handle(jobId, undefined, jobLifetime({}), Number.NEGATIVE_INFINITY).status(options),
    purgeQueue: (given) => checkedCall(given, REQUEST_OPTIONS, (options) => purgeQueue(transport, options)),
    health: (given) => checkedCall(given, REQUEST_OPTIONS, (options) => readHealth(transport, options)),
    requests: (given) => checkedCall(given, REQUEST_OPTIONS, (options) => readRequests(transport, options)),
  };
  return { queue, transport, run, close: () => poller.close() };
}

function checked(queue: QueueTransport, operation: "run" | "runsync", request: JobRequest): CheckedJobRequest {
  const result = checkJobRequest(operation, request);
  for (const warning of result.warnings) queue.context.log?.("warn", warning, { endpointId: queue.endpointId });
  return result;
}
