import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { FidelityId } from "../model/fidelity";
import { messageOf } from "./messageOf";

/** A refused request, with a reason for people to read. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly reason: string;
}

/** Why a body was dropped: it exceeds every limit of the service, or has too many levels. */
export type DroppedBody = "large" | "deep";

/** A complete request. Its key is not checked yet. */
export interface HttpRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded: `/v2/abc/status/def`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Empty if the request has no body, or one that was dropped. */
  readonly body: Buffer;
  /**
   * The request to a load-balancing endpoint as it arrives, to be passed on: `body` above is empty.
   */
  readonly passed?: { readonly target: string; readonly body: Readable } | undefined;
  /** Returns a signal that aborts if the connection ends before the response is complete. */
  signal(): AbortSignal;
}

/** The path of load-balancing endpoints: `/lb/<endpoint>/…`. */
export const LOAD_BALANCER_PATH = "/lb/";

/** A request under `/v2/{endpointId}/…`. */
export interface QueueRequest extends HttpRequest {
  readonly endpointId: string;
  /**
   * The decoded path after the endpoint: `["run"]`, `["status", "job-id"]`,
   * `["openai", "v1", "models"]`.
   */
  readonly segments: readonly string[];
  /** The body parsed as JSON; `undefined` if it is empty or invalid. */
  readonly payload: unknown;
}

/**
 * The interfaces of the service: GraphQL, REST v1, REST v2, the queue and load-balancing endpoints.
 */
export const INTERFACES = ["graphql", "rest", "v2", "queue", "lb"] as const;

/** An interface of the service. @useDeclaredType */
export type Interface = (typeof INTERFACES)[number];

/**
 * The operation that a request asks for, known before it is executed, for the journal and the fault
 * rules.
 */
export interface Call {
  readonly interface: Interface;
  /**
   * `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, …; `unknown` for anything else.
   */
  readonly operation: string;
  readonly endpointId?: string | undefined;
  /** The arguments of the operation, as plain JSON. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * Counts the request towards the rate limits of its operation, before any delay. Returns a
   * function to call when the response is ready; `undefined` if no limit applies, or if the request
   * exceeds one and `run` will refuse it.
   */
  arrive?(): (() => void) | undefined;
  /** Checks the key, executes the operation and returns the response. */
  run(options: CallOptions): HttpResponse | Promise<HttpResponse>;
}

/** Changes that a fault rule makes to an operation. */
export interface CallOptions {
  /** The lag of the lists, in milliseconds. */
  readonly listLagMs?: number | undefined;
}

/** A response. Create one with `json`, `text` or `stream`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** The row of the fidelity table that this response follows. A header marks assumed rows. */
  readonly fidelity?: FidelityId | undefined;
  /**
   * The reason for a refusal that the status does not show (a GraphQL error has status 200), for
   * the journal.
   */
  readonly error?: string | undefined;
  /** The endpoint that was created or changed, for the journal. */
  readonly endpointId?: string | undefined;
  /** `true` resets the connection after half of the body, for a fault rule. */
  readonly resetMidway?: boolean | undefined;
}

/** Returns a response with `value` as its JSON body. */
export function json(status: number, value: unknown, fidelity?: FidelityId): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value), fidelity };
}

/** Returns a response whose body is `body` as it is. */
export function text(status: number, body: string, contentType = "text/plain; charset=utf-8"): HttpResponse {
  return { status, headers: { "content-type": contentType }, body };
}

/** Returns the response for an error in the emulator itself or on its disk. */
export function failure(error: unknown): HttpResponse {
  const reason = messageOf(error);
  return { ...text(500, `The emulator failed: ${reason}\n`), error: reason };
}

/** Returns a response that is sent chunk by chunk. */
export function stream(
  status: number,
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  fidelity?: FidelityId,
): HttpResponse {
  return { status, headers: { "content-type": contentType }, body: chunks, fidelity };
}

/** Decodes one segment of a path. Returns it unchanged if its percent-encoding is invalid. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
