import { InvalidInputError } from "../errors";

/** Ids are far shorter. What is longer was not meant as one, and must not fill an address or an error. */
const LONGEST_ID = 200;

/** Returns `true` if the id can be one segment of a path. */
export function isPathSegment(id: unknown): id is string {
  return typeof id === "string" && id.length <= LONGEST_ID && /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(id);
}

/** An id as one segment of a path; refuses what would address something else. */
export function pathSegment(property: string, id: unknown): string {
  if (isPathSegment(id)) return id;
  const message = `must be an id as the service gives it: letters, digits, hyphens, underscores and dots between them, at most ${LONGEST_ID} characters`;
  const shown = typeof id === "string" && id.length > LONGEST_ID ? `${id.length} characters long` : JSON.stringify(id);
  throw new InvalidInputError("the request", [{ property, message: `${message}; it is ${shown}` }]);
}
