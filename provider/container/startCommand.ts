import { containsUnknown, isObject, UNKNOWN } from "../properties";

/** The problem with a `command` that is given together with `dockerArgs`. */
export const TWO_COMMANDS = "set either command or dockerArgs";

/** The problem with a `command` of the wrong shape. */
export const WRONG_COMMAND = "command must be an object with the lists cmd and entrypoint";

/**
 * Returns a start command in the service's form for one in parts; `undefined` if it has the wrong
 * shape.
 */
export function startCommand(parts: unknown): string | undefined {
  if (containsUnknown(parts)) return UNKNOWN;
  if (!isObject(parts)) return undefined;
  const { cmd, entrypoint, ...others } = parts;
  const isRight = [cmd, entrypoint].every((list) => list === undefined || Array.isArray(list));
  if (!isRight || Object.keys(others).length > 0) return undefined;
  return JSON.stringify({ ...(cmd !== undefined && { cmd }), ...(entrypoint !== undefined && { entrypoint }) });
}
