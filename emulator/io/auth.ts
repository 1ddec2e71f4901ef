import type { HttpRequest } from "./http";

/** The keys that the emulator knows. */
export interface Keys {
  /** The key that may do everything. */
  readonly apiKey: string;
  /** A key that exists and may do nothing; undefined for none. */
  readonly restrictedApiKey: string | undefined;
}

/** What a request's key allows. */
export type Access = "granted" | "forbidden" | "wrong" | "missing";

export function accessOf(key: string | undefined, keys: Keys): Access {
  if (!key) return "missing";
  if (key === keys.apiKey) return "granted";
  return key === keys.restrictedApiKey ? "forbidden" : "wrong";
}

/** The key of `Authorization: Bearer <key>`. */
export function bearerKey(request: Pick<HttpRequest, "headers">): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** The key of a header that carries it with or without `Bearer`, as the queue takes it (contract, Authentication). */
export function bearerOrBareKey(request: HttpRequest): string | undefined {
  return bearerKey(request) ?? request.headers.authorization;
}
