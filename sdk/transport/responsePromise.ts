import type { ObservedOptions } from "./requestOptions";
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
  const promise = call({ ...(options as Options), onResponse }) as ResponsePromise<T>;
  promise.withResponse = async () => ({ data: await promise, response: responseInfo(received as ReceivedResponse) });
  return promise;
}
