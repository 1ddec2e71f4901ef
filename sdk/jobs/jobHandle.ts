import type { Clock } from "../contract/clock";
import { RETRYABLE_JOB_STATES } from "../contract/enums";
import type { Diagnosis } from "../diagnosis/record";
import { lastWords } from "../diagnosis/waits";
import { nameErrors } from "../errors/errorNames";
import { type ErrorDetails, NotFoundError, ServerlessGpuError } from "../errors/errors";
import { checkCallOptions, REQUEST_OPTIONS } from "../transport/callOptions";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { CancelFailedError, JobExpiredError, JobNotRetryableError } from "./jobErrors";
import {
  STATUS_OPTIONS,
  STREAM_OPTIONS,
  type StatusOptions,
  type StreamOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from "./jobHandleOptions";
import { expiresAt, expiryOf, type JobLifetime } from "./jobLifetime";
import { completedJob, jobFailed, type OutputSchema, parseOutput } from "./jobOutput";
import { type CompletedJob, isRetryable, isTerminal, type Job, type StreamItem } from "./jobRecord";
import { streamItems } from "./jobStream";
import { cancelJob, readStatus, readStatusOnce, retryJob } from "./operations";
import { type Poller, SHORTEST_POLL_MS, type WaitOutcome, type WaitRequest } from "./poller";
import type { QueueTransport } from "./queueTransport";
import { followStatus } from "./statusChanges";

/** The dependencies of a handle. */
interface JobHandleContext<Output> {
  readonly queue: QueueTransport;
  readonly poller: Poller;
  readonly schema: OutputSchema<Output> | undefined;
  readonly lifetime: JobLifetime;
  /**
   * When the last response with the job's status arrived, in milliseconds of the monotonic clock.
   */
  readonly seenAt: number;
}

/** A single job, as returned by `run` and `job`. */
export class JobHandle<Output = unknown> {
  /** The id of the job. */
  readonly id: string;
  /** The id of the endpoint that the job was submitted to. */
  readonly endpointId: string;
  readonly #context: JobHandleContext<Output>;
  #lifetime: JobLifetime;
  #seenAt: number;
  #reported: string | undefined;

  /** @internal */
  constructor(id: string, context: JobHandleContext<Output>) {
    this.id = id;
    this.endpointId = context.queue.endpointId;
    this.#context = context;
    this.#lifetime = context.lifetime;
    this.#seenAt = context.seenAt;
  }

  /**
   * The latest time at which RunPod still knows the job. This is the end of its ttl or, once this
   * handle has seen that the job ended, the end of its result's retention (contract, Limits).
   * `undefined` for a job that this handle did not submit and has not seen end.
   */
  get expiresAt(): Date | undefined {
    const at = expiresAt(this.#lifetime);
    return at === undefined ? undefined : new Date(at);
  }

  /**
   * Waits until the job has completed. The `output` of the returned job has the schema's type.
   * Temporary faults of RunPod don't end the wait unless they last longer than the client's
   * `retry.maxElapsedMs`.
   * @throws JobFailedError if the job failed, was canceled or timed out
   * @throws OutputMismatchError if the output does not match the schema; the error contains the
   * output
   * @throws WaitTimeoutError if the timeout elapses; the job continues
   * @throws JobExpiredError if the job's ttl or its result's retention has elapsed
   * @throws CancelFailedError if the job could not be canceled after an abort, so it may continue
   * @throws the signal's reason, if it aborts
   * @throws the error of `onStatus` or `onProgress`
   * @example
   * await job.wait({ onStatus: (status, { delayTime }) => console.log(status, delayTime) });
   */
  async wait(options: WaitOptions = {}): Promise<CompletedJob<Output>> {
    checkCallOptions(options, WAIT_OPTIONS);
    const { timeoutMs, signal, onAbort = "detach" } = options;
    const now = this.#clock.monotonic();
    const deadline = timeoutMs === undefined ? Number.POSITIVE_INFINITY : now + timeoutMs;
    const firstDelayMs = Math.max(0, Math.min(this.#seenAt + SHORTEST_POLL_MS - now, (deadline - now) / 2));
    const changes = followStatus(options, signal);
    const request = { deadline, firstDelayMs, signal: changes?.signal ?? signal, onRead: changes?.onRead };
    let hasEnded = false;
    try {
      const { job, lastError } =
        timeoutMs === 0 ? await this.#lookOnce(request) : await this.#context.poller.wait(this.id, request);
      hasEnded = job !== undefined;
      await changes?.settled();
      if (job) return await completedJob(this.#remember(job), this.#context.schema);
      throw await this.#waitTimeout(lastError, options, this.#clock.monotonic() - now);
    } catch (error) {
      if (signal?.aborted && onAbort === "cancel" && !hasEnded) await this.#cancelAfterAbort(signal.reason);
      throw this.#explained(error);
    } finally {
      changes?.release();
    }
  }

  /** Reads the job once, for a wait with a timeout of 0. */
  async #lookOnce({ signal, onRead }: Pick<WaitRequest, "signal" | "onRead">): Promise<WaitOutcome> {
    try {
      const job = await readStatusOnce(this.#context.queue, this.id, signal);
      onRead?.(job);
      return isTerminal(job.status) ? { job } : {};
    } catch (error) {
      if (error instanceof ServerlessGpuError && error.disposition === "wait") return { lastError: error };
      throw error;
    }
  }

  /**
   * Reads the job.
   * @throws JobExpiredError if the job's ttl or its result's retention has elapsed
   * @throws NotFoundError if RunPod does not know the job for another reason, such as a purge of
   * the queue
   */
  status(given?: StatusOptions): ResponsePromise<Job> {
    return checkedCall(given, STATUS_OPTIONS, (options) => this.#status(options));
  }

  async #status(options: StatusOptions & ObservedOptions): Promise<Job> {
    const { ttl } = options;
    const job = await this.#ask(readStatus(this.#context.queue, this.id, options));
    if (ttl !== undefined) this.#lifetime = { ...this.#lifetime, ttlMs: ttl };
    return this.#remember(job);
  }

  /**
   * Yields the pieces of the output until the job has ended and all pieces were read. RunPod
   * returns each piece only once, so use a single reader per job. If a connection breaks, the
   * pieces in the response are lost. The stream then ends with an error or, if `onGap` is set,
   * calls `onGap` and continues.
   * @throws StreamGapError if pieces may be missing and there is no `onGap`
   * @throws OutputMismatchError if a piece does not match the schema. The error contains the piece,
   * and a new loop over the same stream continues with the next piece
   * @throws JobFailedError after the last piece, if the job failed, was canceled or timed out
   */
  stream<Item = unknown>(given: StreamOptions<Item> = {}): AsyncIterableIterator<StreamItem<Item>, void, undefined> {
    const pieces = this.#pieces(given);
    const typed = (piece: StreamItem) => this.#typed(piece, given.schema);
    return {
      // This is not a generator, because a schema error would end the generator and the next pieces
      // would be lost.
      async next() {
        const next = await pieces.next();
        return next.done ? next : { done: false, value: await typed(next.value) };
      },
      async return() {
        await pieces.return();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  async *#pieces(given: StreamOptions<unknown>): AsyncGenerator<StreamItem, void, undefined> {
    checkCallOptions(given, STREAM_OPTIONS);
    const { schema: _, onGap, ...options } = given;
    const readStatus = () => this.#status(options);
    const items = streamItems({ queue: this.#context.queue, jobId: this.id, options, onGap, readStatus });
    for (;;) {
      const { done, value } = await this.#ask(items.next());
      if (!done) yield value;
      else if (value === "COMPLETED") return;
      else throw jobFailed(await this.#status(options));
    }
  }

  /**
   * Cancels the job. A waiting job doesn't start, and a running job is stopped. Returns the job's
   * status, which does not change if the job has already ended.
   * @throws JobExpiredError if the job's ttl or its result's retention has elapsed
   * @throws NotFoundError if RunPod does not know the job for another reason
   */
  cancel(given?: RequestOptions): ResponsePromise<Job> {
    return checkedCall(given, REQUEST_OPTIONS, async (options) =>
      this.#remember(await this.#ask(cancelJob(this.#context.queue, this.id, options))),
    );
  }

  /**
   * Runs a failed or timed-out job again, with the same id and input. The request is sent again
   * only if the previous attempt had no effect.
   * @throws RetryUncertainError if the response was lost and the job's status does not show whether
   * the retry took effect
   * @throws JobNotRetryableError, before the retry is sent, if the job has another status
   */
  retry(given?: RequestOptions): ResponsePromise<Job> {
    return checkedCall(given, REQUEST_OPTIONS, (options) => this.#retry(options));
  }

  async #retry(options: ObservedOptions): Promise<Job> {
    const { status } = await this.#status(requestOptions(options));
    if (!isRetryable(status)) {
      const message = `job ${this.id} is ${status}: only jobs that are ${RETRYABLE_JOB_STATES.join(" or ")} can be retried. Submit a new job instead`;
      throw new JobNotRetryableError(message, { id: this.id, status });
    }
    return this.#remember(await this.#ask(retryJob(this.#context.queue, this.id, options)));
  }

  get #clock(): Clock {
    return this.#context.queue.context.clock;
  }

  #remember<T extends Job>(job: T): T {
    this.#seenAt = this.#clock.monotonic();
    const endedAt = isTerminal(job.status) ? (this.#lifetime.endedAt ?? this.#clock.now()) : undefined;
    if (endedAt !== this.#lifetime.endedAt) this.#lifetime = { ...this.#lifetime, endedAt };
    if (endedAt !== undefined) this.#reportEnd(job);
    return job;
  }

  /** Reports each time that the job ends. After a retry, the job can end again. */
  #reportEnd(job: Job): void {
    const { onEnded } = this.#context.queue.context;
    const end = [job.status, job.delayTime, job.executionTime].join(" ");
    if (!onEnded || end === this.#reported) return;
    this.#reported = end;
    onEnded({ endpointId: this.endpointId, job, submittedAt: this.#lifetime.submittedAt });
  }

  #ask<T>(response: Promise<T>): Promise<T> {
    return response.catch((error: unknown) => {
      throw this.#explained(error);
    });
  }

  /** Replaces a `NotFoundError` with a `JobExpiredError` if the job has expired. */
  #explained(error: unknown): unknown {
    if (!(error instanceof NotFoundError)) return error;
    const expiry = expiryOf(this.#lifetime, this.#clock.now());
    if (!expiry) return error;
    const at = new Date(expiry.at);
    const why =
      expiry.reason === "ttl"
        ? `its ttl of ${this.#lifetime.ttlMs} ms expired at ${at.toISOString()}`
        : `it had ended, and results are kept for only ${this.#lifetime.retentionMs / 60_000} min`;
    const message = `job ${this.id} at endpoint ${this.endpointId} is no longer known: ${why}. Submit it again`;
    return new JobExpiredError(message, { jobId: this.id, reason: expiry.reason, at });
  }

  async #waitTimeout(cause: unknown, { diagnose }: WaitOptions, waitedMs: number): Promise<WaitTimeoutError> {
    const { endpointId } = this;
    const { context } = this.#context.queue;
    const diagnosis = diagnose ? await context.diagnose?.(endpointId, waitedMs) : undefined;
    const why = diagnose ? lastWords(context.clock, endpointId, diagnosis) : "";
    const message =
      `job ${this.id} at endpoint ${endpointId} did not end within the timeout. It continues: wait again with ` +
      `error.job.wait(), or later with client.endpoint("${endpointId}").job("${this.id}").wait()${why}`;
    return new WaitTimeoutError(message, this, { cause }, diagnosis);
  }

  async #typed<Item>(piece: StreamItem, schema: OutputSchema<Item> | undefined): Promise<StreamItem<Item>> {
    if (!schema) return piece as StreamItem<Item>;
    const parsed = { what: `a piece of the output of job ${this.id}`, jobId: this.id };
    return { ...piece, output: await parseOutput(schema, piece.output, parsed) };
  }

  /**
   * Cancels the job after an abort. The timeout includes the wait for the rate limit, so that
   * aborting many waits takes a bounded time.
   */
  async #cancelAfterAbort(reason: unknown): Promise<void> {
    const { queue } = this.#context;
    try {
      await cancelJob(queue, this.id, { timeoutMs: queue.context.retry.maxElapsedMs });
    } catch (error) {
      // The job no longer exists, so it can't continue.
      if (error instanceof NotFoundError) return;
      const details = { jobId: this.id, endpointId: this.endpointId, error };
      queue.context.log?.("error", `job ${this.id} could not be cancelled and may continue`, details);
      throw this.#cancelFailed(error, reason);
    }
  }

  #cancelFailed(error: unknown, cause: unknown): CancelFailedError {
    const why = error instanceof Error ? error.message : String(error);
    const message =
      `the wait for job ${this.id} at endpoint ${this.endpointId} was aborted, but the job could not be cancelled and may ` +
      `continue: ${why}. Cancel it with client.endpoint("${this.endpointId}").job("${this.id}").cancel()`;
    return new CancelFailedError(message, this.id, { cause });
  }
}

/**
 * Thrown when a job did not end within the timeout. The job continues, and `job.wait()` waits for
 * it again.
 */
export class WaitTimeoutError extends ServerlessGpuError {
  readonly code = "WAIT_TIMEOUT";
  override readonly disposition = "wait";
  /** The id of the job. */
  override readonly jobId: string;
  /** The handle of the job. */
  readonly job: JobHandle;
  /**
   * The reason why the job is waiting, if the option `diagnose` was set. The property is not
   * enumerable.
   */
  declare readonly diagnosis: Diagnosis | undefined;

  /** @internal */
  constructor(message: string, job: JobHandle, details?: ErrorDetails, diagnosis?: Diagnosis) {
    super(message, details);
    this.jobId = job.id;
    this.job = job;
    // Keep the diagnosis out of the output of `console.error`, where it would hide the message.
    Object.defineProperty(this, "diagnosis", { value: diagnosis });
  }
}

nameErrors({ WaitTimeoutError });
