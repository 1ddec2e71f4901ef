import { randomBytes } from "node:crypto";
import type { HttpRequest } from "./http";

/** The keys that the emulator accepts. */
export interface Keys {
  /** The key with full permissions. */
  readonly apiKey: string;
  /** A valid key without any permissions, if there is one. */
  readonly restrictedApiKey: string | undefined;
}

/**
 * Returns a new random key. If all emulators shared one key, every web page would know it, and a
 * page whose host name points to this machine could use it. The key does not depend on
 * `randomSeed`, which a page could guess.
 */
export function newKey(): string {
  return `emulator-${randomBytes(16).toString("hex")}`;
}

/** The result of checking a request's key. */
type Access = "granted" | "forbidden" | "wrong" | "missing";

export function accessOf(key: string | undefined, keys: Keys): Access {
  if (!key) return "missing";
  if (key === keys.apiKey) return "granted";
  return key === keys.restrictedApiKey ? "forbidden" : "wrong";
}

/** Returns the key in `Authorization: Bearer <key>`. */
export function bearerKey(request: Pick<HttpRequest, "headers">): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

/**
 * Returns the key in an `Authorization` header with or without `Bearer`, as the queue API accepts
 * it (contract, Authentication).
 */
export function bearerOrBareKey(request: Pick<HttpRequest, "headers">): string | undefined {
  return bearerKey(request) ?? request.headers.authorization;
}
