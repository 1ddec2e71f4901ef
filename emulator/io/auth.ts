import { randomBytes } from "node:crypto";
import type { HttpRequest } from "./http";

/** The keys that the emulator knows. */
export interface Keys {
  /** The key with all permissions. */
  readonly apiKey: string;
  /** A valid key without any permission, if there is one. */
  readonly restrictedApiKey: string | undefined;
}

/**
 * Returns a new key. If all emulators shared a key, every web page would know it, and one whose
 * host name leads to this machine could use it. The key does not depend on `randomSeed`, which a
 * page could guess.
 */
export function newKey(): string {
  return `emulator-${randomBytes(16).toString("hex")}`;
}

/** The result of checking the key of a request. */
export type Access = "granted" | "forbidden" | "wrong" | "missing";

export function accessOf(key: string | undefined, keys: Keys): Access {
  if (!key) return "missing";
  if (key === keys.apiKey) return "granted";
  return key === keys.restrictedApiKey ? "forbidden" : "wrong";
}

/** Returns the key of `Authorization: Bearer <key>`. */
export function bearerKey(request: Pick<HttpRequest, "headers">): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

/**
 * Returns the key of an `Authorization` header with or without `Bearer`, as the queue accepts it
 * (contract, Authentication).
 */
export function bearerOrBareKey(request: Pick<HttpRequest, "headers">): string | undefined {
  return bearerKey(request) ?? request.headers.authorization;
}
