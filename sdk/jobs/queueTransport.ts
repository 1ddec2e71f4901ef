import type { z } from "zod";
import type { Diagnosis } from "../diagnosis/record";
import type { SecretText } from "../errors/secretText";
import type { Attempt, CallContext } from "../transport/call";
import { decode } from "../transport/decode";
import { createGates, type Gates, type RateLimitOptions } from "../transport/gate";
import type { Http, OutgoingRequest } from "../transport/httpRequest";
import { makeCall } from "../transport/makeCall";
import type { Log } from "../transport/observers";
import type { ObservedOptions } from "../transport/requestOptions";
import { decodeJson } from "../transport/responseErrors";
import type { Repeatability } from "../transport/retryPolicy";
import { send } from "../transport/send";
import { endpointQueueUrl, pathSegment } from "../transport/urls";
import type { Job } from "./jobRecord";

/** The end of a job. */
interface SeenEnd {
  readonly endpointId: string;
  readonly job: Job;
  /** When the job was submitted, in milliseconds since the epoch, if this client submitted it. */
  readonly submittedAt?: number | undefined;
}

/** The context that all calls to an endpoint's queue share. */
export interface QueueContext extends CallContext {
  readonly http: Http;
  /** The URL of the queue API, without the path `/v2`. */
  readonly queueUrl: string;
  readonly apiKey: SecretText;
  readonly rateLimits?: RateLimitOptions | "off" | undefined;
  readonly log: Log;
  /**
   * `true` if the service is known to hold reads of jobs with `/status-sync` (observed).
   * @default
   * false
   */
  readonly holdsReads?: boolean | undefined;
  /**
   * Called when this client sees that a job has ended. It may be called more than once per job.
   * @default job ends are not recorded
   */
  readonly onEnded?: ((ended: SeenEnd) => void) | undefined;
  /**
   * Explains why jobs are waiting, after a wait has failed.
   * @default waits are not explained
   */
  readonly diagnose?: ((endpointId: string, waitedMs: number) => Promise<Diagnosis | undefined>) | undefined;
}

/** A request to an endpoint's queue. */
export interface QueueCall<T> extends ObservedOptions {
  /**
   * The operation's name in events. Unless `limit` is set, this is also its name in the rate table.
   */
  readonly name: string;
  /** The operation whose rate limit the request counts toward. @default `name` */
  readonly limit?: string | undefined;
  /**
   * The name of the request in error messages, such as `status of job a1`. The messages add the
   * endpoint.
   */
  readonly what: string;
  readonly method: "GET" | "POST";
  /**
   * The path below the endpoint, including the query. If it is a function, it is called for each
   * attempt.
   */
  readonly path: string | (() => string);
  readonly body?: string | undefined;
  /** The id of the job that the request concerns. */
  readonly jobId?: string | undefined;
  /**
   * Sends the request once and reads the response. Use `jsonOf` with a schema unless the response
   * is not JSON.
   */
  readonly sendAndRead: (http: Http, httpRequest: OutgoingRequest) => Promise<T>;
  /** @default "safe" */
  readonly repeatability?: Repeatability;
  readonly lookUp?: () => Promise<T | undefined>;
  /** See `Call.keepsAttempt`. */
  readonly keepsAttempt?: boolean | undefined;
}

/** Sends requests to an endpoint's queue, within the rate limits. */
export interface QueueTransport {
  readonly endpointId: string;
  /** The URL of the endpoint's queue, without a trailing slash. */
  readonly url: string;
  readonly context: QueueContext;
  readonly gates: Gates;
  /** Makes a call. `bounds` overrides the limits of the client. */
  request<T>(request: QueueCall<T>, bounds?: Partial<Pick<CallContext, "retry" | "attemptTimeoutMs">>): Promise<T>;
}

/**
 * Creates the transport of an endpoint's queue.
 * @throws InvalidInputError if the id cannot be part of a path
 */
export function createQueueTransport(context: QueueContext, endpointId: string): QueueTransport {
  const queueUrl = endpointQueueUrl(context.queueUrl, pathSegment("endpointId", endpointId));
  const gates = createGates(context.clock, context.rateLimits);

  return {
    endpointId,
    url: queueUrl,
    context,
    gates,
    request(request, bounds) {
      const { name, limit = name, what, method, path, body, sendAndRead, repeatability = "safe" } = request;
      const { jobId, lookUp, keepsAttempt, timeoutMs, maxRetries, signal, onResponse } = request;
      const operation = `${what} at endpoint ${endpointId}`;
      const headers = queueHeaders(context.apiKey, body);
      const attempt = (attempt: Attempt) => {
        const url = `${queueUrl}/${typeof path === "string" ? path : path()}`;
        return sendAndRead(context.http, { name, operation, method, url, headers, body, attempt });
      };
      const gate = gates.of(limit);
      // Copy each field by name, because spreads took a third of the CPU time that the client needs
      // for a call.
      return makeCall(bounds ? { ...context, ...bounds } : context, {
        name,
        operation,
        repeatability,
        jobId,
        attempt,
        lookUp,
        gate,
        keepsAttempt,
        timeoutMs,
        maxRetries,
        signal,
        headers: request.headers,
        onResponse,
      });
    },
  };
}

/** Returns a function that reads the response as JSON and checks it against the schema. */
export function jsonReader<T>(schema: z.ZodType<T>): QueueCall<T>["sendAndRead"] {
  return async (http, httpRequest) => {
    const response = await send(http, httpRequest);
    return decode(schema, decodeJson(response, httpRequest.operation, http.clock.now()), httpRequest.operation);
  };
}

function queueHeaders(apiKey: SecretText, body: string | undefined): Record<string, string> {
  const authorization = `Bearer ${apiKey.reveal()}`;
  return body === undefined ? { authorization } : { authorization, "content-type": "application/json" };
}
