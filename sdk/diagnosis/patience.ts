import type { Clock } from "../contract/clock";
import { RequestTimeoutError, ServerlessGpuError } from "../errors";

/** The time for a read, in milliseconds: people wait. */
export const SOURCE_READ_MS = 5_000;
/** The least time for a read of a source that does not respond, in milliseconds. */
const LEAST_MS = 250;
/** How long a source that has not responded gets less time, in milliseconds. */
const HURRY_MS = 30_000;

/** What is known of a source of evidence. */
interface Known {
  /** The reads since the last response that had none. */
  readonly hung: number;
  readonly hungAt: number;
  readonly answeredAt: number;
}

const NOTHING: Known = { hung: 0, hungAt: 0, answeredAt: Number.NEGATIVE_INFINITY };

/**
 * Returns a function that gives each read of a source its time. The more reads have had no
 * response, the less it is, so that a hundred diagnoses of a service that hangs together take about
 * 20 s.
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
      // Any status is a response. A wait for our own rate limit is neither.
      if (error instanceof ServerlessGpuError && error.status !== undefined) noteAnswer();
      else if (error instanceof RequestTimeoutError && answeredAt < startedAt)
        sources.set(source, { hung: hung + 1, hungAt: clock.monotonic(), answeredAt });
      throw error;
    }
  };
}
