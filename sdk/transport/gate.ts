import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS } from "../contract/limits";
import { createLimiter, type Limiter } from "./limiter";
import type { RateLimitEvent } from "./observers";

/** The time between two reports of requests that wait, in milliseconds. */
const REPORT_MS = 10_000;

/** Admits requests in order, as fast as a limiter allows. */
export class Gate {
  readonly #clock: Clock;
  readonly #limiter: Limiter;
  readonly #onWait: ((event: RateLimitEvent) => void) | undefined;
  readonly #waiting = new Set<() => void>();
  #cancelTimer: (() => void) | undefined;
  #reportedAt = Number.NEGATIVE_INFINITY;
  #heldMs = 0;
  /** When requests began to wait after the queue was last empty. */
  #heldSince = 0;
  #accepted = 0;

  /** @param onWait called while requests are waiting, if it is known for how long */
  constructor(clock: Clock, limiter: Limiter, onWait?: (event: RateLimitEvent) => void) {
    this.#clock = clock;
    this.#limiter = limiter;
    this.#onWait = onWait;
  }

  /** Admits a request if it may start at once. Returns `false` if it must wait. */
  tryEnter(): boolean {
    if (this.#waiting.size > 0 || this.#delayMs() > 0) return false;
    this.#limiter.start();
    return true;
  }

  /** Resolves when the request is admitted. Requests are admitted in the order of their calls. */
  enter(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const start = () => {
        ignoreAbort();
        resolve();
      };
      const ignoreAbort = onAbort(signal, () => {
        this.#remove(start);
        if (this.#waiting.size === 0) this.#cancelTimer?.();
        reject(signal?.reason);
      });
      if (this.#waiting.size === 0) this.#heldSince = this.#clock.monotonic();
      this.#waiting.add(start);
      if (this.#waiting.size === 1) this.#admit();
    });
  }

  /** Counts a request that an admitted attempt sends in addition to its first request. */
  count(): void {
    const now = this.#clock.monotonic();
    this.#limiter.start();
    this.#limiter.end(now, now, false);
  }

  /** Records the end of an admitted request. */
  leave(startedAt: number, refused: boolean, retryAfterMs?: number): void {
    if (!refused) this.#accepted++;
    this.#limiter.end(this.#clock.monotonic(), startedAt, refused, retryAfterMs);
    if (this.#waiting.size > 0) this.#admit();
  }

  /** The number of admitted requests that have ended without being rejected. */
  get accepted(): number {
    return this.#accepted;
  }

  /**
   * Returns for how much longer no requests are admitted because the service asked for a wait, in
   * milliseconds.
   */
  closedMs(): number {
    return this.#limiter.closedMs?.(this.#clock.monotonic()) ?? 0;
  }

  /**
   * Returns for how long requests have been held in total, in milliseconds. Time during which
   * several requests were waiting counts only once.
   */
  heldMs(): number {
    return this.#heldMs + (this.#waiting.size > 0 ? this.#clock.monotonic() - this.#heldSince : 0);
  }

  #delayMs(): number {
    return this.#limiter.delayMs(this.#clock.monotonic());
  }

  #remove(start: () => void): void {
    this.#waiting.delete(start);
    if (this.#waiting.size === 0) this.#heldMs += this.#clock.monotonic() - this.#heldSince;
  }

  /** Admits the requests that may start now, and sets a timer for the others. */
  #admit(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    for (const start of this.#waiting) {
      const delayMs = this.#delayMs();
      if (delayMs > 0) {
        // If the delay is not known, the waiting requests are admitted when another request ends.
        if (!Number.isFinite(delayMs)) return;
        const lookInMs = this.#onWait ? Math.min(delayMs, REPORT_MS) : delayMs;
        this.#cancelTimer = this.#clock.schedule(lookInMs, () => this.#look());
        return;
      }
      this.#remove(start);
      this.#limiter.start();
      start();
    }
  }

  #look(): void {
    this.#admit();
    const now = this.#clock.monotonic();
    const delayMs = this.#limiter.delayMs(now);
    const isKnown = delayMs > 0 && Number.isFinite(delayMs);
    if (this.#waiting.size === 0 || !isKnown || now - this.#reportedAt < REPORT_MS) return;
    this.#reportedAt = now;
    this.#onWait?.({ waiting: this.#waiting.size, delayMs });
  }
}

/** Settings of the client's rate limiter. */
export interface RateLimitOptions {
  /**
   * The service's `requests_per_worker`, if you know it. The limit per 10 seconds is then this
   * number multiplied by the number of running workers in the last `health` response, if the
   * product exceeds the contract's limit.
   * @default 0: not used
   */
  readonly requestsPerWorker?: number | undefined;
}

/**
 * The gates of one endpoint. There is one gate for each operation with a limit (contract, Limits).
 */
export interface Gates {
  of(operation: string): Gate | undefined;
  /** Updates the number of running workers, after `health` was read. */
  setRunningWorkers(running: number): void;
}

export function createGates(clock: Clock, options: RateLimitOptions | "off" = {}): Gates {
  if (options === "off") return { of: () => undefined, setRunningWorkers() {} };
  const { requestsPerWorker = 0 } = options;
  const operations = Object.keys(RATE_LIMITS) as (keyof typeof RATE_LIMITS)[];
  const limiters = new Map<string, Limiter>(operations.map((name) => [name, createLimiter(RATE_LIMITS[name])]));
  const gates = new Map([...limiters].map(([name, limiter]) => [name, new Gate(clock, limiter)]));
  return {
    of: (operation) => gates.get(operation),
    setRunningWorkers(running) {
      for (const limiter of limiters.values()) limiter.raise(running * requestsPerWorker);
    },
  };
}
