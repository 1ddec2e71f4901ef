/** A request to a route of the control API. */
interface ControlRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/**
 * Returns the response body. `undefined` means no body (204), and `false` means that the record
 * does not exist (404).
 */
export type ControlRoute = (request: ControlRequest) => unknown;
