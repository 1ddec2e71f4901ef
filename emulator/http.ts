import type { IncomingHttpHeaders } from "node:http";
import type { FidelityId } from "./fidelity";

/** A request as routes get it: read completely, its size and its key already checked by the server. */
export interface HttpRequest {
  readonly method: string;
  /** The path without the query, still percent-encoded: `/v2/abc/status/def`. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Empty when the request has none. */
  readonly body: Buffer;
  /** Aborts when the client hangs up before the answer is complete, and when the emulator stops. */
  readonly signal: AbortSignal;
}

/**
 * A request under `/v2/{endpointId}/…` whose endpoint exists: what `queueRoutes.ts` handles. A wrong key and an unknown
 * endpoint are answered before it.
 */
export interface QueueRequest extends HttpRequest {
  readonly endpointId: string;
  /** What follows the endpoint, decoded: `["run"]`, `["status", "job-id"]`, `["openai", "v1", "models"]`. */
  readonly segments: readonly string[];
}

/** An answer. Make one with `json`, `text` or `stream`. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<string | Uint8Array>;
  /** The row of the fidelity table that this answer plays. An assumed one is marked in a response header. */
  readonly fidelity?: FidelityId;
}

/** An answer whose body is `value` as JSON. */
export function json(status: number, value: unknown, fidelity?: FidelityId): HttpResponse {
  return { status, headers: { "content-type": "application/json" }, body: JSON.stringify(value), fidelity };
}

/** An answer with a body of text, plain unless `contentType` says otherwise. */
export function text(status: number, body: string, contentType = "text/plain; charset=utf-8"): HttpResponse {
  return { status, headers: { "content-type": contentType }, body };
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
