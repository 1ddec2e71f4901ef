import type { CallOptions } from "../io/http";

/** A request to REST v2 whose key, path and body are right. */
export interface V2Call<Body = Readonly<Record<string, unknown>>> extends CallOptions {
  /** The id in the path; empty without one. */
  readonly id: string;
  readonly body: Body;
  readonly query: URLSearchParams;
  /** The URL under which the client reached the emulator. */
  readonly origin: string;
}

/** Executes an operation. Returns the body of the response, or `undefined` if it has none. */
export type V2Handler = (call: V2Call<never>) => object | undefined;
