import type { Clock } from "./clock";
import { sleep } from "./clock";
import { RequestTimeoutError, ServerlessGpuError } from "./errors";
import { decide, type Repeatability, type RetryPolicy } from "./retry";

/** What the attempts of a call have in common. */
export interface CallContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** Time for one attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
}

/** One call of the service, made of one or more attempts. */
export interface Call<T> {
  /** Names the call in errors. */
  readonly operation: string;
  readonly repeatability: Repeatability;
  /** Sends the request once. */
  readonly attempt: (signal: AbortSignal) => Promise<T>;
  /** After an attempt of unknown effect: its result if it had one after all, otherwise nothing. */
  readonly lookUp?: () => Promise<T | undefined>;
  readonly signal?: AbortSignal | undefined;
}

/** Makes the attempts of a call, with the pauses that the decision table asks for, until one succeeds or it stops. */
export async function makeCall<T>(context: CallContext, call: Call<T>): Promise<T> {
  const startedAt = context.clock.now();
  for (let attempt = 1; ; attempt++) {
    const elapsedMs = context.clock.now() - startedAt;
    try {
      return await withTimeout(context, call, context.retry.maxElapsedMs - elapsedMs);
    } catch (error) {
      if (!(error instanceof ServerlessGpuError)) throw error;
      const elapsedMs = context.clock.now() - startedAt;
      const decision = decide(
        { repeatability: call.repeatability, error, attempt, elapsedMs, random: context.random() },
        context.retry,
      );
      const found = decision.lookUp ? await call.lookUp?.() : undefined;
      if (found !== undefined) return found;
      if (decision.retryInMs === undefined) throw error.afterAttempts(attempt, elapsedMs);
      await sleep(context.clock, decision.retryInMs, call.signal);
    }
  }
}

/** One attempt, ended by its own time, by the time left for the call, or by the caller. */
async function withTimeout<T>(context: CallContext, call: Call<T>, timeLeftMs: number): Promise<T> {
  call.signal?.throwIfAborted();
  const timeoutMs = Math.max(1, Math.min(context.attemptTimeoutMs, timeLeftMs));
  const controller = new AbortController();
  const cancelTimer = context.clock.schedule(timeoutMs, () => {
    const seconds = Math.round(timeoutMs / 100) / 10;
    controller.abort(new RequestTimeoutError(`${call.operation}: no complete answer within ${seconds} s`));
  });
  const onAbort = () => controller.abort(call.signal?.reason);
  call.signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await call.attempt(controller.signal);
  } finally {
    cancelTimer();
    call.signal?.removeEventListener("abort", onAbort);
  }
}
