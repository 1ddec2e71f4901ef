import { type Clock, timeLimit } from "../contract/clock";
import { RATE_LIMITS } from "../contract/limits";
import { RateLimitError } from "../errors/errors";
import { Gate } from "../transport/gate";
import { createLimiter } from "../transport/limiter";

/** The longest time that a delivery waits to be confirmed, in milliseconds. */
const LONGEST_WAIT_MS = 30_000;

/** Waits for a job's turn, then reads the job. */
type WebhookLine = <T>(jobId: string, read: () => Promise<T>) => Promise<T>;

/**
 * Creates a function that reads jobs in the order of the calls, within a share of the limit of
 * `/status`.
 */
export function createWebhookLine(clock: Clock, share: number): WebhookLine {
  const { perWindow, concurrent } = RATE_LIMITS.status;
  const gate = new Gate(clock, createLimiter({ perWindow: perWindow * share, concurrent: concurrent * share }));
  return async (jobId, read) => {
    const tooLong = () =>
      new RateLimitError(
        `the status of job ${jobId} could not be checked in time after a webhook: too many deliveries arrived at once`,
      );
    const limit = timeLimit(clock, LONGEST_WAIT_MS, tooLong);
    await gate.enter(limit.signal).finally(() => limit.release());
    const startedAt = clock.monotonic();
    try {
      return await read();
    } finally {
      gate.leave(startedAt, false);
    }
  };
}
