import type { InputProblem } from "../errors/errors";
import type { ReceivedResponse } from "./responseInfo";

/** The options that every call accepts. */
export interface RequestOptions {
  /**
   * The maximum time for each request of the call, including its retries, pauses and upload, in
   * milliseconds (> 0).
   * @default the client's `retry.maxElapsedMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The maximum number of retries for each request of the call (integer, ≥ 0).
   * @default the client's `retry.maxAttempts` - 1
   */
  readonly maxRetries?: number | undefined;
  /** Aborts the call, including its pauses. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Headers to add to each request of the call. Headers that the client sets itself, such as
   * `authorization` and `content-type`, are not allowed.
   * @default none
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The options of a call, plus a function that receives its responses. */
export interface ObservedOptions extends RequestOptions {
  /** Called with each response of the call. The result of the call comes from the last response. */
  readonly onResponse?: ((response: ReceivedResponse) => void) | undefined;
}

/**
 * Returns those options that apply to each request of a call, without options that apply only to
 * the call itself.
 */
export function requestOptions(options: ObservedOptions | undefined): ObservedOptions {
  const { timeoutMs, maxRetries, signal, headers, onResponse } = options ?? {};
  return { timeoutMs, maxRetries, signal, headers, onResponse };
}

/**
 * Returns `true` if the options change the request itself, so that the request cannot be shared
 * with other callers.
 */
export function changeRequest({ timeoutMs, maxRetries, headers }: RequestOptions): boolean {
  return timeoutMs !== undefined || maxRetries !== undefined || headers !== undefined;
}

/** The headers that the connection sets itself. */
export const CONNECTION_HEADERS: readonly string[] = [
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

/** The headers that the client or the connection sets itself. */
const RESERVED: readonly string[] = [...CONNECTION_HEADERS, "authorization", "content-encoding", "content-type"];

/**
 * Returns the problems with the headers of a call. The problems never show the value of a header,
 * which may be a secret.
 */
export function headerProblems(headers: unknown): readonly InputProblem[] {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers) || Symbol.iterator in headers) {
    return [{ property: "headers", message: "must be an object of names and strings" }];
  }
  return Object.entries(headers).flatMap(([name, value]) => {
    const message = headerProblem(name, value, RESERVED);
    return message === undefined ? [] : [{ property: `headers.${JSON.stringify(name).slice(1, -1)}`, message }];
  });
}

/**
 * Returns the problem with a header (RFC 9110, Fields).
 * @param reserved the names that the caller must not set
 */
export function headerProblem(name: string, value: unknown, reserved: readonly string[]): string | undefined {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return "is not the name of a header";
  if (reserved.includes(name.toLowerCase())) return "is set by the client and cannot be changed";
  if (typeof value !== "string") return "must be a string";
  // A line break would start another header.
  if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return "must not contain line breaks or characters outside of Latin-1";
  return undefined;
}
