import type { Clock } from "../contract/clock";
import { type ErrorDetails, NotFoundError, ServerlessGpuError } from "../errors";
import { warn } from "../transport/observers";
import type { CallOptions } from "../transport/retryingCall";
import { CancelFailedError, JobExpiredError, JobNotRetryableError, type StreamGapError } from "./jobErrors";
import { expiresAt, expiryOf, type JobLifetime } from "./jobLifetime";
import { completedJob, jobFailed, type OutputSchema, parseOutput } from "./jobOutput";
import { type CompletedJob, isRetryable, isTerminal, type Job, type JobState, type StreamItem } from "./jobRecord";
import { checkTime, checkTimeout } from "./jobRequest";
import { streamItems } from "./jobStream";
import { cancelJob, readStatus, retryJob } from "./operations";
import { type Poller, SHORTEST_POLL_MS } from "./poller";
import type { QueueTransport } from "./queueTransport";

/** How `wait` waits. */
export interface WaitOptions extends CallOptions {
  /** How long to wait, in milliseconds. Default: until the job has ended. */
  readonly timeoutMs?: number | undefined;
  /**
   * What an abort of `signal` does to the job: `detach` lets it go on, `cancel` cancels it before the wait is rejected.
   * A cancel keeps to the rate limit, for as long as the client's `retry.maxElapsedMs`; where it fails, the wait is
   * rejected with a `CancelFailedError`.
   * @default "detach"
   */
  readonly onAbort?: "detach" | "cancel" | undefined;
}

/** How `status` reads. */
export interface StatusOptions extends CallOptions {
  /** Sets the job's time to live, in milliseconds from its submit: 10 seconds to 7 days. Default: left as it is. */
  readonly ttl?: number | undefined;
}

/** How `stream` reads. */
export interface StreamOptions<Item> extends CallOptions {
  /** What each item's `output` looks like. Default: `unknown`. */
  readonly schema?: OutputSchema<Item> | undefined;
  /**
   * Told when pieces may be missing between those read so far and those that come next; the stream then goes on.
   * Default: the stream ends with the error.
   */
  readonly onGap?: ((gap: StreamGapError) => unknown) | undefined;
}

/** What a handle is made of. */
export interface JobHandleContext<Output> {
  readonly queue: QueueTransport;
  readonly poller: Poller;
  readonly schema: OutputSchema<Output> | undefined;
  readonly lifetime: JobLifetime;
  /** When the service last told the job's state, in milliseconds of the monotonic clock. */
  readonly seenAt: number;
}

/** One job. Made by `run`, or by `job` from an id. */
export class JobHandle<Output = unknown> {
  /** Identifier of the job. */
  readonly id: string;
  /** Identifier of the endpoint that it was submitted to. */
  readonly endpointId: string;
  readonly #context: JobHandleContext<Output>;
  #lifetime: JobLifetime;
  #seenAt: number;

  /** @internal */
  constructor(id: string, context: JobHandleContext<Output>) {
    this.id = id;
    this.endpointId = context.queue.endpointId;
    this.#context = context;
    this.#lifetime = context.lifetime;
    this.#seenAt = context.seenAt;
  }

