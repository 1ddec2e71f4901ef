import { randomBytes } from "node:crypto";
import type { Properties } from "../engine/properties";

/*
 * State identifies a resource and its last write by one output: `__stamp`, two tokens joined by a
 * dot. Handlers do not know URNs, so the first token tells resources apart. The second one changes
 * with every write, and with every refresh that finds the record changed. A note that was made with
 * a different second token is void.
 */

const STAMP = "__stamp";
const TIME_DIGITS = 8;
const RANDOM_BYTES = 4;

/**
 * Returns a token for a new resource, made of the time in seconds and random digits. The token must
 * not be an input, because update plans compare inputs.
 */
export function newOwner(): string {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds.toString(16).padStart(TIME_DIGITS, "0") + newWrite();
}

/** Returns when a resource's token was generated, in seconds since 1970. */
export function drawnAt(owner: string): number {
  return Number.parseInt(owner.slice(0, TIME_DIGITS), 16) || 0;
}

/**
 * Returns the token of a new write. It is random, because two machines may start from the same
 * state.
 */
export function newWrite(): string {
  return randomBytes(RANDOM_BYTES).toString("hex");
}

/** Returns the token of a resource in state, or an empty string if state has none. */
export function ownerOf({ [STAMP]: stamp }: Properties): string {
  return String(stamp ?? "").split(".")[0] ?? "";
}

/** Returns the token of the last write that state records, or an empty string if there is none. */
export function lastWrite({ [STAMP]: stamp }: Properties): string {
  return String(stamp ?? "").split(".")[1] ?? "";
}

/** Returns the output that identifies a resource and its last write. */
export function stampOutput(owner: string, write: string): Properties {
  return { [STAMP]: `${owner}.${write}` };
}
