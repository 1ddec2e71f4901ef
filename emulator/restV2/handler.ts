import type { IncomingHttpHeaders } from "node:http";
import type { CallOptions } from "../io/http";

/** A request to REST v2 whose key, path and body are right. */
export interface V2Call<Body = Readonly<Record<string, unknown>>> extends CallOptions {
  /** The id in the path; empty without one. */
  readonly id: string;
  /** The id of a worker in the path; empty without one. */
  readonly workerId: string;
  readonly body: Body;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** Returns a signal that aborts if the connection ends. */
  readonly signal: () => AbortSignal;
  /** The URL under which the client reached the emulator. */
  readonly origin: string;
}

/**
 * Executes an operation. Returns the body of the response, its server-sent events, or `undefined`
 * if it has none.
 */
export type V2Handler = (call: V2Call<never>) => object | AsyncIterable<string> | undefined;