  /**
   * When the service will not know the job any more, at the latest: at the end of its ttl, or of its result's retention
   * once it was seen to have ended (contract, Limits). Nothing for a job that this handle did not submit and has not
   * seen ended.
   */
  get expiresAt(): Date | undefined {
    const at = expiresAt(this.#lifetime);
    return at === undefined ? undefined : new Date(at);
  }

  /**
   * Waits until the job has completed; its `output` is then of the schema's type. Faults of the service that pass are
   * waited out, for as long as the client's `retry.maxElapsedMs` at a stretch.
   * @param options how to wait
   * @throws JobFailedError when it failed, was cancelled or timed out
   * @throws WaitTimeoutError when the time is over; the job goes on
   * @throws JobExpiredError when its ttl, or its result's retention, is over
   * @throws CancelFailedError when it was to be cancelled after an abort, and may go on
   * @throws the signal's reason, when it aborts
   */
  async wait({ timeoutMs, signal, onAbort = "detach" }: WaitOptions = {}): Promise<CompletedJob<Output>> {
    checkTimeout(timeoutMs);
    const now = this.#clock.monotonic();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : now + timeoutMs;
    const firstDelayMs = Math.max(0, this.#seenAt + SHORTEST_POLL_MS - now);
    let hasEnded = false;
    try {
      const { job, lastError } = await this.#context.poller.wait(this.id, { deadline, firstDelayMs, signal });
      hasEnded = job !== undefined;
      if (job) return completedJob(this.#remember(job), this.#context.schema);
      throw this.#waitTimeout(lastError);
    } catch (error) {
      if (signal?.aborted && onAbort === "cancel" && !hasEnded) await this.#cancelAfterAbort(signal.reason);
      throw this.#explained(error);
    }
  }

  /**
   * Reads the job as it is now.
   * @param options how to read
   * @throws JobExpiredError when its ttl, or its result's retention, is over
   * @throws NotFoundError when the service does not know it for another reason, such as a purge of the queue
   */
  async status({ ttl, signal }: StatusOptions = {}): Promise<Job> {
    checkTime("ttl", ttl);
    const job = await this.#ask(readStatus(this.#context.queue, this.id, { ttl, signal }));
    if (ttl !== undefined) this.#lifetime = { ...this.#lifetime, ttlMs: ttl };
    return this.#remember(job);
  }

  /**
   * Yields the pieces of the output as they come, until the job has ended and all were read. The service hands each piece
   * out once: a job has one reader, and pieces that were on their way when a connection broke are lost. That never
   * passes in silence: it ends the stream, or is told to `onGap`.
   * @param options how to read
   * @throws StreamGapError when pieces may be missing, unless there is `onGap`
   * @throws JobFailedError after the last piece, when the job failed, was cancelled or timed out
   */
  async *stream<Item = unknown>({
    signal,
    schema,
    onGap,
  }: StreamOptions<Item> = {}): AsyncGenerator<StreamItem<Item>, void> {
    const readStatus = () => this.status({ signal });
    const items = streamItems({ queue: this.#context.queue, jobId: this.id, signal, onGap, readStatus });
    for (;;) {
      const { done, value } = await this.#ask(items.next());
      if (!done) yield this.#streamItem(value, schema);
      else if (value === "COMPLETED") return;
      else throw jobFailed(await this.status({ signal }));
    }
  }

  /**
   * Cancels the job: it is not started any more, or stopped. A job that has ended stays as it is, which `status` tells.
   * @param options a signal, to end the call
   */
  async cancel({ signal }: CallOptions = {}): Promise<JobState> {
    return this.#remember(await this.#ask(cancelJob(this.#context.queue, this.id, { signal })));
  }

  /**
   * Runs a job again that failed or timed out, with its id and its input. It is sent again only when it certainly did
   * nothing.
   * @param options a signal, to end the call
   * @throws RetryUncertainError when its response was lost, and the job's state does not tell whether it took place
   * @throws JobNotRetryableError, before the retry is sent, when the job is in another state
   */
  async retry({ signal }: CallOptions = {}): Promise<JobState> {
    const { status } = await this.status({ signal });
    if (!isRetryable(status)) {
      const message = `job ${this.id} is ${status}: only jobs that are FAILED or TIMED_OUT can be retried. Submit a new job instead`;
      throw new JobNotRetryableError(message, { id: this.id, status });
    }
    return this.#remember(await this.#ask(retryJob(this.#context.queue, this.id, signal)));
  }

  get #clock(): Clock {
    return this.#context.queue.context.clock;
  }

  #remember<T extends JobState>(job: T): T {
    this.#seenAt = this.#clock.monotonic();
    const endedAt = isTerminal(job.status) ? (this.#lifetime.endedAt ?? this.#clock.now()) : undefined;
    if (endedAt !== this.#lifetime.endedAt) this.#lifetime = { ...this.#lifetime, endedAt };
    return job;
  }

  #ask<T>(answer: Promise<T>): Promise<T> {
    return answer.catch((error: unknown) => {
      throw this.#explained(error);
    });
  }

  /** Tells a job whose time is over from one that never was. */
  #explained(error: unknown): unknown {
    if (!(error instanceof NotFoundError)) return error;
    const expiry = expiryOf(this.#lifetime, this.#clock.now());
    if (!expiry) return error;
    const at = new Date(expiry.at);
    const why =
      expiry.reason === "ttl"
        ? `its ttl of ${this.#lifetime.ttlMs} ms was over at ${at.toISOString()}`
        : `it had ended, and results are kept for ${this.#lifetime.retentionMs / 60_000} min only`;
    const message = `job ${this.id} at endpoint ${this.endpointId} is not known any more: ${why}. Submit it again`;
    return new JobExpiredError(message, { jobId: this.id, reason: expiry.reason, at });
  }

  #waitTimeout(cause: unknown): WaitTimeoutError {
    const message =
      `job ${this.id} at endpoint ${this.endpointId} did not end within the time to wait for it. It goes on: wait again with ` +
      `error.job.wait(), or later with client.endpoint("${this.endpointId}").job("${this.id}").wait()`;
    return new WaitTimeoutError(message, this, { cause });
  }

  #streamItem<Item>(item: StreamItem, schema: OutputSchema<Item> | undefined): StreamItem<Item> {
    if (!schema) return item as StreamItem<Item>;
    return { ...item, output: parseOutput(schema, item.output, `a piece of the output of job ${this.id}`) };
  }

  /** The time at the rate limit counts, so that an abort of very many waits does not last for ever. */
  async #cancelAfterAbort(reason: unknown): Promise<void> {
    const { queue } = this.#context;
    try {
      await cancelJob(queue, this.id, { timeoutMs: queue.context.retry.maxElapsedMs });
    } catch (error) {
      // It does not go on.
      if (error instanceof NotFoundError) return;
      const details = { jobId: this.id, endpointId: this.endpointId, error };
      warn(queue.context.logger, details, `job ${this.id} was to be cancelled, and may go on`);
      throw this.#cancelFailed(error, reason);
    }
  }

  #cancelFailed(error: unknown, cause: unknown): CancelFailedError {
    const why = error instanceof Error ? error.message : String(error);
    const message =
      `the wait for job ${this.id} at endpoint ${this.endpointId} was aborted, but the job could not be cancelled and may go ` +
      `on: ${why}. Cancel it with client.endpoint("${this.endpointId}").cancel("${this.id}")`;
    return new CancelFailedError(message, this.id, { cause });
  }
}

/** Thrown when a job did not end within the time to wait for it. It goes on: wait again with `job.wait()`. */
export class WaitTimeoutError extends ServerlessGpuError {
  readonly code = "WAIT_TIMEOUT";
  override readonly disposition = "wait";
  /** Identifier of the job. */
  readonly jobId: string;
  /** The job, to go on with. */
  readonly job: JobHandle;

  /** @internal */
  constructor(message: string, job: JobHandle, details?: ErrorDetails) {
    super(message, details);
    this.jobId = job.id;
    this.job = job;
  }
}
