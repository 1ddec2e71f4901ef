import { JOB_TTL_MS, RUN_RESULT_RETENTION_MS, RUNSYNC_RESULT_RETENTION_MS } from "../contract/limits";
import type { ExpiryReason } from "./jobErrors";

/**
 * Facts that determine how long the service knows a job. Times are in milliseconds since the epoch.
 */
export interface JobLifetime {
  /** When the job was submitted. `undefined` for a job that was submitted elsewhere. */
  readonly submittedAt?: number | undefined;
  readonly ttlMs: number;
  /** How long the result is kept after the job ends, in milliseconds. */
  readonly retentionMs: number;
  /** When the client first saw that the job had ended. */
  readonly endedAt?: number | undefined;
}

/** Returns a lifetime from the known facts, and uses the contract's defaults for the rest. */
export function jobLifetime(known: Partial<JobLifetime>): JobLifetime {
  return { ttlMs: JOB_TTL_MS.default, retentionMs: RUN_RESULT_RETENTION_MS, ...known };
}

/** How long a result is kept, in milliseconds (contract, Limits). */
export const RETENTION_MS = { run: RUN_RESULT_RETENTION_MS, runsync: RUNSYNC_RESULT_RETENTION_MS.default } as const;

/**
 * Returns the latest time at which the service still knows the job, or `undefined` if the time is
 * not known.
 */
export function expiresAt(lifetime: JobLifetime): number | undefined {
  const ends = [ttlEnd(lifetime), retentionEnd(lifetime)].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/**
 * Returns why and since when the service no longer knows the job at the time `now`. Returns
 * `undefined` if the job has not expired.
 */
export function expiryOf(
  lifetime: JobLifetime,
  now: number,
): { readonly reason: ExpiryReason; readonly at: number } | undefined {
  const { submittedAt, retentionMs } = lifetime;
  const ttlEndsAt = ttlEnd(lifetime);
  const retentionEndsAt = retentionEnd(lifetime);
  // The job may have ended before the client saw that, so its result may expire earlier.
  if (retentionEndsAt !== undefined && retentionEndsAt <= (ttlEndsAt ?? Number.POSITIVE_INFINITY)) {
    return { reason: "retention", at: Math.min(now, retentionEndsAt) };
  }
  if (ttlEndsAt !== undefined && ttlEndsAt <= now) return { reason: "ttl", at: ttlEndsAt };
  // The job may have ended soon after the submit without this client seeing it.
  if (submittedAt !== undefined && submittedAt + retentionMs <= now) return { reason: "retention", at: now };
  return undefined;
}

function ttlEnd({ submittedAt, ttlMs }: JobLifetime): number | undefined {
  return submittedAt === undefined ? undefined : submittedAt + ttlMs;
}

function retentionEnd({ endedAt, retentionMs }: JobLifetime): number | undefined {
  return endedAt === undefined ? undefined : endedAt + retentionMs;
}
