import type { Readable } from "node:stream";
import type { AttemptTimer } from "./attemptTimer";

const END = { done: true, value: undefined } as const;

/**
 * The chunks of a body. The clock runs only while the reader waits for one. Not a generator: ending
 * a generator before its first read would not run its cleanup.
 */
export function chunksOf(
  body: Readable,
  startTimer: () => AttemptTimer,
  failureOf: (cause: unknown) => unknown,
): AsyncIterableIterator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let isOver = false;
  return {
    async next() {
      if (isOver) return END;
      const timer = startTimer();
      try {
        const next = await chunks.next();
        if (!next.done) return next;
        isOver = true;
        return END;
      } catch (cause) {
        if (isOver) return END;
        isOver = true;
        throw failureOf(cause);
      } finally {
        timer.cancel();
      }
    },
    async return() {
      isOver = true;
      body.destroy();
      return END;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
