import { onAbort } from "../contract/clock";
import { RequestTimeoutError } from "../errors/errors";
import type { CallContext } from "../transport/call";
import type { ObservedOptions } from "../transport/requestOptions";

/** The time limit for all requests and pauses of a create or an update. */
export interface OperationTime {
  /** Aborts when the time is up, or when the caller's signal aborts. */
  readonly signal: AbortSignal;
  /** Returns the remaining time, in milliseconds, or 0 if the time is up. */
  leftMs(): number;
  /** Settles like the promise, or rejects earlier if the time is up or the caller aborts. */
  limit<T>(promise: Promise<T>): Promise<T>;
}

/** The minimum interval between checks of the remaining time, in milliseconds. */
const SHORTEST_LOOK_MS = 20;

/**
 * Runs an operation that consists of several requests within the time limit of one call. Time
 * during which a rate limit holds back this client's requests does not count, because a request may
 * have to wait for minutes if there are several hundred creates.
 */
export async function withinTime<T>(
  { clock, retry, gate, v2Gate }: CallContext,
  operation: string,
  { signal: given, timeoutMs = 0 }: ObservedOptions,
  run: (time: OperationTime) => Promise<T>,
): Promise<T> {
  // A caller may allow more time for each request than the client's default.
  const maxMs = Math.max(retry.maxElapsedMs, timeoutMs);
  const gates = new Set([gate, v2Gate]);
  const countedMs = () => [...gates].reduce((ms, each) => ms - (each?.heldMs() ?? 0), clock.monotonic());
  const startedAt = countedMs();
  const leftMs = () => Math.max(0, startedAt + maxMs - countedMs());
  const controller = new AbortController();
  const { signal } = controller;
  const ignoreAbort = onAbort(given, () => controller.abort(given?.reason));
  if (given?.aborted) controller.abort(given.reason);
  let cancelTimer = clock.schedule(maxMs, look);
  function look(): void {
    if (leftMs() >= 1) cancelTimer = clock.schedule(Math.max(SHORTEST_LOOK_MS, leftMs()), look);
    else controller.abort(timeIsUp(operation, maxMs));
  }
  try {
    return await run({ signal, leftMs, limit: (promise) => untilAbort(promise, signal) });
  } finally {
    cancelTimer();
    ignoreAbort();
  }
}

function untilAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const ignoreAbort = onAbort(signal, () => reject(signal.reason));
    promise.then(resolve, reject).finally(ignoreAbort);
  });
}

function timeIsUp(operation: string, maxMs: number): RequestTimeoutError {
  return new RequestTimeoutError(
    `${operation}: not complete within ${Math.round(maxMs / 100) / 10} s, the time for all its requests and pauses. Check ` +
      "the network and the URL, or set a longer retry.maxElapsedMs",
  );
}
