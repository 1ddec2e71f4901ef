import type { IncomingHttpHeaders } from "node:http";
import type { CallOptions } from "../io/http";

/** A REST v2 request whose key, path and body are valid. */
export interface V2Call<Body = Readonly<Record<string, unknown>>> extends CallOptions {
  /** The id in the path; empty if there is none. */
  readonly id: string;
  /** The worker id in the path; empty if there is none. */
  readonly workerId: string;
  readonly body: Body;
  readonly query: URLSearchParams;
  /** The request headers. Their names are lowercase. */
  readonly headers: IncomingHttpHeaders;
  /** Returns a signal that aborts when the connection closes. */
  readonly signal: () => AbortSignal;
  /** The URL at which the client reached the emulator. */
  readonly origin: string;
}

/** Runs an operation. Returns the response body, server-sent events, or `undefined` for no body. */
export type V2Handler = (call: V2Call<never>) => object | AsyncIterable<string> | undefined;
