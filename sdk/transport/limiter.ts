import { RATE_WINDOW_MS } from "../contract/limits";

/** How many requests the service takes (contract, Limits). */
export interface RateLimit {
  /** In any 10 seconds. */
  readonly perWindow: number;
  /** Not answered yet. */
  readonly concurrent: number;
}

/** After a 429 half of the limit is used; the whole of it again after at most this time, bit by bit, in milliseconds. */
const RECOVERY_MS = 60_000;

/** However often the service refuses, this share of the limit is still tried. */
const SMALLEST_SHARE = 1 / 64;

/** Keeps one operation of one endpoint within its limit. It reads no clock: every time is given, in milliseconds. */
export interface Limiter {
  /** How long the next request has to wait. 0: it may start. Infinity: until one that is under way has ended. */
  delayMs(now: number): number;
  start(): void;
  /** @param refused the service answered 429 */
  end(now: number, startedAt: number, refused: boolean): void;
  /** Raises the requests per window to this many where that is more than the limit (contract, Dynamic rule). */
  raise(perWindow: number): void;
}

/**
 * A request counts from its start until 10 seconds after its answer. The service, which counts from when a request
 * arrives, therefore never sees more than the limit in any 10 seconds, however long requests are on their way.
 */
export function createLimiter(base: RateLimit): Limiter {
  let perWindow = base.perWindow;
  let inFlight = 0;
  /** When the requests that still count were answered, the oldest first, from `first` on. */
  let ended: number[] = [];
  let first = 0;
  let shareWhenRefused = 1;
  let refusedAt = Number.NEGATIVE_INFINITY;

  /** The part of the limit that is used at present. */
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
      forgetUntil(now - RATE_WINDOW_MS);
      const share = shareAt(now);
      if (inFlight >= Math.max(1, base.concurrent * share)) return Number.POSITIVE_INFINITY;
      const excess = inFlight + ended.length - first - Math.max(1, Math.floor(perWindow * share));
      if (excess < 0) return 0;
      const blocking = ended[first + excess];
      return blocking === undefined ? Number.POSITIVE_INFINITY : blocking + RATE_WINDOW_MS - now;
    },
    start() {
      inFlight++;
    },
    end(now, startedAt, refused) {
      inFlight--;
      ended.push(now);
      // Requests that were sent before the last reduction say nothing about the reduced limit.
      if (!refused || startedAt <= refusedAt) return;
      shareWhenRefused = Math.max(SMALLEST_SHARE, shareAt(now) / 2);
      refusedAt = now;
    },
    raise(newPerWindow) {
      perWindow = Math.max(base.perWindow, newPerWindow);
    },
  };
}
