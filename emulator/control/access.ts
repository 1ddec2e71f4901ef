import { isIPv4, isIPv6 } from "node:net";
import { accessOf, bearerKey, bearerOrBareKey, type Keys } from "../io/auth";
import type { HttpRequest, Refusal } from "../io/http";

/** The secrets that grant access. */
export interface AccessOptions {
  /** The key of the emulator. Other machines must send it. */
  readonly apiKey: string;
  /** The token of the page, new at each start. Web pages must send it with each action. */
  readonly token: string;
  /** The host that the emulator listens on. */
  readonly host: string;
}

/** The header that holds the token of the page. */
export const TOKEN_HEADER = "x-emulator-token";

/**
 * Returns the reason to refuse a request to the control interface, if any. Programs on this machine
 * have access; programs on other machines need the key. Of all web pages, only the emulator's own
 * has access: the browser must reach it by a name of this machine (so that no foreign name leads
 * here), and an action must contain the page's token.
 */
export function accessRefusal(
  request: Pick<HttpRequest, "method" | "path" | "headers">,
  remoteAddress: string,
  { apiKey, token, host }: AccessOptions,
): Refusal | undefined {
  const { headers, method } = request;
  const hasKey = (bearerKey(request) ?? basicPassword(request)) === apiKey;
  if (!hasKey && !isThisMachine(remoteAddress))
    return { status: 401, reason: "from another machine, send the key as a bearer token, or as the password" };
  if (!hasKey && !isNameOf(headers.host, host)) return foreignName(headers.host);
  if (!isFromBrowserPage(headers) || opensPage(request)) return undefined;
  if (!isSameOrigin(headers)) return { status: 403, reason: "web pages have no access" };
  if (method === "GET" || headers[TOKEN_HEADER] === token) return undefined;
  return { status: 403, reason: "actions of web pages need the token of this emulator: reload the page" };
}

/**
 * Returns the reason to refuse a request to any interface by a name that another site may own, if
 * it contains no key: to its browser, a web page whose name leads here (DNS rebinding) has the same
 * origin.
 */
export function hostRefusal(
  request: Pick<HttpRequest, "headers" | "query">,
  { keys, host }: { readonly keys: Keys; readonly host: string },
): Refusal | undefined {
  const { headers, query } = request;
  if (isNameOf(headers.host, host)) return undefined;
  const given = [bearerOrBareKey(request), basicPassword(request), query.get("api_key") ?? undefined];
  const hasKey = given.some((key) => ["granted", "forbidden"].includes(accessOf(key, keys)));
  return hasKey ? undefined : foreignName(headers.host);
}

function foreignName(name: string | undefined): Refusal {
  const reason = `the name ${JSON.stringify(name)} may belong to another site: use 127.0.0.1 or localhost, or send the key as a bearer token`;
  return { status: 403, reason };
}

function isThisMachine(remoteAddress: string): boolean {
  return /^(127\.|::1$|::ffff:127\.)/.test(remoteAddress);
}

/** Returns the password of `Authorization: Basic …`, which browsers ask for. */
function basicPassword({ headers }: Pick<HttpRequest, "headers">): string | undefined {
  const encoded = /^basic +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return encoded && /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8"))?.[1];
}

/** Returns `true` for names that no other site can own. Programs with HTTP/1.0 may send none. */
function isNameOf(hostHeader: string | undefined, ownHost: string): boolean {
  if (hostHeader === undefined) return true;
  const name = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(hostHeader.toLowerCase())?.[1] ?? "";
  const isIp = isIPv4(name) || isIPv6(name.replace(/^\[|\]$/g, ""));
  return isIp || name === "localhost" || name.endsWith(".localhost") || name === ownHost.toLowerCase();
}

function isFromBrowserPage(headers: HttpRequest["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  return headers.origin !== undefined || (site !== undefined && site !== "none");
}

/** A link from anywhere may open the page. */
function opensPage({ method, path, headers }: Pick<HttpRequest, "method" | "path" | "headers">): boolean {
  const isDocument = headers["sec-fetch-mode"] === "navigate" && headers["sec-fetch-dest"] === "document";
  return method === "GET" && path === "/_emulator/" && isDocument && headers.origin === undefined;
}

function isSameOrigin({ origin, host, ...headers }: HttpRequest["headers"]): boolean {
  const site = headers["sec-fetch-site"] ?? "same-origin";
  return (
    site === "same-origin" && (origin === undefined || origin === `http://${host}` || origin === `https://${host}`)
  );
}
