import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS } from "../contract/limits";
import { createLimiter, type Limiter } from "./limiter";
import type { RateLimitEvent } from "./observers";

/** Admits requests in order, as fast as a limiter allows. */
export interface Gate {
  /** Admits a request if it may start at once. Returns `false` if it must wait. */
  tryEnter(): boolean;
  /** Resolves when the request is admitted, after earlier ones. */
  enter(signal?: AbortSignal): Promise<void>;
  /** Counts a request that an admitted attempt sends in addition to its first. */
  count(): void;
  /** Records the end of an admitted request. */
  leave(startedAt: number, refused: boolean, retryAfterMs?: number): void;
  /** Returns how many admitted requests have ended without a refusal. */
  accepted(): number;
  /** Returns how long it admits nothing because the service asked for it, in milliseconds. */
  closedMs(): number;
  /** Returns for how long requests have waited, in milliseconds. Several at once count once. */
  heldMs(): number;
}

/** The time between two reports of requests that wait, in milliseconds. */
const REPORT_MS = 10_000;

/** @param onWait called while requests wait for a known time */
export function createGate(clock: Clock, limiter: Limiter, onWait?: (event: RateLimitEvent) => void): Gate {
  const waiting = new Set<() => void>();
  let cancelTimer: (() => void) | undefined;
  let reportedAt = Number.NEGATIVE_INFINITY;
  let heldMs = 0;
  let accepted = 0;
  /** When the first of the waiting requests began to wait. */
  let heldSince = 0;

  function remove(start: () => void): void {
    waiting.delete(start);
    if (waiting.size === 0) heldMs += clock.monotonic() - heldSince;
  }

  /** Admits the requests that may start now, and sets a timer for the others. */
  function admit(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    for (const start of waiting) {
      const delayMs = limiter.delayMs(clock.monotonic());
      if (delayMs > 0) {
        // Without a known time, the next request that ends admits the others.
        if (Number.isFinite(delayMs))
          cancelTimer = clock.schedule(onWait ? Math.min(delayMs, REPORT_MS) : delayMs, look);
        return;
      }
      remove(start);
      limiter.start();
      start();
    }
  }

  function look(): void {
    admit();
    const now = clock.monotonic();
    const delayMs = limiter.delayMs(now);
    if (waiting.size === 0 || delayMs === 0 || !Number.isFinite(delayMs) || now - reportedAt < REPORT_MS) return;
    reportedAt = now;
    onWait?.({ waiting: waiting.size, delayMs });
  }

  return {
    tryEnter() {
      if (waiting.size > 0 || limiter.delayMs(clock.monotonic()) > 0) return false;
      limiter.start();
      return true;
    },
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const start = () => {
          ignoreAbort();
          resolve();
        };
        const ignoreAbort = onAbort(signal, () => {
          remove(start);
          if (waiting.size === 0) cancelTimer?.();
          reject(signal?.reason);
        });
        if (waiting.size === 0) heldSince = clock.monotonic();
        waiting.add(start);
        if (waiting.size === 1) admit();
      });
    },
    count() {
      const now = clock.monotonic();
      limiter.start();
      limiter.end(now, now, false);
    },
    closedMs: () => limiter.closedMs?.(clock.monotonic()) ?? 0,
    accepted: () => accepted,
    leave(startedAt, refused, retryAfterMs) {
      if (!refused) accepted++;
      limiter.end(clock.monotonic(), startedAt, refused, retryAfterMs);
      if (waiting.size > 0) admit();
    },
    heldMs: () => heldMs + (waiting.size > 0 ? clock.monotonic() - heldSince : 0),
  };
}

/** Settings of the client's rate limiter. */
export interface RateLimitOptions {
  /**
   * The service's `requests_per_worker`, if you know it. The limit per 10 seconds is then this
   * number for each running worker in the last `health`, if that is more than the contract's limit.
   * @default 0: not used
   */
  readonly requestsPerWorker?: number | undefined;
}

/** The gates of one endpoint: one for each operation with a limit (contract, Limits). */
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
  const gates = new Map([...limiters].map(([name, limiter]) => [name, createGate(clock, limiter)]));
  return {
    of: (operation) => gates.get(operation),
    setRunningWorkers(running) {
      for (const limiter of limiters.values()) limiter.raise(running * requestsPerWorker);
    },
  };
}
