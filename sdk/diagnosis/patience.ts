import type { Clock } from "../contract/clock";
import { RequestTimeoutError, ServerlessGpuError } from "../errors";

/**
 * The time limit of a read, in milliseconds. It is short because someone is waiting for the
 * diagnosis.
 */
export const SOURCE_READ_MS = 5_000;
/** The shortest time limit of a read from a source that does not respond, in milliseconds. */
const LEAST_MS = 250;
/** How long shorter time limits apply to a source that has not responded, in milliseconds. */
const HURRY_MS = 30_000;

/** What is known about a source of evidence. */
interface Known {
  /** The number of reads without a response since the last response. */
  readonly hung: number;
  readonly hungAt: number;
  readonly answeredAt: number;
}

const NOTHING: Known = { hung: 0, hungAt: 0, answeredAt: Number.NEGATIVE_INFINITY };

/**
 * Returns a function that sets the time limit of each read from a source. The limit becomes shorter
 * with each read that gets no response. As a result, a hundred diagnoses of an unresponsive service
 * take about 20 s in total.
 */
export function createPatience(clock: Clock) {
  const sources = new Map<string, Known>();

  function timeFor({ hung, hungAt }: Known): number {
    const isOver = clock.monotonic() - hungAt > HURRY_MS;
    return isOver ? SOURCE_READ_MS : Math.max(LEAST_MS, SOURCE_READ_MS / (1 + hung));
  }

  return async function patiently<T>(source: string, read: (timeoutMs: number) => Promise<T>): Promise<T> {
    const startedAt = clock.monotonic();
    const known = () => sources.get(source) ?? NOTHING;
    const noteAnswer = () => sources.set(source, { ...NOTHING, answeredAt: clock.monotonic() });
    try {
      const value = await read(timeFor(known()));
      noteAnswer();
      return value;
    } catch (error) {
      const { hung, answeredAt } = known();
      // A response with any status counts. Waiting for our own rate limit counts neither as a
      // response nor as a missing response.
      if (error instanceof ServerlessGpuError && error.status !== undefined) noteAnswer();
      else if (error instanceof RequestTimeoutError && answeredAt < startedAt)
        sources.set(source, { hung: hung + 1, hungAt: clock.monotonic(), answeredAt });
      throw error;
    }
  };
}
