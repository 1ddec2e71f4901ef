import type { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import type { Clock } from "../contract/clock";
import type { Attempt } from "./call";
import type { Closing } from "./closing";
import type { Reports } from "./observers";
import type { RequestOptions } from "./requestOptions";
import type { ReceivedResponse } from "./responseInfo";

/** The connections and observers of one client. */
export interface Http {
  readonly agent: Dispatcher;
  readonly clock: Clock;
  readonly report: Reports["request"];
  /** Headers to add to each request. */
  readonly headers?: RequestOptions["headers"];
  /** Ends requests and their bodies when the client is closed. */
  readonly closing: Closing;
  /**
   * Returns the end of a message about an unreachable URL. It names the proxy to check, if there is
   * one.
   */
  readonly proxyHint: (origin: string) => string;
}

/** One HTTP request. */
export interface OutgoingRequest {
  /** The name of the operation in events, such as `run` or `saveEndpoint`. */
  readonly name: string;
  /** The name of the operation in error messages, such as `saveEndpoint of "llama"`. */
  readonly operation: string;
  /** The HTTP method, in upper case. */
  readonly method: string;
  readonly url: string;
  readonly headers?: Record<string, string>;
  /** The body. A stream can be sent only once. */
  readonly body?: string | Buffer | Readable | undefined;
  readonly attempt: Attempt;
}

/** A complete response. */
export interface WholeResponse extends ReceivedResponse {
  readonly body: string;
}
