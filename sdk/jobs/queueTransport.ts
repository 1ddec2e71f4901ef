import type { z } from "zod";
import type { Secret } from "../secret";
import { decode } from "../transport/decode";
import { addressOf, decodeJson, type Http, type HttpRequest, send } from "../transport/http";
import type { Logger } from "../transport/observers";
import type { Repeatability } from "../transport/retry";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import { createGates, type Gates, type RateLimitOptions } from "../transport/throttle";
import { endpointQueueUrl, pathSegment } from "../transport/urls";

/** What the calls of an endpoint's queue are made of. */
export interface QueueContext extends CallContext {
  readonly http: Http;
  /** Without the path `/v2`. */
  readonly queueUrl: string;
  readonly apiKey: Secret;
  readonly rateLimits?: RateLimitOptions | "off" | undefined;
  readonly logger?: Logger | undefined;
}

/** A request below an endpoint's address. */
export interface QueueRequest<T> {
  /** The operation's name in the rate table and in events. */
  readonly name: string;
  /** Names it in errors, where the endpoint is added: `status of job a1`. */
  readonly what: string;
  readonly method: "GET" | "POST";
  /** Below the endpoint, with the query. A function is asked at each attempt. */
  readonly path: string | (() => string);
  readonly body?: string | undefined;
  /** Sends the request once and reads its answer: `jsonOf` a schema, unless the answer is no JSON. */
  readonly exchange: (http: Http, httpRequest: HttpRequest) => Promise<T>;
  /** @default "safe" */
  readonly repeatability?: Repeatability;
  readonly lookUp?: () => Promise<T | undefined>;
  /** Time for all of the call, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** See `Call.keepsAttempt`. */
  readonly keepsAttempt?: boolean | undefined;
}

/** The way to the queue of one endpoint, within its rate limits. */
export interface QueueTransport {
  readonly endpointId: string;
  readonly context: QueueContext;
  readonly gates: Gates;
  /** Makes a call. `bounds` replaces the client's own, where given. */
  request<T>(request: QueueRequest<T>, bounds?: Partial<Pick<CallContext, "retry" | "attemptTimeoutMs">>): Promise<T>;
}

/** @throws InvalidInputError when the id cannot be part of a path */
export function createQueueTransport(context: QueueContext, endpointId: string): QueueTransport {
  const { origin, path: base } = addressOf(endpointQueueUrl(context.queueUrl, pathSegment("endpointId", endpointId)));
  const gates = createGates(context.clock, context.rateLimits);

  return {
    endpointId,
    context,
    gates,
    request({ name, what, method, path, body, exchange, repeatability = "safe", ...limits }, bounds) {
      const operation = `${what} at endpoint ${endpointId}`;
      const headers = queueHeaders(context.apiKey, body);
      const attempt = (attempt: Attempt) => {
        const address = { origin, path: `${base}/${typeof path === "string" ? path : path()}` };
        return exchange(context.http, { name, operation, method, address, headers, body, attempt });
      };
      const { lookUp, timeoutMs, signal, keepsAttempt } = limits;
      const call = { operation, repeatability, attempt, lookUp, gate: gates.of(name), timeoutMs, signal, keepsAttempt };
      return makeCall(bounds ? { ...context, ...bounds } : context, call);
    },
  };
}

/** Reads the answer as JSON of the schema's shape. */
export function jsonOf<T>(schema: z.ZodType<T>): QueueRequest<T>["exchange"] {
  return async (http, httpRequest) => {
    const response = await send(http, httpRequest);
    return decode(schema, decodeJson(response, httpRequest.operation, http.clock.now()), httpRequest.operation);
  };
}

function queueHeaders(apiKey: Secret, body: string | undefined): Record<string, string> {
  const authorization = `Bearer ${apiKey.reveal()}`;
  return body === undefined ? { authorization } : { authorization, "content-type": "application/json" };
}
