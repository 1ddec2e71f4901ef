import { ServerlessGpuError } from "../errors/errors";
import { failureOf } from "./connectionErrors";
import type { Http, OutgoingRequest } from "./httpRequest";
import type { ReceivedResponse } from "./responseInfo";

/**
 * Reports the outcome of a request to the observers. Turns a failure into a typed error, in which
 * keys are redacted.
 */
export async function redacted<T extends ReceivedResponse>(
  http: Http,
  httpRequest: OutgoingRequest,
  posting: Promise<T>,
): Promise<T> {
  const { name, operation, attempt } = httpRequest;
  const startedAt = http.clock.monotonic();
  const report = (outcome: { readonly status: number } | { readonly error: string }) => {
    const ms = Math.round(http.clock.monotonic() - startedAt);
    http.report?.({ operation: name, description: operation, attempt: attempt.number, ...outcome, ms });
  };
  attempt.onSend?.();
  try {
    const response = await posting;
    report({ status: response.status });
    attempt.onResponse(response);
    return response;
  } catch (cause) {
    const failure = failureOf(cause, httpRequest, http.proxyHint);
    report({ error: failure instanceof ServerlessGpuError ? failure.code : "ABORTED" });
    throw failure;
  }
}
