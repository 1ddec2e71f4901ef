import { WORKER_ID_HEADER } from "../contract/limits";
import { ConnectionError, RequestTimeoutError, type ServerlessGpuError } from "../errors/errors";
import type { SecretText } from "../errors/secretText";
import type { Attempt, CallContext } from "../transport/call";
import { checkCallOptions } from "../transport/callOptions";
import type { Http } from "../transport/httpRequest";
import { makeCall } from "../transport/makeCall";
import { sendForResponse } from "../transport/send";
import { loadBalancerUrl } from "../transport/urls";
import { FETCH_OPTIONS, FETCH_TIMEOUT_MS, type FetchOptions, fetchRequest } from "./fetchOptions";
import { RequestUncertainError } from "./loadBalancerErrors";
import { assertServed, webResponse } from "./refusals";
import { targetUrl } from "./target";

/** The HTTP servers of a load-balancing endpoint's workers. */
export interface LoadBalancer {
  /**
   * The base URL of a load-balancing endpoint, for use with other HTTP clients. They must send the
   * client's key as the bearer token.
   */
  readonly loadBalancerUrl: string;
  /**
   * Sends a request to a path of a load-balancing endpoint, and returns the worker's response,
   * regardless of its status. While a worker starts, RunPod holds the request. Read the body to its
   * end or cancel it, because the connection stays in use until then. Redirects are returned, not
   * followed.
   *
   * A request is sent again only if it never began on a connection, or if RunPod rejected it with
   * 429 before it reached a worker.
   * @param path a path such as `/v1/models?limit=10`, or a URL below `loadBalancerUrl`
   * @throws InvalidInputError, before any call
   * @throws AuthenticationError if RunPod does not accept the key
   * @throws NoWorkerError if no worker was ready in time
   * @throws WorkerTimeoutError, WorkerGoneError if the worker named in `worker` was not available
   * @throws WorkerUnreachableError if RunPod cannot reach the worker's ports
   * @throws ProcessingTimeoutError if the worker took longer than RunPod allows
   * @throws RateLimitError if RunPod still responds with 429 after all attempts
   * @throws RequestUncertainError if the response was lost, so a worker may have processed the
   * request
   * @example
   * const response = await client.endpoint("abc").fetch("/generate", {
   *   method: "POST",
   *   headers: { "content-type": "application/json" },
   *   body: JSON.stringify({ prompt: "Hi" }),
   * });
   * console.log(response.status, await response.json());
   */
  fetch(path: string | URL, options?: FetchOptions): Promise<Response>;
}

/**
 * Returns the id of the worker that responded, or `undefined` if the response does not name one.
 */
export function workerIdOf(response: Response): string | undefined {
  return response.headers.get(WORKER_ID_HEADER) ?? undefined;
}

/** The context that all calls to load-balancing endpoints share. */
interface LoadBalancerContext extends CallContext {
  readonly http: Http;
  /** The URL of the queue API, without the path `/v2`. */
  readonly queueUrl: string;
  readonly apiKey: SecretText;
}

/** Creates the load balancer of an endpoint. */
export function createLoadBalancer(context: LoadBalancerContext, endpointId: string): LoadBalancer {
  return {
    // If the id can't be part of a host name, this fails only when the URL is used.
    get loadBalancerUrl() {
      return loadBalancerUrl(context.queueUrl, endpointId);
    },
    async fetch(path, options = {}) {
      checkCallOptions(options, FETCH_OPTIONS, "the request");
      const url = targetUrl(loadBalancerUrl(context.queueUrl, endpointId), path);
      return send(context, endpointId, url, options);
    },
  };
}

/** Sends the request. It is sent again only if the previous attempt had no effect. */
async function send(context: LoadBalancerContext, endpointId: string, url: URL, options: FetchOptions) {
  const { http, apiKey, clock, retry } = context;
  const { timeoutMs = FETCH_TIMEOUT_MS, signal } = options;
  const request = await fetchRequest(options, `Bearer ${apiKey.reveal()}`);
  const { method, body } = request;
  // Leave out the query, because it may contain a secret.
  const operation = `${method} of ${url.pathname} at endpoint ${endpointId}`;
  const attempt = async (attempt: Attempt) => {
    const httpRequest = { ...request, name: "fetch", operation, url: url.href, attempt };
    const response = await sendForResponse(http, httpRequest, timeoutMs);
    return webResponse(await assertServed(response, operation, clock.now(), attempt.onResponse), method, operation);
  };
  const isStream = typeof body === "object" && !Buffer.isBuffer(body);
  const bounds = { attemptTimeoutMs: timeoutMs, retry: { ...retry, maxElapsedMs: timeoutMs + retry.maxElapsedMs } };
  const maxRetries = isStream ? 0 : options.maxRetries;
  const call = { name: "fetch", operation, repeatability: "submit", attempt, signal, maxRetries } as const;
  return makeCall({ ...context, ...bounds }, call).catch((error: unknown) => {
    throw isLost(error) ? uncertain(error) : error;
  });
}

function isLost(error: unknown): error is ConnectionError | RequestTimeoutError {
  return error instanceof ConnectionError || error instanceof RequestTimeoutError;
}

function uncertain(cause: ServerlessGpuError): RequestUncertainError {
  const message = `${cause.message}. A worker may have processed the request, so it was not sent again: send it again if it may be processed twice`;
  return new RequestUncertainError(message, { cause });
}
