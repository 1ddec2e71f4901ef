import type { Dispatcher } from "undici";
import type { ObservedOptions } from "./requestOptions";

/** A response as it was received. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  /** Missing while it is being streamed. */
  readonly body?: string;
}

/** The facts about a response beside its body. */
export interface ResponseInfo {
  /** The HTTP status. */
  readonly status: number;
  /** The headers, with names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The service's id of the request, from the header `x-request-id`, `request-id` or `cf-ray`. Missing without one. */
  readonly requestId?: string | undefined;
}

/** The headers that services and the gateways before them use for the id of a request, the service's own first. */
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "cf-ray"] as const;

/** Returns the facts about a response. */
export function responseInfo({ status, headers: received }: ReceivedResponse): ResponseInfo {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(received)) if (value !== undefined) headers[name] = value;
  const requestId = REQUEST_ID_HEADERS.map((name) => headers[name]).find((value) => typeof value === "string");
  return { status, headers, ...(typeof requestId === "string" && { requestId }) };
}

/** A value with the response that it came in. */
export interface WithResponse<T> {
  /** The value that the plain call resolves with. */
  readonly data: T;
  /** The last response of the call. */
  readonly response: ResponseInfo;
}

/** The promise of a call. */
export interface ResponsePromise<T> extends Promise<T> {
  /** Resolves with the value together with the response that it came in. */
  withResponse(): Promise<WithResponse<T>>;
}

/** Makes a call. Keeps its last response for `withResponse`. */
export function withResponse<T, Options extends ObservedOptions>(
  options: Options | undefined,
  call: (options: Options & ObservedOptions) => Promise<T>,
): ResponsePromise<T> {
  let received: ReceivedResponse | undefined;
  const onResponse = ({ status, headers }: ReceivedResponse) => {
    // Without its body, which may be large.
    received = { status, headers };
    options?.onResponse?.(received);
  };
  const promise = call({ ...(options as Options), onResponse });
  return Object.assign(promise, {
    withResponse: async () => ({ data: await promise, response: responseInfo(received as ReceivedResponse) }),
  });
}
