import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { FidelityId } from "../model/fidelity";
import { messageOf } from "./messageOf";

/** Why a request is refused, with a readable reason. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

/** Why a body was dropped: it exceeds every limit of the service, or it is nested too deeply. */
export type DroppedBody = "large" | "deep";

/** A complete request whose key has not been checked yet. */
export interface HttpRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded, such as `/v2/abc/status/def`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The request headers. Their names are lowercase. */
  readonly headers: IncomingHttpHeaders;
  /** Empty if the request has no body or the body was dropped. */
  readonly body: Buffer;
  /**
   * The original request to a load-balancing endpoint, to be forwarded. `body` is empty in this
   * case.
   */
  readonly passed?: { readonly target: string; readonly body: Readable } | undefined;
  /** Returns a signal that aborts if the connection closes before the response is complete. */
  signal(): AbortSignal;
}

/** The path prefix of load-balancing endpoints: `/lb/<endpoint>/…`. */
export const LOAD_BALANCER_PATH = "/lb/";

/** A request under `/v2/{endpointId}/…`. */
export interface QueueRequest extends HttpRequest {
  readonly endpointId: string;
  /**
   * The decoded path segments after the endpoint: `["run"]`, `["status", "job-id"]`, `["openai",
   * "v1", "models"]`.
   */
  readonly segments: readonly string[];
  /** The body parsed as JSON; `undefined` if it is empty or invalid. */
  readonly payload: unknown;
}

/** The service's APIs: GraphQL, REST v1, REST v2, the queue, and load-balancing endpoints. */
export const INTERFACES = ["graphql", "rest", "v2", "queue", "lb"] as const;

/** One of the service's APIs. @useDeclaredType */
export type Interface = (typeof INTERFACES)[number];

/**
 * The operation that a request asks for. It is known before it runs, for the journal and fault
 * rules.
 */
export interface Call {
  readonly interface: Interface;
  /**
   * `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, and so on; `unknown` for anything
   * else.
   */
  readonly operation: string;
  readonly endpointId?: string | undefined;
  /** The operation's arguments as plain JSON. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * Counts the request towards its operation's rate limit, before any delay. Returns a function to
   * call when the response is ready. Returns `undefined` if no limit applies, or if the request
   * exceeds the limit and `run` will refuse it.
   */
  arrive?(): (() => void) | undefined;
  /** Checks the key, runs the operation and returns the response. */
  run(options: CallOptions): HttpResponse | Promise<HttpResponse>;
}

/** How a fault rule changes an operation. */
export interface CallOptions {
  /** How far lists lag behind, in milliseconds. */
  readonly listLagMs?: number | undefined;
}

/** A response. Create it with `json`, `text` or `stream`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** The row of the fidelity table that explains this response. A header marks assumed rows. */
  readonly fidelity?: FidelityId | undefined;
  /**
   * The reason for a refusal that the status does not show, for the journal. A GraphQL error, for
   * example, has status 200.
   */
  readonly error?: string | undefined;
  /** The endpoint that was created or changed, for the journal. */
  readonly endpointId?: string | undefined;
  /** `true` to reset the connection after half of the body, for a fault rule. */
  readonly resetMidway?: boolean | undefined;
}

/** Returns a response with `value` as its JSON body. */
export function json(status: number, value: unknown, fidelity?: FidelityId): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value), fidelity };
}

/** Returns a response with `body` as plain text. */
export function text(status: number, body: string, contentType = "text/plain; charset=utf-8"): HttpResponse {
  return { status, headers: { "content-type": contentType }, body };
}

/** Returns the response to an error in the emulator itself or on its disk. */
export function failure(error: unknown): HttpResponse {
  const reason = messageOf(error);
  return { ...text(500, `The emulator failed: ${reason}\n`), error: reason };
}

/** Returns a response that is sent in chunks. */
export function stream(
  status: number,
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  fidelity?: FidelityId,
): HttpResponse {
  return { status, headers: { "content-type": contentType }, body: chunks, fidelity };
}

/** Decodes a path segment. Returns it unchanged if its percent-encoding is invalid. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
