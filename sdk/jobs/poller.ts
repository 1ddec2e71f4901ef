import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS, RATE_WINDOW_MS, RUNSYNC_WAIT_MS } from "../contract/limits";
import { CodedError, NotFoundError, RejectedError, ServerlessGpuError } from "../errors/errors";
import { isTerminal, type Job } from "./jobRecord";

/** The dependencies of a poller. */
interface PollerContext {
  readonly clock: Clock;
  /**
   * Reads a job in a single attempt. The signal aborts when no caller is waiting for the job
   * anymore.
   */
  readonly read: (jobId: string, signal: AbortSignal) => Promise<Job>;
  /**
   * Reads a job like `read`, but the service holds the request until the job has ended, or for
   * `HOLD_MS`. A 404 or a rejection means that the service either does not support this operation
   * or does not know the job.
   */
  readonly hold?: PollerContext["read"] | undefined;
  /** How long all reads of a job may fail before the waits for this job fail, in milliseconds. */
  readonly maxOutageMs: number;
}

/** A wait for a job. */
export interface WaitRequest {
  /**
   * When the wait ends, in milliseconds of the monotonic clock. `Infinity` means that there is no
   * deadline.
   */
  readonly deadline: number;
  /** The pause before the first read, in milliseconds. */
  readonly firstDelayMs: number;
  /**
   * Called with each response about the job. If this is set, the service is not asked to hold
   * reads, because a held read only shows the end of the job.
   */
  readonly onRead?: ((job: Job) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a wait: the job if it has ended, otherwise the last error, if any. */
export interface WaitOutcome {
  readonly job?: Job;
  readonly lastError?: unknown;
}

/**
 * Reads are made in batches, with one timer for all jobs. Their rate leaves a tenth of the limit
 * for other readers.
 */
const BATCH_PAUSE_MS = 100;
const BATCH_SIZE = Math.floor((0.9 * RATE_LIMITS.status.perWindow * BATCH_PAUSE_MS) / RATE_WINDOW_MS);

/** The maximum number of reads in progress at the same time, which is half of the limit. */
const MAX_UNDER_WAY = RATE_LIMITS.status.concurrent / 2;

/**
 * The maximum number of reads that the service holds at the same time, which is a quarter of the
 * limit. All other jobs are polled.
 */
const MAX_HELD = RATE_LIMITS.status.concurrent / 4;

/** How long the service holds a read, in milliseconds. This is the default of `/runsync`. */
export const HOLD_MS = RUNSYNC_WAIT_MS.default;

/** The shortest and longest pause between two reads of a job, in milliseconds. */
export const SHORTEST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;

/**
 * Returns the pause before the next read of a job: a quarter of the time waited so far, but 0.25 to
 * 5 seconds.
 */
export function pollPauseMs(waitedMs: number): number {
  return Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, waitedMs / 4));
}

interface Waiter extends WaitRequest {
  readonly resolve: (outcome: WaitOutcome) => void;
  readonly reject: (reason: unknown) => void;
  readonly ignoreAbort: () => void;
}

/** A job that callers are waiting for. */
interface Watched {
  readonly jobId: string;
  readonly since: number;
  readonly waiters: Set<Waiter>;
  /** No wait for this job ends before this time, in milliseconds of the monotonic clock. */
  firstDeadline: number;
  /** When the next read is due, in milliseconds of the monotonic clock. */
  dueAt: number;
  /** Aborts the current read, if any. */
  reading: AbortController | undefined;
  /** `true` if the service holds the current read. */
  isHeld: boolean;
  /** `true` once a held read has failed. From then on, the job is polled. */
  isPolled: boolean;
  /** When the reads of this job started to fail without a success in between. */
  failingSince?: number | undefined;
  lastError?: unknown;
}

