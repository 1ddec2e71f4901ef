import { InvalidInputError } from "./errors";

/** An id as one segment of a path; refuses what would address something else. */
export function pathSegment(property: string, id: unknown): string {
  if (typeof id !== "string" || !/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(id)) {
    const message = "must be an id as the service gives it: letters, digits, hyphens, underscores";
    throw new InvalidInputError("the request", [{ property, message: `${message}; it is ${JSON.stringify(id)}` }]);
  }
  return id;
}
