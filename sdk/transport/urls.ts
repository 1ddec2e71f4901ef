import { RUNPOD_ADDRESSES } from "../contract/limits";
import { InvalidInputError } from "../errors/errors";

/** The path of each API below its URL. */
export const INTERFACE_PATHS = { graphqlUrl: "/graphql", restUrl: "/v1", queueUrl: "/v2" } as const;

/** The path of REST v2 below the GraphQL URL. The service has both APIs on one host. */
export const REST_V2_PATH = "/v2";

/**
 * The maximum length of an id. Real ids are far shorter. A longer string is not an id, and must not
 * end up in a URL or an error.
 */
export const LONGEST_ID = 200;

/** A description of the characters that an id may contain, for messages. */
export const ID_CHARACTERS = `letters, digits, hyphens, underscores and dots between them, at most ${LONGEST_ID} characters`;

/** Returns `true` if the id can be one segment of a path. */
export function isPathSegment(id: unknown): id is string {
  return typeof id === "string" && id.length <= LONGEST_ID && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(id);
}

/**
 * Returns the id if it can be one segment of a path.
 * @throws InvalidInputError if it would lead to another URL
 */
export function pathSegment(property: string, id: unknown): string {
  if (isPathSegment(id)) return id;
  const message = `must be an id from the service: ${ID_CHARACTERS}; it is ${shownId(id)}`;
  throw new InvalidInputError("the request", [{ property, message }]);
}

/**
 * Returns an id as text for messages. An object that was passed instead of an id is not shown,
 * because it may be large or impossible to convert to JSON.
 */
function shownId(id: unknown): string {
  if (typeof id === "string") return id.length > LONGEST_ID ? `${id.length} characters long` : JSON.stringify(id);
  return id === undefined || id === null || typeof id === "number" ? String(id) : `not a string but a ${typeof id}`;
}

/**
 * Checks that an id was given, before a record with this id is looked up in a list. Otherwise, an
 * id that is missing in a program would be mistaken for a record that does not exist.
 * @throws InvalidInputError
 */
export function requireId(id: unknown): void {
  if (typeof id === "string" && id !== "") return;
  const message = `must be a string that is not empty; it is ${shownId(id)}`;
  throw new InvalidInputError("the request", [{ property: "id", message }]);
}

/** Returns the URL of an endpoint's queue. */
export function endpointQueueUrl(queueUrl: string, endpointId: string): string {
  return `${queueUrl}${INTERFACE_PATHS.queueUrl}/${endpointId}`;
}

/**
 * Returns the URL of a load-balancing endpoint. RunPod's own queue URL uses a separate host for
 * each endpoint. Any other queue URL uses a path.
 * @throws InvalidInputError if the id cannot be part of the URL
 */
export function loadBalancerUrl(queueUrl: string, endpointId: string): string {
  const url = serverUrl(queueUrl, pathSegment("endpointId", endpointId));
  if (url !== undefined) return url;
  const message = "cannot be part of a host name: it must be letters, digits and hyphens, at most 63 characters";
  throw new InvalidInputError("the request", [{ property: "endpointId", message }]);
}

/**
 * Returns the URL of a load-balancing endpoint, or `undefined` if its id cannot be part of a host
 * name.
 */
export function serverUrl(queueUrl: string, id: string): string | undefined {
  if (queueUrl !== RUNPOD_ADDRESSES.queueUrl) return `${queueUrl}/lb/${id}`;
  return HOST_LABEL.test(id) ? queueUrl.replace("://", `://${id.toLowerCase()}.`) : undefined;
}

/** One part of a host name (RFC 1123). */
const HOST_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i;
