import { DEFAULT_REQUESTS_PER_WORKER, RATE_LIMITS, RATE_WINDOW_MS } from "../../sdk/contract/limits";
import type { EmulatorClock } from "../time/virtualClock";

/**
 * An operation of the queue that has a rate limit.
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
  /** Requests in flight at once, ≥ 0. */
  readonly concurrent: number;
}

/** The requests to a management interface, REST v2 or GraphQL, that an account may make. */
export interface ManagementLimits {
  /** Requests in a minute (integer, ≥ 1). @default no limit */
  readonly perMinute?: number | undefined;
  /** Requests in an hour (integer, ≥ 1). @default no limit */
  readonly perHour?: number | undefined;
  /** Requests in a day (integer, ≥ 1). @default no limit */
  readonly perDay?: number | undefined;
}

/**
 * The rate limits of an emulator: of queues, for each endpoint and operation, and of REST v2 and
 * GraphQL, for the account.
 */
export interface RateLimitOptions {
  /**
   * `"real"` for the table of the contract (contract, Limits), `"off"` for no limits, or an object
   * with the limits of some operations. The others follow the table.
   * @default "real"
   */
  readonly limits?: "real" | "off" | Partial<Record<LimitedOperation, Partial<RateLimit>>> | undefined;
  /**
   * The limit per 10 seconds is at least this many for each running worker (contract, Dynamic
   * rule).
   * @default 50
   */
  readonly requestsPerWorker?: number | undefined;
  /**
   * The limits of REST v2: `"real"` for 60 requests in a minute, 3,000 in an hour and 50,000 in a
   * day, `"off"`, or others.
   * @default "real" in the observed profile, else "off"
   */
  readonly management?: "real" | "off" | ManagementLimits | undefined;
  /**
   * The limits of GraphQL: `"real"` for 180 requests in a minute, 3,600 in an hour and 43,200 in a
   * day, `"off"`, or others.
   * @default "off"
   */
  readonly graphql?: "real" | "off" | ManagementLimits | undefined;
}

export interface RateLimiter {
  /**
   * Counts a request. Returns a function that must be called when the response is ready. Returns
   * `undefined` if the request exceeds the limit: it must be refused and does not count.
   */
  begin(operation: LimitedOperation): (() => void) | undefined;
}

/**
 * @param runningWorkers returns the number of workers with a job
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
  /**
   * Counts a request and returns `true`, unless there were `limit` requests in the last 10 seconds.
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
