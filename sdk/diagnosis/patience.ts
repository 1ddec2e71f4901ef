import type { Clock } from "../contract/clock";
import { RequestTimeoutError, ServerlessGpuError } from "../errors/errors";

/**
 * The time limit of a read, in milliseconds. It is short because someone is waiting for the
 * diagnosis.
 */
export const SOURCE_READ_MS = 5_000;
/** The shortest time limit of a read from a source that does not respond, in milliseconds. */
const LEAST_MS = 250;
/** How long shorter time limits apply to a source that has not responded, in milliseconds. */
const HURRY_MS = 30_000;

/**
 * Returns a function that sets the time limit of each read from a source. The limit becomes shorter
 * with each read that gets no response. As a result, a hundred diagnoses of an unresponsive service
 * take about 20 s in total.
 */
export function createPatience(clock: Clock) {
  /** The reads without a response since the last response of each source. */
  const unanswered = new Map<string, { readonly reads: number; readonly lastAt: number }>();
  return async function patiently<T>(source: string, read: (timeoutMs: number) => Promise<T>): Promise<T> {
    const { reads = 0, lastAt = 0 } = unanswered.get(source) ?? {};
    const isOver = clock.monotonic() - lastAt > HURRY_MS;
    try {
      const value = await read(isOver ? SOURCE_READ_MS : Math.max(LEAST_MS, SOURCE_READ_MS / (1 + reads)));
      unanswered.delete(source);
      return value;
    } catch (error) {
      // A response with any status counts. Waiting for our own rate limit counts as neither.
      if (error instanceof ServerlessGpuError && error.status !== undefined) unanswered.delete(source);
      else if (error instanceof RequestTimeoutError)
        unanswered.set(source, { reads: (unanswered.get(source)?.reads ?? 0) + 1, lastAt: clock.monotonic() });
      throw error;
    }
  };
}
