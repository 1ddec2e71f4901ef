import type { Dispatcher } from "undici";

/** A response as it was received. */
export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  /** Missing while the body is being streamed. */
  readonly body?: string;
}

/** Information about a response, apart from its body. */
export interface ResponseInfo {
  /** The HTTP status. */
  readonly status: number;
  /** The response headers. Their names are lowercase. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /**
   * The service's id for the request, from the header `x-request-id`, `request-id` or `cf-ray`.
   * Missing if the response has none of these headers.
   */
  readonly requestId?: string | undefined;
}

/**
 * The headers in which services and their gateways send the id of a request. The headers of the
 * services come first.
 */
const REQUEST_ID_HEADERS = ["x-request-id", "request-id", "cf-ray"] as const;

/** Returns the information about a response, apart from its body. */
export function responseInfo({ status, headers: received }: ReceivedResponse): ResponseInfo {
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, value] of Object.entries(received)) if (value !== undefined) headers[name] = value;
  const requestId = REQUEST_ID_HEADERS.map((name) => headers[name]).find((value) => typeof value === "string");
  return { status, headers, ...(typeof requestId === "string" && { requestId }) };
}
