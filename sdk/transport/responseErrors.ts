import {
  AuthenticationError,
  CodedError,
  NoQueueError,
  NotFoundError,
  RateLimitError,
  RejectedError,
  RequestTimeoutError,
  type ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
} from "../errors/errors";
import { redactBeginning } from "../errors/secretText";
import type { WholeResponse } from "./httpRequest";

const EXCERPT_LENGTH = 200;

/** The advice for a change that would exceed the worker quota. */
export const quotaAdvice =
  "workersMax counts against one quota for the whole account: lower the workersMax of this or another " +
  "endpoint, or ask the service for a larger quota";

/**
 * Returns the error for an API that the service has retired in favor of REST v2. Returns
 * `undefined` for any other status.
 */
export function retiredInterface({ status }: WholeResponse, operation: string): RejectedError | undefined {
  if (status !== 410) return undefined;
  return new RejectedError(
    `${operation}: the service has retired this API (status 410). Switch to REST v2: set SERVERLESS_GPU_API=v2, or the ` +
      "client's option api (in a stack's config, serverless-gpu:api takes effect with the next pulumi up)",
  );
}

/**
 * Returns the JSON of a response. Throws a typed error if the status is an error or the body is not
 * JSON.
 */
export function decodeJson(response: WholeResponse, operation: string, now: number): unknown {
  const failure = errorFromStatus(response, operation, now);
  if (failure) throw failure;
  try {
    return JSON.parse(response.body);
  } catch {
    // Don't include the cause, because JSON.parse quotes a few characters of the body, which may be
    // part of a key.
    const kind = isHtml(response) ? "an HTML page" : "a body that is not complete JSON";
    throw new CodedError(
      "UNREADABLE_RESPONSE",
      `${operation}: the service responded with ${response.status} and ${kind} (${excerpt(response.body)}). ` +
        "A proxy or gateway may have sent it; check the URL if this continues",
    );
  }
}

/**
 * Returns the error for a response that is valid JSON but does not have the shape that the contract
 * specifies.
 */
export function unexpectedResponse(operation: string, problem: string, value: unknown): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `${operation}: the service's response has an unexpected shape (${problem}): ${excerpt(jsonText(value))}. ` +
      "Check the URL. If it is correct, the service may have changed: look for a newer version of this package",
  );
}

export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "nothing";
  } catch {
    // A deeply nested value can occur, because `JSON.parse` has no depth limit.
    return "JSON that is nested too deeply to show";
  }
}

/**
 * Returns the typed error of a response with an error status. Returns `undefined` if the status is
 * 2xx.
 */
export function errorFromStatus(
  response: WholeResponse,
  operation: string,
  now: number,
): ServerlessGpuError | undefined {
  const { status } = response;
  if (status >= 200 && status < 300) return undefined;
  const isPage = isHtml(response);
  const said = isPage ? "an HTML page, so a gateway may have rejected it" : excerpt(response.body);
  const prefix = `${operation}: the service responded with ${status} (${said})`;
  // If the response is an HTML page, it says nothing about the key or the record.
  const advised = (advice: string) => `${prefix}. ${isPage ? "Check the URL, and the network between" : advice}`;
  if (status === 401) return new AuthenticationError(advised("Check that the API key is right and has permission"));
  if (status === 404) return new NotFoundError(advised("There is no such record in this account, or the URL is wrong"));
  return temporaryError(response, prefix, now) ?? rejection(response, prefix);
}

/** Returns the error for a status after which the same request may succeed later. */
function temporaryError(
  { status, headers }: WholeResponse,
  prefix: string,
  now: number,
): ServerlessGpuError | undefined {
  if (status === 408) {
    return new RequestTimeoutError(
      `${prefix}: the service stopped waiting before it had received the whole request. Try again`,
    );
  }
  const retryAfterMs = parseRetryAfter(headers["retry-after"], now);
  if (status === 429) {
    return new RateLimitError(`${prefix}: too many requests. Try again later, or send fewer at once`, { retryAfterMs });
  }
  if (status < 500) return undefined;
  return new ServiceFaultError(`${prefix}: an error inside the service. Try again later`, { retryAfterMs });
}

function rejection({ status, headers, body }: WholeResponse, prefix: string): ServerlessGpuError {
  if (status >= 300 && status < 400) {
    const { location } = headers;
    const target = typeof location === "string" ? ` to "${redactBeginning(location, EXCERPT_LENGTH)}"` : "";
    return new RejectedError(
      `${prefix}: a redirect${target}, which the client does not follow. Set the URL of the service itself`,
    );
  }
  if (CLOUDFLARE_1010.test(body)) {
    return new RejectedError(
      `${prefix}: Cloudflare, which is in front of the service, rejected the request because of its header User-Agent or ` +
        "its TLS connection, not because of the key. Send it without the proxy or the headers that change them",
    );
  }
  if (status !== 400 || !NO_QUEUE.test(body)) return new RejectedError(prefix);
  return new NoQueueError(
    `${prefix}: it is a load-balancing endpoint, which has no queue. Call its workers with ` +
      'client.endpoint(id).fetch("/your/path")',
  );
}

/** Matches Cloudflare's text about a client that it does not accept (observed). */
const CLOUDFLARE_1010 = /\berror code: 1010\b/i;

/** Matches the message of the queue API for a load-balancing endpoint (observed). */
const NO_QUEUE = /not allowed for QB API/i;

/**
 * Returns how long to wait according to `Retry-After`, in milliseconds from now. The header
 * contains seconds or an HTTP date. Returns `undefined` if the header is absent or invalid.
 */
function parseRetryAfter(header: string | string[] | undefined, now: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined || text.trim() === "") return undefined;
  const seconds = Number(text);
  const delayMs = Number.isNaN(seconds) ? Date.parse(text) - now : seconds * 1000;
  return Number.isFinite(delayMs) && delayMs >= 0 ? delayMs : undefined;
}

function isHtml(response: WholeResponse): boolean {
  return (
    String(response.headers["content-type"] ?? "").includes("text/html") || /^\s*<(!doctype|html)/i.test(response.body)
  );
}

/** Returns the beginning of a body, on one line and with keys redacted. */
function excerpt(body: string): string {
  return redactBeginning(body, EXCERPT_LENGTH) || "no body";
}
