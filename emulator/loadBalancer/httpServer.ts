import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { HttpResponse } from "../io/http";

/** A request to a load-balancing endpoint, as its worker receives it. */
export interface PassedRequest {
  readonly method: string;
  /** The path below the endpoint with its query, as it was sent: `/v1/models?limit=1`. */
  readonly target: string;
  /** The headers, with names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** The HTTP server of a worker. */
export interface HttpServer {
  /** Resolves when the response begins. Rejects if there is none. */
  respond(request: PassedRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Resolves with the status of a health check. Rejects if there is no response. */
  ping(signal: AbortSignal): Promise<number>;
}

/** The path of health checks, unless the worker's environment sets another. */
export const HEALTH_PATH = "/ping";

/** Headers of one connection, which proxies do not forward. */
const OF_CONNECTION = [
  ...["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer"],
  ...["transfer-encoding", "upgrade", "expect"],
];

/**
 * Returns the headers that a worker receives: without those of the connection, and without the key,
 * which is the service's (assumed).
 */
export function requestHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return passedHeaders(headers, [...OF_CONNECTION, "authorization"]);
}

/**
 * Returns the header that frames a body without a declared length. Node adds it only for methods
 * that usually have a body. For others, the worker would take the body for its next request.
 */
export function framing(request: Pick<PassedRequest, "headers">): Record<string, string> {
  const { "content-length": length } = request.headers;
  return hasBody(request) && length === undefined ? { "transfer-encoding": "chunked" } : {};
}

/** Returns the headers of a worker's response that the client receives. */
export function responseHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return passedHeaders(headers, OF_CONNECTION);
}

function passedHeaders(headers: IncomingHttpHeaders, left: readonly string[]): Record<string, string | string[]> {
  const passed: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !left.includes(name)) passed[name] = value;
  }
  return passed;
}

/** Returns `true` if the request has a body. */
export function hasBody({ headers }: Pick<PassedRequest, "headers">): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}
