import { type Clock, timeLimit } from "../contract/clock";
import { RATE_LIMITS } from "../contract/limits";
import { RateLimitError } from "../errors";
import { createLimiter } from "../transport/limiter";
import { createGate } from "../transport/throttle";

/** For how long a delivery may wait until it is confirmed, in milliseconds. */
const LONGEST_WAIT_MS = 30_000;

/** Reads a job when its turn has come. */
export type WebhookLine = <T>(jobId: string, read: () => Promise<T>) => Promise<T>;

/** Lets confirmations through within a share of the limit of `/status`, one after the other. */
export function createWebhookLine(clock: Clock, share: number): WebhookLine {
  const { perWindow, concurrent } = RATE_LIMITS.status;
  const gate = createGate(clock, createLimiter({ perWindow: perWindow * share, concurrent: concurrent * share }));
  return async (jobId, read) => {
    const tooLong = () =>
      new RateLimitError(
        `a delivery about job ${jobId} waited too long for its confirmation: there are too many at once`,
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
