import { JOB_TTL_MS, RUN_RESULT_RETENTION_MS, RUNSYNC_RESULT_RETENTION_MS } from "../contract/limits";
import type { ExpiryReason } from "./jobErrors";

/** What is known of the time for which the service knows a job. Times are milliseconds since the epoch. */
export interface JobLifetime {
  /** When it was submitted; nothing when somebody else did that. */
  readonly submittedAt?: number | undefined;
  readonly ttlMs: number;
  /** How long the result is kept after the job's end. */
  readonly retentionMs: number;
  /** When it was first seen to have ended. */
  readonly endedAt?: number | undefined;
}

/** Of a job of which nothing is known but its id, or what is given. */
export function jobLifetime(known: Partial<JobLifetime>): JobLifetime {
  return { ttlMs: JOB_TTL_MS.default, retentionMs: RUN_RESULT_RETENTION_MS, ...known };
}

/** How long a result is kept (contract, Limits). */
export const RETENTION_MS = { run: RUN_RESULT_RETENTION_MS, runsync: RUNSYNC_RESULT_RETENTION_MS.default } as const;

/** When the service will not know the job any more, at the latest; nothing when that is not known. */
export function expiresAt(lifetime: JobLifetime): number | undefined {
  const ends = [ttlEnd(lifetime), retentionEnd(lifetime)].filter((end) => end !== undefined);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Why the service does not know the job at `now`, and since when at the latest; nothing when its time is not over. */
export function expiryOf(
  lifetime: JobLifetime,
  now: number,
): { readonly reason: ExpiryReason; readonly at: number } | undefined {
  const { submittedAt, retentionMs } = lifetime;
  const ttlEndsAt = ttlEnd(lifetime);
  const retentionEndsAt = retentionEnd(lifetime);
  // It ended before it was seen to have ended, so its result may go before that time is over.
  if (retentionEndsAt !== undefined && retentionEndsAt <= (ttlEndsAt ?? Number.POSITIVE_INFINITY)) {
    return { reason: "retention", at: Math.min(now, retentionEndsAt) };
  }
  if (ttlEndsAt !== undefined && ttlEndsAt <= now) return { reason: "ttl", at: ttlEndsAt };
  // It may have ended soon after it was submitted, with nobody looking.
  if (submittedAt !== undefined && submittedAt + retentionMs <= now) return { reason: "retention", at: now };
  return undefined;
}

function ttlEnd({ submittedAt, ttlMs }: JobLifetime): number | undefined {
  return submittedAt === undefined ? undefined : submittedAt + ttlMs;
}

function retentionEnd({ endedAt, retentionMs }: JobLifetime): number | undefined {
  return endedAt === undefined ? undefined : endedAt + retentionMs;
}
