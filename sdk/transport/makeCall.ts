import { type CallContext, CallTime, type ServiceCall } from "./call";
import { limit } from "./limit";
import { retry } from "./retry";
import { time } from "./time";

/**
 * Makes a call. Each attempt passes through the steps from left to right, and its result or error
 * passes back from right to left. The last step is the call's own step, which sends its request
 * with `send`.
 */
export function makeCall<T>(context: CallContext, given: ServiceCall<T>): Promise<T> {
  const call = given.gate || !context.gate ? given : { ...given, gate: context.gate };
  const used = new CallTime(context.clock, call.timeoutMs ?? context.retry.maxElapsedMs);
  return retry(context, call, used, limit(context, call, used, time(context, call, used, call.attempt)));
}
