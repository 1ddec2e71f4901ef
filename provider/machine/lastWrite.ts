import { randomBytes } from "node:crypto";
import type { Properties } from "../properties";

/** The output that names the last write that state has. */
const WRITE = "__write";

const TOKEN_BYTES = 4;

/** Returns the name of a new write. Random, because two machines may start from one state. */
export function newWrite(): string {
  return randomBytes(TOKEN_BYTES).toString("hex");
}

/** Returns the last write that state has; an empty string if it has none. */
export function lastWrite({ [WRITE]: write }: Properties): string {
  return typeof write === "string" ? write : "";
}

/** Returns the output that names a write; none for an empty string. */
export function writeOutput(write: string): Properties {
  return write === "" ? {} : { [WRITE]: write };
}