/** Waits for all jobs of an endpoint with a single timer. */
export class Poller {
  readonly #context: PollerContext;
  /**
   * The jobs that callers are waiting for, beginning with the job whose last read is the longest
   * ago.
   */
  readonly #watched = new Map<string, Watched>();
  /** The number of reads in progress, not counting held reads. */
  #underWay = 0;
  #held = 0;
  #canHold: boolean;
  #nextBatchAt = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(context: PollerContext) {
    this.#context = context;
    this.#canHold = context.hold !== undefined;
  }

  /**
   * Waits until the job has ended, or until the deadline.
   * @throws the error of a read, if it is not temporary
   */
  wait(jobId: string, request: WaitRequest): Promise<WaitOutcome> {
    return new Promise((resolve, reject) => {
      if (request.signal?.aborted) return reject(request.signal.reason);
      const isHeld = this.#canHold && !request.onRead && this.#held < MAX_HELD;
      const job = this.#watch(jobId, isHeld ? 0 : request.firstDelayMs);
      // The new wait needs to see every change.
      if (job.isHeld && request.onRead) job.reading?.abort();
      const ignoreAbort = onAbort(request.signal, () => this.#leave(job, waiter).reject(request.signal?.reason));
      const waiter: Waiter = { ...request, resolve, reject, ignoreAbort };
      job.waiters.add(waiter);
      job.firstDeadline = Math.min(job.firstDeadline, request.deadline);
      this.#wakeAt(Math.min(request.deadline, Math.max(job.dueAt, this.#nextBatchAt)));
    });
  }

  /** Ends all waits with a CLIENT_CLOSED error. */
  close(): void {
    for (const job of this.#watched.values()) {
      const error = new CodedError(
        "CLIENT_CLOSED",
        `the wait for job ${job.jobId} ended: the client was closed. The job continues`,
      );
      for (const waiter of job.waiters) this.#leave(job, waiter).reject(error);
    }
  }

  #watch(jobId: string, firstDelayMs: number): Watched {
    const now = this.#context.clock.monotonic();
    const job = this.#watched.get(jobId) ?? {
      jobId,
      since: now,
      waiters: new Set(),
      firstDeadline: Number.POSITIVE_INFINITY,
      dueAt: Number.POSITIVE_INFINITY,
      reading: undefined,
      isHeld: false,
      isPolled: false,
    };
    job.dueAt = Math.min(job.dueAt, now + firstDelayMs);
    this.#watched.set(jobId, job);
    return job;
  }

  #leave(job: Watched, waiter: Waiter): Waiter {
    job.waiters.delete(waiter);
    waiter.ignoreAbort();
    if (job.waiters.size === 0) {
      this.#watched.delete(job.jobId);
      // Otherwise, closing the client would wait for a request whose response nobody needs.
      job.reading?.abort();
    }
    if (this.#watched.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    return waiter;
  }

  /** Sets the timer to `at` unless it is already set to an earlier time. */
  #wakeAt(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.cancel();
    const { clock } = this.#context;
    this.#timer = { at, cancel: clock.schedule(Math.max(0, at - clock.monotonic()), () => this.#look()) };
  }

  /** Ends the waits whose deadline has passed, and reads the next batch of jobs that are due. */
  #look(): void {
    this.#timer = undefined;
    const now = this.#context.clock.monotonic();
    let batch = now < this.#nextBatchAt ? 0 : Math.min(BATCH_SIZE, MAX_UNDER_WAY - this.#underWay);
    if (batch > 0) this.#nextBatchAt = now + BATCH_PAUSE_MS;
    let wake = Number.POSITIVE_INFINITY;
    for (const job of this.#watched.values()) {
      if (job.firstDeadline <= now) this.#endLateWaits(job, now);
      wake = Math.min(wake, job.firstDeadline);
      if (job.reading || job.waiters.size === 0) continue;
      if (job.dueAt <= now && batch > 0) {
        batch--;
        this.#read(job);
      } else if (this.#underWay < MAX_UNDER_WAY) {
        wake = Math.min(wake, Math.max(job.dueAt, this.#nextBatchAt));
      }
    }
    this.#wakeAt(wake);
  }

  #endLateWaits(job: Watched, now: number): void {
    job.firstDeadline = Number.POSITIVE_INFINITY;
    for (const waiter of job.waiters) {
      if (waiter.deadline <= now) this.#leave(job, waiter).resolve({ lastError: job.lastError });
      else job.firstDeadline = Math.min(job.firstDeadline, waiter.deadline);
    }
  }

  async #read(job: Watched): Promise<void> {
    const reading = new AbortController();
    const isHeld = this.#mayHold(job);
    const startedAt = this.#context.clock.monotonic();
    job.reading = reading;
    job.isHeld = isHeld;
    if (isHeld) this.#held++;
    else this.#underWay++;
    try {
      const record = await (isHeld
        ? this.#readHeld(job, reading.signal)
        : this.#context.read(job.jobId, reading.signal));
      job.reading = undefined;
      this.#settle(job, record, isHeld ? this.#context.clock.monotonic() - startedAt : 0);
    } catch (error) {
      job.reading = undefined;
      job.isPolled ||= isHeld && !reading.signal.aborted;
      if (reading.signal.aborted) job.dueAt = this.#context.clock.monotonic();
      else this.#fail(job, error);
    }
    job.isHeld = false;
    if (isHeld) this.#held--;
    const wasFull = !isHeld && this.#underWay-- >= MAX_UNDER_WAY;
    if (job.waiters.size > 0) {
      // Move the job to the end, so that other jobs are read next.
      this.#watched.delete(job.jobId);
      this.#watched.set(job.jobId, job);
      this.#wakeAt(Math.max(job.dueAt, this.#nextBatchAt));
    }
    if (wasFull && this.#watched.size > 0) this.#wakeAt(this.#nextBatchAt);
  }

  #mayHold(job: Watched): boolean {
    if (!this.#canHold || job.isPolled || this.#held >= MAX_HELD) return false;
    return ![...job.waiters].some(({ onRead }) => onRead);
  }

  /**
   * Reads a job in a held request. If the service turns out not to support this, polls the job
   * instead.
   */
  async #readHeld({ jobId }: Watched, signal: AbortSignal): Promise<Job> {
    const { read, hold = read } = this.#context;
    try {
      return await hold(jobId, signal);
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof RejectedError)) throw error;
      const record = await read(jobId, signal);
      this.#canHold = false;
      return record;
    }
  }

  #settle(job: Watched, record: Job, heldMs: number): void {
    const now = this.#context.clock.monotonic();
    job.failingSince = undefined;
    job.lastError = undefined;
    // If the service responds without holding the read, poll it at the usual pace.
    job.dueAt = now + (heldMs > HOLD_MS / 2 ? SHORTEST_POLL_MS : pollPauseMs(now - job.since));
    for (const { onRead } of job.waiters) onRead?.(record);
    if (!isTerminal(record.status)) return;
    for (const waiter of job.waiters) this.#leave(job, waiter).resolve({ job: record });
  }

  /** Handles a failed read. Temporary errors don't end the waits for up to `maxOutageMs`. */
  #fail(job: Watched, error: unknown): void {
    const now = this.#context.clock.monotonic();
    job.failingSince ??= now;
    job.lastError = error;
    const passes = error instanceof ServerlessGpuError && error.disposition === "wait";
    // A very long Retry-After (caused by a wrong clock, for example) must not stop the reads.
    const retryAfterMs = passes ? Math.min(error.retryAfterMs ?? 0, this.#context.maxOutageMs / 2) : 0;
    job.dueAt = now + Math.max(retryAfterMs, pollPauseMs(now - job.since));
    if (passes && now - job.failingSince < this.#context.maxOutageMs) return;
    for (const waiter of job.waiters) this.#leave(job, waiter).reject(error);
  }
}
