import { RATE_WINDOW_MS } from "../contract/limits";

/** How many requests the service accepts (contract, Limits). */
interface RequestQuota {
  /** The number of requests in any window. */
  readonly perWindow: number;
  /** The length of the window, in milliseconds. @default 10,000 (contract, Limits) */
  readonly windowMs?: number;
  /** The number of requests that may be waiting for a response at the same time. */
  readonly concurrent: number;
}

/**
 * How long it takes until the whole limit is used again, in milliseconds. A 429 halves the share of
 * the limit that is used.
 */
const RECOVERY_MS = 60_000;

/** The minimum share of the limit that is used after repeated 429s. */
const SMALLEST_SHARE = 1 / 64;

/**
 * Keeps one operation of one endpoint within its limit. It does not read a clock, so callers pass
 * the time, in milliseconds.
 */
export interface Limiter {
  /**
   * Returns how long the next request must wait, in milliseconds. 0 means that it may start, and
   * Infinity means that another request must end first.
   */
  delayMs(now: number): number;
  start(): void;
  /**
   * @param refused `true` if the service responded with 429
   * @param retryAfterMs the wait that the service asked for, in milliseconds
   */
  end(now: number, startedAt: number, refused: boolean, retryAfterMs?: number): void;
  /**
   * Returns for how much longer no requests are let through because the service asked for a wait,
   * in milliseconds.
   * @default 0
   */
  closedMs?(now: number): number;
  /**
   * Raises the number of requests per window to this value, if the value exceeds the limit
   * (contract, Dynamic rule).
   */
  raise(perWindow: number): void;
}

/**
 * Creates a limiter. A request counts from its start until one window after its response. The
 * service counts requests from their arrival, so it never sees more requests than the limit in any
 * window, even on a slow network.
 */
export function createLimiter(base: RequestQuota): Limiter {
  const { windowMs = RATE_WINDOW_MS } = base;
  let perWindow = base.perWindow;
  let inFlight = 0;
  /** The times of those responses that still count, oldest first, starting at index `first`. */
  let ended: number[] = [];
  let first = 0;
  let shareWhenRefused = 1;
  let refusedAt = Number.NEGATIVE_INFINITY;

  /** Returns the share of the limit that is currently used. */
  function shareAt(now: number): number {
    return Math.min(1, shareWhenRefused + (now - refusedAt) / RECOVERY_MS);
  }

  function forgetUntil(time: number): void {
    while (first < ended.length && (ended[first] as number) <= time) first++;
    if (first < 1000 || first < ended.length / 2) return;
    ended = ended.slice(first);
    first = 0;
  }

  return {
    delayMs(now) {
      forgetUntil(now - windowMs);
      const share = shareAt(now);
      if (inFlight >= Math.max(1, base.concurrent * share)) return Number.POSITIVE_INFINITY;
      const excess = inFlight + ended.length - first - Math.max(1, Math.floor(perWindow * share));
      if (excess < 0) return 0;
      const blocking = ended[first + excess];
      return blocking === undefined ? Number.POSITIVE_INFINITY : blocking + windowMs - now;
    },
    start() {
      inFlight++;
    },
    end(now, startedAt, refused) {
      inFlight--;
      ended.push(now);
      // A request that started before the last reduction says nothing about the reduced limit, so
      // don't reduce it again.
      if (!refused || startedAt <= refusedAt) return;
      shareWhenRefused = Math.max(SMALLEST_SHARE, shareAt(now) / 2);
      refusedAt = now;
    },
    raise(newPerWindow) {
      perWindow = Math.max(base.perWindow, newPerWindow);
    },
  };
}

/**
 * How long an announced quota is respected after a 429, in milliseconds. After that, requests may
 * exceed it again, because the 429 may have been an isolated case.
 */
const KEPT_MS = 5 * 60_000;

/** The longest `Retry-After` for which all requests are held back, in milliseconds. */
const LONGEST_CLOSED_MS = 120_000;

/**
 * The maximum number of concurrent requests after a 429. Other programs use the same quota and may
 * use up each new window immediately. In that case, no more than this number of requests is
 * rejected.
 */
const CAREFUL_REQUESTS = 8;

/**
 * Creates a limiter for a quota that is only announced, because an account may have a larger quota.
 * Requests that exceed the announced quota are first let through one at a time. For each such
 * request that the service accepts, one more may be in progress at the same time. After a
 * rejection, the limiter waits as long as the service asks, and respects the announced quota for a
 * while.
 */
export function createAnnouncedLimiter(limit: RequestQuota): Limiter {
  const limiter = createLimiter(limit);
  let inFlight = 0;
  let refusedAt = Number.NEGATIVE_INFINITY;
  let closedUntil = Number.NEGATIVE_INFINITY;
  /** The maximum number of concurrent requests beyond the quota. */
  let beyond = 1;
  /** When requests began to exceed the quota. */
  let beyondSince = Number.POSITIVE_INFINITY;
  const closedMs = (now: number) => Math.max(0, closedUntil - now);
  return {
    ...limiter,
    closedMs,
    delayMs(now) {
      if (now - refusedAt > KEPT_MS) {
        const isBeyond = limiter.delayMs(now) > 0;
        beyondSince = isBeyond ? Math.min(beyondSince, now) : Number.POSITIVE_INFINITY;
        return isBeyond && inFlight >= beyond ? Number.POSITIVE_INFINITY : 0;
      }
      if (now < closedUntil) return closedMs(now);
      return inFlight >= CAREFUL_REQUESTS ? Number.POSITIVE_INFINITY : limiter.delayMs(now);
    },
    start() {
      inFlight++;
      limiter.start();
    },
    end(now, startedAt, refused, retryAfterMs = 0) {
      inFlight--;
      limiter.end(now, startedAt, refused);
      if (!refused) {
        // Requests that were sent before the quota was exceeded say nothing about whether it can be
        // exceeded.
        if (startedAt > beyondSince) beyond++;
        return;
      }
      beyondSince = Number.POSITIVE_INFINITY;
      beyond = 1;
      refusedAt = now;
      if (retryAfterMs <= LONGEST_CLOSED_MS) closedUntil = Math.max(closedUntil, now + retryAfterMs);
    },
  };
}
