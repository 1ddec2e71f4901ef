import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS, RATE_WINDOW_MS } from "../contract/limits";
import { ClientClosedError, ServerlessGpuError } from "../errors";
import { isTerminal, type Job } from "./jobRecord";

/** The parts of a poller. */
export interface PollerContext {
  readonly clock: Clock;
  /** Reads a job in one attempt. The signal aborts when no caller waits for the job any longer. */
  readonly read: (jobId: string, signal: AbortSignal) => Promise<Job>;
  /** The time for which reads of a job may fail before its waits fail, in milliseconds. */
  readonly maxOutageMs: number;
}

/** One wait for a job. */
export interface WaitRequest {
  /** The end of the wait, in milliseconds of the monotonic clock. Infinity: when the job has ended. */
  readonly deadline: number;
  /** The pause before the first read, in milliseconds. */
  readonly firstDelayMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The outcome of a wait: the job if it has ended, otherwise the last error, if there was one. */
export interface WaitOutcome {
  readonly job?: Job;
  readonly lastError?: unknown;
}

/** Reads are made in batches, with one timer for all jobs. Their rate leaves a tenth of the limit to other readers. */
const BATCH_PAUSE_MS = 100;
const BATCH_SIZE = Math.floor((0.9 * RATE_LIMITS.status.perWindow * BATCH_PAUSE_MS) / RATE_WINDOW_MS);

/** The largest number of reads at once: half of the limit. */
const MAX_UNDER_WAY = RATE_LIMITS.status.concurrent / 2;

/** The pauses between two reads of a job, in milliseconds. */
export const SHORTEST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;

/** Returns the pause before the next read of a job: a quarter of the wait so far, 0.25 to 5 seconds. */
export function pollPauseMs(waitedMs: number): number {
  return Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, waitedMs / 4));
}

interface Waiter extends WaitRequest {
  readonly resolve: (outcome: WaitOutcome) => void;
  readonly reject: (reason: unknown) => void;
  readonly ignoreAbort: () => void;
}

/** A job with waits. */
interface Watched {
  readonly jobId: string;
  readonly since: number;
  readonly waiters: Set<Waiter>;
  /** The end of its first wait, or an earlier time, in milliseconds of the monotonic clock. */
  firstDeadline: number;
  /** The time of the next read, in milliseconds of the monotonic clock. */
  dueAt: number;
  /** Aborts the current read, if there is one. */
  reading: AbortController | undefined;
  /** The time since which all reads have failed. */
  failingSince?: number | undefined;
  lastError?: unknown;
}

/** Waits for all jobs of an endpoint, with one timer. */
export class Poller {
  readonly #context: PollerContext;
  /** The jobs with waits, the one with the oldest read first. */
  readonly #watched = new Map<string, Watched>();
  #underWay = 0;
  #nextBatchAt = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(context: PollerContext) {
    this.#context = context;
  }

  /**
   * Waits until the job has ended, or until the deadline.
   * @throws the error of a read, if it is not temporary
   */
  wait(jobId: string, request: WaitRequest): Promise<WaitOutcome> {
    return new Promise((resolve, reject) => {
      if (request.signal?.aborted) return reject(request.signal.reason);
      const job = this.#watch(jobId, request.firstDelayMs);
      const ignoreAbort = onAbort(request.signal, () => this.#leave(job, waiter).reject(request.signal?.reason));
      const waiter: Waiter = { ...request, resolve, reject, ignoreAbort };
      job.waiters.add(waiter);
      job.firstDeadline = Math.min(job.firstDeadline, request.deadline);
      this.#wakeAt(Math.min(request.deadline, Math.max(job.dueAt, this.#nextBatchAt)));
    });
  }

  /** Ends all waits with a `ClientClosedError`. */
  close(): void {
    for (const job of this.#watched.values()) {
      const error = new ClientClosedError(
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
      // Otherwise, closing the client would wait for a request that no one needs.
      job.reading?.abort();
    }
    if (this.#watched.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    return waiter;
  }

  /** Sets the timer to `at`, if it is not set to an earlier time. */
  #wakeAt(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.cancel();
    const { clock } = this.#context;
    this.#timer = { at, cancel: clock.schedule(Math.max(0, at - clock.monotonic()), () => this.#look()) };
  }

  /** Ends the waits whose time is over, and reads the next batch of due jobs. */
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
    job.reading = new AbortController();
    this.#underWay++;
    try {
      const record = await this.#context.read(job.jobId, job.reading.signal);
      job.reading = undefined;
      this.#settle(job, record);
    } catch (error) {
      job.reading = undefined;
      this.#fail(job, error);
    }
    const wasFull = this.#underWay-- >= MAX_UNDER_WAY;
    if (job.waiters.size > 0) {
      // Move it to the end: other jobs are next.
      this.#watched.delete(job.jobId);
      this.#watched.set(job.jobId, job);
      this.#wakeAt(Math.max(job.dueAt, this.#nextBatchAt));
    }
    if (wasFull && this.#watched.size > 0) this.#wakeAt(this.#nextBatchAt);
  }

  #settle(job: Watched, record: Job): void {
    const now = this.#context.clock.monotonic();
    job.failingSince = undefined;
    job.lastError = undefined;
    job.dueAt = now + pollPauseMs(now - job.since);
    if (!isTerminal(record.status)) return;
    for (const waiter of job.waiters) this.#leave(job, waiter).resolve({ job: record });
  }

  /** Keeps the waits through temporary errors, up to `maxOutageMs`. */
  #fail(job: Watched, error: unknown): void {
    const now = this.#context.clock.monotonic();
    job.failingSince ??= now;
    job.lastError = error;
    const passes = error instanceof ServerlessGpuError && error.disposition === "wait";
    // An absurdly long Retry-After (from a wrong clock, for example) must not stop the reads.
    const retryAfterMs = passes ? Math.min(error.retryAfterMs ?? 0, this.#context.maxOutageMs / 2) : 0;
    job.dueAt = now + Math.max(retryAfterMs, pollPauseMs(now - job.since));
    if (passes && now - job.failingSince < this.#context.maxOutageMs) return;
    for (const waiter of job.waiters) this.#leave(job, waiter).reject(error);
  }
}
