import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { HttpResponse } from "../io/http";

/** A request to a load-balancing endpoint, as its worker receives it. */
export interface PassedRequest {
  readonly method: string;
  /** The path below the endpoint and its query, as sent: `/v1/models?limit=1`. */
  readonly target: string;
  /** The request headers. Their names are lowercase. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** The HTTP server of a worker. */
export interface HttpServer {
  /** Resolves when the response starts. Rejects if there is no response. */
  respond(request: PassedRequest, signal: AbortSignal): Promise<HttpResponse>;
  /** Resolves with the status of a health check. Rejects if there is no response. */
  ping(signal: AbortSignal): Promise<number>;
}

/** The health check path, unless the worker's environment sets another one. */
export const HEALTH_PATH = "/ping";

/** Hop-by-hop headers, which proxies do not forward. */
const OF_CONNECTION = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
];

/**
 * Returns the headers to forward to a worker. Removes hop-by-hop headers, and the key, because it
 * belongs to the service (assumed).
 */
export function requestHeaders(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return passedHeaders(headers, [...OF_CONNECTION, "authorization"]);
}

/**
 * Returns the header that frames a body of undeclared length. Node.js only adds it for methods that
 * usually have a body. For other methods, the worker would mistake the body for the next request.
 */
export function framing(request: Pick<PassedRequest, "headers">): Record<string, string> {
  const { "content-length": length } = request.headers;
  return hasBody(request) && length === undefined ? { "transfer-encoding": "chunked" } : {};
}

/** Returns the headers of a worker's response to forward to the client. */
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
