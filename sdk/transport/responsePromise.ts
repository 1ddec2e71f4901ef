import { type OptionChecks, optionsError } from "./callOptions";
import type { ObservedOptions, RequestOptions } from "./requestOptions";
import { type ReceivedResponse, type ResponseInfo, responseInfo } from "./responseInfo";

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

/**
 * Checks the options, then makes the call. Keeps the last response of the call for `withResponse`.
 */
export function checkedCall<T, Options extends RequestOptions>(
  given: Options | undefined,
  checks: OptionChecks<Options>,
  call: (options: Options & ObservedOptions) => Promise<T>,
): ResponsePromise<T> {
  let received: ReceivedResponse | undefined;
  const onResponse = ({ status, headers }: ReceivedResponse) => {
    // Don't keep the body, which may be large.
    received = { status, headers };
  };
  const error = optionsError(given, checks);
  const promise = (error ? Promise.reject(error) : call({ ...(given as Options), onResponse })) as ResponsePromise<T>;
  promise.withResponse = async () => ({ data: await promise, response: responseInfo(received as ReceivedResponse) });
  return promise;
}
