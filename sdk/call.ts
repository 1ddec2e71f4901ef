import type { Clock } from "./clock";
import { sleep } from "./clock";
import { RateLimitError, RequestTimeoutError, ServerlessGpuError } from "./errors";
import type { Gate } from "./gate";
import { decide, type Repeatability, type RetryPolicy } from "./retry";

/** What the attempts of a call have in common. */
export interface CallContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** Time for one attempt, in milliseconds. */
  readonly attemptTimeoutMs: number;
}

/** One attempt of a call. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** One call of the service, made of one or more attempts. */
export interface Call<T> {
  /** Names the call in errors. */
  readonly operation: string;
  readonly repeatability: Repeatability;
  /** Sends the request once. */
  readonly attempt: (attempt: Attempt) => Promise<T>;
  /** After an attempt of unknown effect: its result if it had one after all, otherwise nothing. */
  readonly lookUp?: () => Promise<T | undefined>;
  /** Lets attempts through within the rate limit. The time of a call begins when its first attempt is let through. */
  readonly gate?: Gate | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Makes the attempts of a call, with the pauses that the decision table asks for, until one succeeds or it stops. */
export async function makeCall<T>(context: CallContext, call: Call<T>): Promise<T> {
  call.signal?.throwIfAborted();
  let startedAt: number | undefined;
  for (let number = 1; ; number++) {
    const turn = call.gate?.enter(call.signal);
    if (turn) await turn;
    startedAt ??= context.clock.now();
    try {
      return await withTimeout(context, call, number, context.retry.maxElapsedMs - (context.clock.now() - startedAt));
    } catch (error) {
      if (!(error instanceof ServerlessGpuError)) throw error;
      const elapsedMs = context.clock.now() - startedAt;
      const decision = decide(
        { repeatability: call.repeatability, error, attempt: number, elapsedMs, random: context.random() },
        context.retry,
      );
      const found = decision.lookUp ? await call.lookUp?.() : undefined;
      if (found !== undefined) return found;
      // The look-up took time as well.
      const elapsedAfterwardsMs = context.clock.now() - startedAt;
      const timeLeftMs = context.retry.maxElapsedMs - elapsedAfterwardsMs;
      if (decision.retryInMs === undefined || decision.retryInMs >= timeLeftMs) {
        throw error.afterAttempts(number, elapsedAfterwardsMs);
      }
      await sleep(context.clock, decision.retryInMs, call.signal);
    }
  }
}

/** One attempt, ended by its own time, by the time left for the call, or by the caller. */
async function withTimeout<T>(context: CallContext, call: Call<T>, number: number, timeLeftMs: number): Promise<T> {
  const { clock } = context;
  const sentAt = clock.now();
  const timeoutMs = Math.max(1, Math.min(context.attemptTimeoutMs, timeLeftMs));
  const controller = new AbortController();
  const cancelTimer = clock.schedule(timeoutMs, () => {
    const seconds = Math.round(timeoutMs / 100) / 10;
    controller.abort(new RequestTimeoutError(`${call.operation}: no complete answer within ${seconds} s`));
  });
  const onAbort = () => controller.abort(call.signal?.reason);
  call.signal?.addEventListener("abort", onAbort, { once: true });
  let refused = false;
  try {
    // Waiting for the gate took time.
    call.signal?.throwIfAborted();
    return await call.attempt({ number, signal: controller.signal });
  } catch (error) {
    refused = error instanceof RateLimitError;
    throw error;
  } finally {
    cancelTimer();
    call.signal?.removeEventListener("abort", onAbort);
    call.gate?.leave(sentAt, refused);
  }
}
