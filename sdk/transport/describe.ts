import { ServerlessGpuError } from "../errors";
import type { Attempt, Call, Step, TimedAttempt } from "./call";
import { type ReceivedResponse, responseInfo } from "./responseInfo";

/** Makes the call's own attempt, and adds the response that was received to its error. */
export function describe<T>(call: Call<T>): Step<TimedAttempt, T> {
  return async ({ number, signal, progress, goesOn, onSend }) => {
    let received: ReceivedResponse | undefined;
    const onResponse: Attempt["onResponse"] = (response) => {
      received = response;
      call.onResponse?.(response);
    };
    try {
      return await call.attempt({ number, signal, progress, goesOn, headers: call.headers, onSend, onResponse });
    } catch (error) {
      if (received && error instanceof ServerlessGpuError) {
        error.ofResponse({ ...responseInfo(received), body: received.body ?? "" });
      }
      throw error;
    }
  };
}
