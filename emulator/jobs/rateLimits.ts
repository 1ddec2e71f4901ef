import { DEFAULT_REQUESTS_PER_WORKER, RATE_LIMITS, RATE_WINDOW_MS } from "../../sdk/contract/limits";
import type { EmulatorClock } from "../time/virtualClock";

/**
 * A queue operation that has a rate limit.
 * @useDeclaredType
 */
export type LimitedOperation = keyof typeof RATE_LIMITS;

/** Returns `true` if an operation has a rate limit. `/retry` and `/health` have none. */
export function isLimited(operation: string): operation is LimitedOperation {
  return Object.hasOwn(RATE_LIMITS, operation);
}

/** The limits of one operation of an endpoint. */
export interface RateLimit {
  /** Requests in any 10 seconds, ≥ 0. */
  readonly perWindow: number;
  /** Concurrent requests, ≥ 0. */
  readonly concurrent: number;
}

/** How many requests an account may send to a management API (REST v2 or GraphQL). */
export interface ManagementLimits {
  /** Requests per minute (integer, ≥ 1). @default no limit */
  readonly perMinute?: number | undefined;
  /** Requests per hour (integer, ≥ 1). @default no limit */
  readonly perHour?: number | undefined;
  /** Requests per day (integer, ≥ 1). @default no limit */
  readonly perDay?: number | undefined;
}

/**
 * The emulator's rate limits. Queue limits apply per endpoint and operation, and limits of REST v2
 * and GraphQL apply to the account.
 */
export interface RateLimitOptions {
  /**
   * The queue limits: `"real"` for the contract's table (contract, Limits), `"off"` for none, or an
   * object with limits for some operations. The other operations follow the table.
   * @default "real"
   */
  readonly limits?: "real" | "off" | Partial<Record<LimitedOperation, Partial<RateLimit>>> | undefined;
  /**
   * Each running worker raises the limit per 10 seconds to at least this many requests (contract,
   * Dynamic rule).
   * @default 50
   */
  readonly requestsPerWorker?: number | undefined;
  /**
   * The limits of REST v2: `"real"` for 60 requests per minute, 3,000 per hour and 50,000 per day,
   * `"off"` for none, or custom limits.
   * @default "real" in the observed profile, else "off"
   */
  readonly management?: "real" | "off" | ManagementLimits | undefined;
  /**
   * The limits of GraphQL: `"real"` for 180 requests per minute, 3,600 per hour and 43,200 per day,
   * `"off"` for none, or custom limits.
   * @default "off"
   */
  readonly graphql?: "real" | "off" | ManagementLimits | undefined;
}

export interface RateLimiter {
  /**
   * Counts a request. Returns a function that must be called when the response is ready. Returns
   * `undefined` if the request exceeds the limit. It must then be refused and does not count.
   */
  begin(operation: LimitedOperation): (() => void) | undefined;
}

/** @param runningWorkers returns how many workers are running a job */
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
  /**
   * Counts a request and returns `true`, unless there were already `limit` requests in the last 10
   * seconds.
   */
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
