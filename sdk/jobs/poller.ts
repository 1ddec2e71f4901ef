import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS, RATE_WINDOW_MS } from "../contract/limits";
import { ClientClosedError, ServerlessGpuError } from "../errors";
import { isTerminal, type Job } from "./jobRecord";

/** What a poller is made of. */
export interface PollerContext {
  readonly clock: Clock;
  /** Reads a job once, without trying again. The signal aborts when nobody waits for the job any more. */
  readonly read: (jobId: string, signal: AbortSignal) => Promise<Job>;
  /** For how long reads of a job may fail before its waiters are told, in milliseconds. */
  readonly maxOutageMs: number;
}

/** How one waits for a job. */
export interface WaitRequest {
  /** When the wait is over, in milliseconds of the monotonic clock. Infinity: when the job has ended. */
  readonly deadline: number;
  /** Pause before the first read, in milliseconds. */
  readonly firstDelayMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** How a wait ended: with the job when that has ended, otherwise with the last problem, if there was one. */
export interface WaitOutcome {
  readonly job?: Job;
  readonly lastError?: unknown;
}

/** Reads come in batches, so that one timer serves all jobs. Their rate leaves a tenth of the limit to other readers. */
const BATCH_PAUSE_MS = 100;
const BATCH_SIZE = Math.floor((0.9 * RATE_LIMITS.status.perWindow * BATCH_PAUSE_MS) / RATE_WINDOW_MS);

/** Reads that may be under way at once: half of the limit. */
const MAX_UNDER_WAY = RATE_LIMITS.status.concurrent / 2;

/** Pauses between two reads of a job. */
export const SHORTEST_POLL_MS = 250;
const LONGEST_POLL_MS = 5_000;

/** The pause before a job is read again: a quarter of the time that it has been waited for, 0.25 to 5 seconds. */
export function pollPauseMs(waitedMs: number): number {
  return Math.min(LONGEST_POLL_MS, Math.max(SHORTEST_POLL_MS, waitedMs / 4));
}

interface Waiter extends WaitRequest {
  readonly resolve: (outcome: WaitOutcome) => void;
  readonly reject: (reason: unknown) => void;
  readonly ignoreAbort: () => void;
}

/** A job that is waited for. */
interface Watched {
  readonly jobId: string;
  readonly since: number;
  readonly waiters: Set<Waiter>;
  /** When the first of its waits is over, or sooner, in milliseconds of the monotonic clock. */
  firstDeadline: number;
  /** When it is to be read next, in milliseconds of the monotonic clock. */
  dueAt: number;
  /** Ends the read that is under way, if there is one. */
  reading: AbortController | undefined;
  /** Since when all of its reads have failed. */
  failingSince?: number | undefined;
  lastError?: unknown;
}

/** Waits for all jobs of an endpoint at once, on one timer. */
export class Poller {
  readonly #context: PollerContext;
  /** The job that was read the longest time ago comes first. */
  readonly #watched = new Map<string, Watched>();
  #underWay = 0;
  #nextBatchAt = 0;
  #timer: { readonly at: number; readonly cancel: () => void } | undefined;

  constructor(context: PollerContext) {
    this.#context = context;
  }

  /** @throws what a read throws, when it is nothing that passes */
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
        `the wait for job ${job.jobId} ended: the client was closed. The job goes on`,
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
      // A request that nobody wants must not be left behind: closing the client would wait for it.
      job.reading?.abort();
    }
    if (this.#watched.size === 0) {
      this.#timer?.cancel();
      this.#timer = undefined;
    }
    return waiter;
  }

  /** Looks at all jobs at `at` at the latest. */
  #wakeAt(at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#timer && this.#timer.at <= at)) return;
    this.#timer?.cancel();
    const { clock } = this.#context;
    this.#timer = { at, cancel: clock.schedule(Math.max(0, at - clock.monotonic()), () => this.#look()) };
  }

  /** Ends the waits whose time is over, and reads the next batch of the jobs that are due. */
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
      // To the end: others are next.
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

  /** What passes is waited out, for a while. */
  #fail(job: Watched, error: unknown): void {
    const now = this.#context.clock.monotonic();
    job.failingSince ??= now;
    job.lastError = error;
    const passes = error instanceof ServerlessGpuError && error.disposition === "wait";
    // One that is absurdly long (a clock that is wrong, say) must not stop the reads.
    const retryAfterMs = passes ? Math.min(error.retryAfterMs ?? 0, this.#context.maxOutageMs / 2) : 0;
    job.dueAt = now + Math.max(retryAfterMs, pollPauseMs(now - job.since));
    if (passes && now - job.failingSince < this.#context.maxOutageMs) return;
    for (const waiter of job.waiters) this.#leave(job, waiter).reject(error);
  }
}
