import { containsUnknown, isObject, UNKNOWN } from "../engine/properties";

/** The problem of setting both `command` and `dockerArgs`. */
export const TWO_COMMANDS = "set either command or dockerArgs";

/** The problem of a malformed `command`. */
export const WRONG_COMMAND = "command must be an object with the lists cmd and entrypoint";

/**
 * Converts a `command` object to the start command format that RunPod uses; `undefined` if it is
 * malformed.
 */
export function startCommand(parts: unknown): string | undefined {
  if (containsUnknown(parts)) return UNKNOWN;
  if (!isObject(parts)) return undefined;
  const { cmd, entrypoint, ...others } = parts;
  const isRight = [cmd, entrypoint].every((list) => list === undefined || Array.isArray(list));
  if (!isRight || Object.keys(others).length > 0) return undefined;
  return JSON.stringify({ ...(cmd !== undefined && { cmd }), ...(entrypoint !== undefined && { entrypoint }) });
}
