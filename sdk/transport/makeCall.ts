import { type Clock, sleep } from "../contract/clock";
import { ServerlessGpuError } from "../errors/errors";
import { type Attempt, AttemptSignal, type CallContext, CallTime, type ServiceCall } from "./call";
import { untilClosed } from "./closing";
import { HeldRefusals, limit, NotAdmitted } from "./limit";
import { retryEvent } from "./observers";
import { type ReceivedResponse, responseInfo } from "./responseInfo";
import { decideRetry } from "./retryPolicy";
import { time } from "./time";

/**
 * Makes a call: attempts until one succeeds or no further attempt is allowed. `decideRetry`
 * determines the pauses between them. Each attempt passes through the steps from left to right, and
 * its result or error passes back from right to left. The last step is the call's own step, which
 * sends its request with `send`.
 */
export async function makeCall<T>(context: CallContext, given: ServiceCall<T>): Promise<T> {
  const call = given.gate || !context.gate ? given : { ...given, gate: context.gate };
  const used = new CallTime(context.clock, call.timeoutMs ?? context.retry.maxElapsedMs);
  const next = limit(context, call, used, time(context, call, used, call.attempt));
  call.signal?.throwIfAborted();
  const maxAttempts = call.maxRetries === undefined ? context.retry.maxAttempts : call.maxRetries + 1;
  const policy = { maxAttempts, maxElapsedMs: used.maxMs };
  const held = new HeldRefusals(call.gate);
  for (let number = 1; ; number++) {
    let received: ReceivedResponse | undefined;
    const onResponse: Attempt["onResponse"] = (response) => {
      received = response;
      call.onResponse?.(response);
    };
    try {
      return await next({ number, headers: call.headers, signal: new AttemptSignal(), progress() {}, onResponse });
    } catch (error) {
      const failed = failureOfCall(error, call, received);
      const decision = decideRetry(
        {
          repeatability: call.repeatability,
          error: failed,
          attempt: number - held.uncounted,
          elapsedMs: used.elapsedMs(),
          random: context.random(),
        },
        policy,
      );
      const found = decision.lookUp ? await call.lookUp?.() : undefined;
      if (found !== undefined) return found;
      const { retryInMs } = decision;
      // Compare with the time that is left now, because checking the effect of the attempt took
      // time as well.
      if (retryInMs === undefined || retryInMs >= used.leftMs()) {
        if (decision.isAskedToWaitLonger) failed.withDetails(whenToTryAgain(context.clock, failed));
        throw failed.afterAttempts(number, used.elapsedMs());
      }
      context.onRetry?.(retryEvent(call, number, failed, retryInMs));
      if (held.add(failed.retryAfterMs, retryInMs)) continue;
      await untilClosed(context.closing, call, (signal) => sleep(context.clock, retryInMs, signal), failed);
    }
  }
}

/**
 * Returns the error of a failed attempt, with the call's job and the response added.
 * @throws an error that ends the call at once: the reason of an abort, or why nothing was sent
 */
function failureOfCall(
  error: unknown,
  { jobId }: Pick<ServiceCall<unknown>, "jobId">,
  received: ReceivedResponse | undefined,
): ServerlessGpuError {
  if (error instanceof NotAdmitted) throw error.cause;
  if (!(error instanceof ServerlessGpuError)) throw error;
  if (received) error.ofResponse({ ...responseInfo(received), body: received.body ?? "" });
  return jobId === undefined ? error : error.ofJob(jobId);
}

/** The latest time that a `Date` can hold, in milliseconds since the Unix epoch. */
const LATEST_DATE_MS = 8.64e15;

/** Returns a text that says when the service will accept the call again. */
function whenToTryAgain(clock: Clock, { retryAfterMs = 0 }: ServerlessGpuError): string {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const at = new Date(Math.min(clock.now() + retryAfterMs, LATEST_DATE_MS)).toISOString();
  return `. The service asks for a wait of ${seconds} s, longer than this call may take: try again at ${at} or later`;
}
