import { onAbort } from "../contract/clock";
import { RequestTimeoutError } from "../errors/errors";
import { startAttemptTimer } from "./attemptTimer";
import type { AttemptStep, CallContext, CallTime, ServiceCall } from "./call";

/**
 * Ends an attempt when no data arrives in time, when the call's time is up, when the caller aborts,
 * or when the client is closed.
 */
export function time<T>(
  { clock, attemptTimeoutMs, closing }: CallContext,
  call: ServiceCall<T>,
  used: CallTime,
  next: AttemptStep<T>,
): AttemptStep<T> {
  return async (attempt) => {
    const { signal } = attempt;
    const { progress, cancel } = startAttemptTimer(clock, {
      idleMs: attemptTimeoutMs,
      timeLeftMs: used.leftMs(),
      // A time limit that the caller has set includes the time for the upload.
      uploadCounts: call.timeoutMs !== undefined,
      onEnd: (waitedMs) => signal.abort(timeoutError(call.operation, waitedMs)),
    });
    const { keepsAttempt = false } = call;
    let cancelKept = () => {};
    const abort = () => signal.abort(call.signal?.reason);
    const ignoreAbort = onAbort(keepsAttempt === true ? undefined : call.signal, () => {
      if (keepsAttempt === false) abort();
      else cancelKept = clock.schedule(Number(keepsAttempt), abort);
    });
    let isStreamed = false;
    const goesOn = () => {
      isStreamed = true;
      const leave = attempt.goesOn?.();
      return () => {
        ignoreAbort();
        leave?.();
      };
    };
    const running = { signal, operation: call.operation, place: 0 };
    closing?.attempts.add(running);
    try {
      // The signal may have aborted while the gate held the attempt.
      call.signal?.throwIfAborted();
      return await next({ ...attempt, progress, goesOn });
    } finally {
      cancel();
      cancelKept();
      closing?.attempts.remove(running);
      if (!isStreamed) ignoreAbort();
    }
  };
}

function timeoutError(operation: string, waitedMs: number): RequestTimeoutError {
  const seconds = Math.round(waitedMs / 100) / 10;
  const message = `${operation}: no complete response within ${seconds} s`;
  return new RequestTimeoutError(`${message}. Check the network and the URL if this continues`);
}
