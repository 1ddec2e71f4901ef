/** A request to a route of the control interface. */
export interface ControlRequest {
  readonly id: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Returns the body of the response: `undefined` for none (204), `false` if the record does not exist (404). */
export type ControlRoute = (request: ControlRequest) => unknown;
