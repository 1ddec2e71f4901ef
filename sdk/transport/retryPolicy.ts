import type { ErrorCode, ServerlessGpuError } from "../errors/errors";

/**
 * What happens if a call is sent twice. A `safe` call has the same effect as if it were sent once
 * (reads, and writes with an id). A `create` may create a second record. A `submit` may start a
 * second job.
 */
export type Repeatability = "safe" | "create" | "submit";

/** The limits of one call: the maximum number of attempts and the maximum time. */
export interface RetryPolicy {
  /** The maximum number of attempts (integer, ≥ 1). @default 6 */
  readonly maxAttempts: number;
  /**
   * The maximum time for all attempts and pauses, in milliseconds. For a create or an update of a
   * record, this is the time for all requests of the operation together.
   * @default 120,000
   */
  readonly maxElapsedMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = { maxAttempts: 6, maxElapsedMs: 120_000 };

/**
 * The maximum pauses before the second, third, … attempt, in milliseconds: 0.5 s, doubled each time
 * up to 20 s.
 */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;

/**
 * The minimum time that must be left for a further attempt, in milliseconds, or a quarter of the
 * call's time if that is less. With less time left, the attempt would only time out.
 */
const LAST_ATTEMPT_MS = 5_000;

/** The next step after a failed attempt. */
interface RetryDecision {
  /** `true` if the effect of the attempt must be checked first. */
  readonly lookUp: boolean;
  /**
   * The pause before the next attempt, in milliseconds. `undefined` if there is no further attempt.
   */
  readonly retryInMs?: number;
  /**
   * `true` if there is no further attempt because the service asks for a wait that is longer than
   * the call allows.
   */
  readonly isAskedToWaitLonger?: true;
}

/** The facts about a failed attempt that decide the next step. */
interface FailedAttempt {
  readonly repeatability: Repeatability;
  readonly error: ServerlessGpuError;
  /** The number of the attempt, starting at 1. */
  readonly attempt: number;
  /** Time since the call began, in milliseconds. */
  readonly elapsedMs: number;
  /** A random number in [0, 1), which determines the jitter. */
  readonly random: number;
}

/** The codes of errors that prove that the request had no effect. */
const WITHOUT_EFFECT: readonly ErrorCode[] = [
  "RATE_LIMITED",
  "CANNOT_CONNECT",
  "UNTRUSTED_CERTIFICATE",
  "PROXY_AUTHENTICATION",
  "CLIENT_CLOSED",
  "REJECTED",
  "NO_QUEUE",
  "BUSINESS_RULE",
  "QUOTA_EXCEEDED",
  "AUTHENTICATION",
  "NOT_FOUND",
  "CONFIGURATION",
  "INVALID_INPUT",
];

/** Returns `true` if a request that failed with this error may still have had its effect. */
export function mayHaveHadEffect(error: ServerlessGpuError): boolean {
  return !WITHOUT_EFFECT.includes(error.code);
}

/**
 * Decides the next step after a failed attempt. A 429 or a failed connection had no effect, so the
 * call is always retried. After any other temporary fault, the effect is unknown: a `safe` call is
 * retried, a `create` is retried only after checking whether it took effect, and a `submit` is
 * never retried. A response with an unexpected shape is not retried, but for a `create`, its effect
 * is checked.
 */
export function decideRetry(failed: FailedAttempt, policy: RetryPolicy): RetryDecision {
  const { repeatability, error, attempt, elapsedMs } = failed;
  const effectUnknown = mayHaveHadEffect(error);
  const lookUp = repeatability === "create" && effectUnknown;
  if (error.disposition === "stop" || attempt >= policy.maxAttempts) return { lookUp };
  if (repeatability === "submit" && effectUnknown) return { lookUp };
  const leftMs = policy.maxElapsedMs - elapsedMs;
  const latestMs = leftMs - Math.min(LAST_ATTEMPT_MS, policy.maxElapsedMs / 4);
  const { retryAfterMs = 0 } = error;
  if (retryAfterMs > 0 && retryAfterMs >= leftMs) return { lookUp, isAskedToWaitLonger: true };
  if (latestMs < FIRST_PAUSE_MS) return { lookUp };
  // Even if Retry-After is very short, the pauses must grow, and clients must not all retry at the
  // same time.
  const retryInMs = Math.max(pauseMs(attempt, failed.random), retryAfterMs);
  return retryInMs <= latestMs || retryInMs === retryAfterMs ? { lookUp, retryInMs } : { lookUp };
}

/**
 * Returns the pause after the given attempt, in milliseconds. The pause is random, up to a maximum
 * that doubles with each attempt (full jitter).
 */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
}
