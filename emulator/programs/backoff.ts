/**
 * The pauses before restarting a program that ended before it asked for a job, in milliseconds
 * (assumed).
 */
const PAUSES_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];

/**
 * Counts failed worker starts per endpoint, so that a broken program is not restarted constantly.
 */
export interface Backoff {
  /** Returns the pause before the next start. */
  delayMs(endpointId: string): number;
  failed(endpointId: string): void;
  succeeded(endpointId: string): void;
}

export function createBackoff(): Backoff {
  const failures = new Map<string, number>();
  return {
    delayMs(endpointId) {
      const count = failures.get(endpointId) ?? 0;
      return count === 0 ? 0 : (PAUSES_MS[Math.min(count, PAUSES_MS.length) - 1] as number);
    },
    failed: (endpointId) => failures.set(endpointId, (failures.get(endpointId) ?? 0) + 1),
    succeeded: (endpointId) => failures.delete(endpointId),
  };
}
