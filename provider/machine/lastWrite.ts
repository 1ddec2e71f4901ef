import { randomBytes } from "node:crypto";
import type { Properties } from "../properties";

/** The output that names the last write that is recorded in state. */
const WRITE = "__write";

const TOKEN_BYTES = 4;

/**
 * Returns the name of a new write. The name is random, because two machines may start from the same
 * state.
 */
export function newWrite(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

/**
 * Returns the name of the last write that is recorded in state, or an empty string if there is
 * none.
 */
export function lastWrite({ [WRITE]: write }: Properties): string {
  return typeof write === "string" ? write : "";
}

/** Returns the output that names a write, or no output for an empty string. */
export function writeOutput(write: string): Properties {
  return write === "" ? {} : { [WRITE]: write };
}
