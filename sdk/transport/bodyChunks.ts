import type { Readable } from "node:stream";
import { RequestTimeoutError } from "../errors/errors";
import { type AttemptTimer, startAttemptTimer } from "./attemptTimer";
import { failureOf } from "./connectionErrors";
import type { Http, OutgoingRequest } from "./httpRequest";

const END = { done: true, value: undefined } as const;

/**
 * Returns the chunks of a body. The body ends when the client is closed, or when no data arrives
 * for `idleMs` while the reader waits for a chunk. This is not a generator, because ending a
 * generator before its first read would not run its cleanup.
 */
export function chunksOf(
  http: Http,
  httpRequest: OutgoingRequest,
  body: Readable,
  idleMs: number,
): AsyncIterableIterator<Uint8Array> {
  endWithClient(http, httpRequest, body);
  const chunks: AsyncIterator<Uint8Array> = body[Symbol.asyncIterator]();
  let isOver = false;
  return {
    async next() {
      if (isOver) return END;
      const timer = startIdleTimer(http, httpRequest, idleMs);
      try {
        const next = await chunks.next();
        if (!next.done) return next;
        isOver = true;
        return END;
      } catch (cause) {
        if (isOver) return END;
        isOver = true;
        throw failureOf(cause, httpRequest, http.proxyHint);
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

/** Ends a body when the client is closed. */
function endWithClient({ closing }: Http, { attempt: { signal } }: OutgoingRequest, body: Readable): void {
  closing.bodies.add(signal);
  body.once("close", () => closing.bodies.delete(signal));
  // The body may not have a reader yet, so handle its errors here.
  body.on("error", () => {});
  if (closing.closedBy) signal.abort(closing.closedBy);
}

/** Starts a timer that ends the request when no data arrives for `idleMs`. */
function startIdleTimer({ clock }: Http, { operation, attempt }: OutgoingRequest, idleMs: number): AttemptTimer {
  return startAttemptTimer(clock, {
    idleMs,
    timeLeftMs: Number.POSITIVE_INFINITY,
    uploadCounts: true,
    onEnd(waitedMs) {
      const message = `${operation}: no data arrived for ${Math.round(waitedMs / 100) / 10} s`;
      attempt.signal.abort(
        new RequestTimeoutError(`${message}. Set a longer timeoutMs if the response can take that long`),
      );
    },
  });
}
