import { DEFAULT_REQUESTS_PER_WORKER, RATE_LIMITS, RATE_WINDOW_MS } from "../../sdk/contract/limits";
import type { EmulatorClock } from "../time/virtualClock";

/**
 * An operation of the queue that has a limit.
 * @useDeclaredType
 */
export type LimitedOperation = keyof typeof RATE_LIMITS;

/** `/retry` and `/health` have none. */
export function isLimited(operation: string): operation is LimitedOperation {
  return Object.hasOwn(RATE_LIMITS, operation);
}

/** How much of one operation an endpoint takes. */
export interface RateLimit {
  /** Requests in any 10 seconds. */
  readonly perWindow: number;
  /** Requests that are not answered yet. */
  readonly concurrent: number;
}

/** How an emulator limits requests, for each endpoint and operation. */
export interface RateLimitOptions {
  /**
   * `"real"`: the contract's table (contract, Limits). `"off"`: none. Or own numbers for some operations, the table's
   * for the others.
   * @default "real"
   */
  readonly limits?: "real" | "off" | Partial<Record<LimitedOperation, Partial<RateLimit>>> | undefined;
  /** The limit per 10 seconds is at least this many for each running worker (contract, Dynamic rule). @default 50 */
  readonly requestsPerWorker?: number | undefined;
}

export interface RateLimiter {
  /**
   * Counts a request. Returns a function that must be called when it is answered; `undefined` when the request is over
   * the limit: it must be refused and does not count.
   */
  begin(operation: LimitedOperation): (() => void) | undefined;
}

/**
 * @param runningWorkers how many workers of the endpoint have a job
 */
export function createRateLimiter(
  { limits = "real", requestsPerWorker = DEFAULT_REQUESTS_PER_WORKER }: RateLimitOptions = {},
  clock: EmulatorClock,
  runningWorkers: () => number,
): RateLimiter {
  const usage = new Map<LimitedOperation, { inFlight: number; readonly window: SlidingWindow }>();

  return {
    begin(operation) {
      if (limits === "off") return () => {};
      const own = limits === "real" ? {} : limits[operation];
      const { perWindow, concurrent } = { ...RATE_LIMITS[operation], ...own };
      const used = usage.get(operation) ?? { inFlight: 0, window: createSlidingWindow(clock) };
      usage.set(operation, used);
      if (used.inFlight >= concurrent) return undefined;
      if (!used.window.admit(Math.max(perWindow, runningWorkers() * requestsPerWorker))) return undefined;
      used.inFlight += 1;
      return () => {
        used.inFlight -= 1;
      };
    },
  };
}

interface SlidingWindow {
  /** Counts a request unless `limit` of them came in the last 10 seconds. */
  admit(limit: number): boolean;
}

function createSlidingWindow(clock: EmulatorClock): SlidingWindow {
  const times: number[] = [];
  let first = 0;
  return {
    admit(limit) {
      const now = clock.monotonic();
      while (first < times.length && (times[first] as number) <= now - RATE_WINDOW_MS) first += 1;
      if (first > 1000 && first * 2 > times.length) {
        times.splice(0, first);
        first = 0;
      }
      if (times.length - first >= limit) return false;
      times.push(now);
      return true;
    },
  };
}
