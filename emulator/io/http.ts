import type { IncomingHttpHeaders } from "node:http";
import type { FidelityId } from "../model/fidelity";

/** A request that was read completely. Its key is not checked yet. */
export interface HttpRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded: `/v2/abc/status/def`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Empty when the request has none, or one that was too large. */
  readonly body: Buffer;
  /** A signal that aborts when the client hangs up before the answer is complete, and when the emulator stops. */
  signal(): AbortSignal;
}

/** A request under `/v2/{endpointId}/…`, taken apart. */
export interface QueueRequest extends HttpRequest {
  readonly endpointId: string;
  /** What follows the endpoint, decoded: `["run"]`, `["status", "job-id"]`, `["openai", "v1", "models"]`. */
  readonly segments: readonly string[];
  /** The body as JSON; undefined when it is empty or no JSON. */
  readonly payload: unknown;
}

/** The three interfaces of the service. */
export type Interface = "graphql" | "rest" | "queue";

/** What a request asks for, found out before anything is done: the journal and the fault rules go by it. */
export interface Call {
  readonly interface: Interface;
  /** `saveEndpoint`, `deleteEndpoint`, `myself`, `getPod`, `run`, …; `unknown` for what is none. */
  readonly operation: string;
  readonly endpointId?: string | undefined;
  /** What the operation was given, as plain JSON. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /**
   * Counts the request towards the limits of its operation, before anything delays it. Returns what to call once it is
   * answered; `undefined` when no limit counts it, or when it is over one and `run` will refuse it.
   */
  arrive?(): (() => void) | undefined;
  /** Checks the key, carries the operation out and answers. */
  run(options: CallOptions): HttpResponse | Promise<HttpResponse>;
}

/** How a fault rule changes what an operation does. */
export interface CallOptions {
  /** How far behind a list of endpoints is, in milliseconds. */
  readonly listLagMs?: number | undefined;
}

/** An answer. Make one with `json`, `text` or `stream`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** The row of the fidelity table that this answer plays. An assumed one is marked in a response header. */
  readonly fidelity?: FidelityId | undefined;
  /** Why the request was refused, where the status does not tell: a GraphQL error has status 200. For the journal. */
  readonly error?: string | undefined;
  /** The endpoint that was created or changed. For the journal. */
  readonly endpointId?: string | undefined;
  /** A fault rule wants the connection reset after half of the body. */
  readonly resetMidway?: boolean | undefined;
}

/** An answer whose body is `value` as JSON. */
export function json(status: number, value: unknown, fidelity?: FidelityId): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value), fidelity };
}

/** An answer with a body of text, plain unless `contentType` says otherwise. */
export function text(status: number, body: string, contentType = "text/plain; charset=utf-8"): HttpResponse {
  return { status, headers: { "content-type": contentType }, body };
}

/** The answer when something went wrong in the emulator itself, or on its disk. */
export function failure(error: unknown): HttpResponse {
  const reason = error instanceof Error ? error.message : String(error);
  return { ...text(500, `The emulator failed: ${reason}\n`), error: reason };
}

/** An answer that is sent piece by piece, as `chunks` yields. */
export function stream(
  status: number,
  contentType: string,
  chunks: AsyncIterable<string | Uint8Array>,
  fidelity?: FidelityId,
): HttpResponse {
  return { status, headers: { "content-type": contentType }, body: chunks, fidelity };
}

/** A piece of a path without its percent-encoding; as it is when that is broken. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
