import type { ServerlessGpuError } from "../errors";

/**
 * What repeating a call may do: `safe` calls have the same effect once or twice (reads, and writes that carry an id);
 * a `create` may make a second endpoint; a `submit` may start a second job.
 */
export type Repeatability = "safe" | "create" | "submit";

/** Bounds of one call, its attempts and the pauses between them. */
export interface RetryPolicy {
  /** Attempts in all. Default 6. */
  readonly maxAttempts: number;
  /** Time for all attempts and pauses together, in milliseconds. Default 120,000. */
  readonly maxElapsedMs: number;
}

export const DEFAULT_RETRY_POLICY: RetryPolicy = { maxAttempts: 6, maxElapsedMs: 120_000 };

/** Longest pauses before the second, third, … attempt, in milliseconds: 0.5 s doubling to 20 s. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 20_000;

/** No attempt begins with less time than this, or a quarter of the call's: it would fail for want of time, not by its cause. */
const LAST_ATTEMPT_MS = 5_000;

/** What to do after a failed attempt. */
export interface Decision {
  /** Look whether the attempt had its effect after all, before anything else. */
  readonly lookUp: boolean;
  /** Try again after so many milliseconds; nothing: give up. */
  readonly retryInMs?: number;
}

/** A failed attempt as far as the decision depends on it. */
export interface FailedAttempt {
  readonly repeatability: Repeatability;
  readonly error: ServerlessGpuError;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Time since the call began, in milliseconds. */
  readonly elapsedMs: number;
  /** A number in [0, 1), for the jitter. */
  readonly random: number;
}

/** Codes of errors after which it is certain that the request had no effect. */
const WITHOUT_EFFECT = [
  "RATE_LIMITED",
  "CANNOT_CONNECT",
  "UNTRUSTED_CERTIFICATE",
  "PROXY_AUTHENTICATION",
  "CLIENT_CLOSED",
  "REJECTED",
  "BUSINESS_RULE",
  "QUOTA_EXCEEDED",
  "AUTHENTICATION",
  "NOT_FOUND",
  "CONFIGURATION",
];

/** Whether a request that failed with this error may have had its effect all the same. */
export function mayHaveHadEffect(error: ServerlessGpuError): boolean {
  return !WITHOUT_EFFECT.includes(error.code);
}

/**
 * The whole decision table. A refusal (429), or a connection that was never made, had no effect and is always tried
 * again. After any other passing fault the effect is unknown: `safe` calls are sent again, a `create` only after a
 * look-up, a `submit` never. An answer that cannot be understood is not asked for again, but a `create` looks what it
 * did.
 */
export function decide(failed: FailedAttempt, policy: RetryPolicy): Decision {
  const { repeatability, error, attempt, elapsedMs } = failed;
  const effectUnknown = mayHaveHadEffect(error);
  const lookUp = repeatability === "create" && effectUnknown;
  if (error.disposition === "stop" || attempt >= policy.maxAttempts) return { lookUp };
  if (repeatability === "submit" && effectUnknown) return { lookUp };
  const latestMs = policy.maxElapsedMs - elapsedMs - Math.min(LAST_ATTEMPT_MS, policy.maxElapsedMs / 4);
  if (latestMs < FIRST_PAUSE_MS) return { lookUp };
  // Also with a Retry-After that is very short, pauses grow and callers do not come back in step.
  const retryInMs = Math.max(pauseMs(attempt, failed.random), Math.min(error.retryAfterMs ?? 0, latestMs));
  return retryInMs <= latestMs ? { lookUp, retryInMs } : { lookUp };
}

/** The pause after the given attempt: anything up to a bound that doubles each time (full jitter). */
export function pauseMs(attempt: number, random: number): number {
  return random * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1));
}
