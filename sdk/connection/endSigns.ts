import { ServerlessGpuError } from "../errors/errors";

/** The result of a read that shows whether the service still serves GraphQL. */
export type GraphqlState =
  | { readonly is: "served" }
  /** The status is 410 Gone. */
  | { readonly is: "gone"; readonly status: number }
  /**
   * The status, seen twice, is one of a path that does not exist. `endpointIds` are the endpoints
   * that REST v2 lists.
   */
  | { readonly is: "missing"; readonly status: number; readonly endpointIds: ReadonlySet<string> };

/**
 * Called after each request over GraphQL with the status of its response, or with `undefined` if
 * none arrived.
 */
export type GraphqlStatusListener = (status: number | undefined) => void;

/** The statuses of an API that is not there. */
export const MISSING: readonly number[] = [301, 302, 303, 307, 308, 404, 405];

/** Returns `true` if an error may mean that the service no longer serves GraphQL. */
export function mayMeanEnd(error: unknown): boolean {
  if (!(error instanceof ServerlessGpuError) || error.status === undefined) return false;
  return isEndSign(error.status);
}

/**
 * Returns `true` if a response with this status may mean that the service has shut down the API.
 */
export function isEndSign(status: number): boolean {
  return status === 410 || MISSING.includes(status);
}

/** Describes the status that shows that a service has shut down GraphQL. */
export function howItEnded(status: number): string {
  return status === 410 ? "status 410 Gone" : `status ${status} twice`;
}
