import { isIPv4, isIPv6 } from "node:net";
import { accessOf, bearerKey, bearerOrBareKey, type Keys } from "../io/auth";
import type { HttpRequest, Refusal } from "../io/http";

/** The secrets that grant access. */
interface AccessOptions {
  /** The emulator's key. Other machines must send it. */
  readonly apiKey: string;
  /** The page's token, which changes at each start. Web pages must send it with each action. */
  readonly token: string;
  /** The host that the emulator listens on. */
  readonly host: string;
}

/** The header that contains the page's token. */
const TOKEN_HEADER = "x-emulator-token";

/**
 * Returns why a request to the control API must be refused, if it must. Programs on this machine
 * have access. Programs on other machines need the key. Among web pages, only the emulator's own
 * page has access: the browser must use a name of this machine, so that no foreign name leads here,
 * and each action must contain the page's token.
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
 * Returns why a request must be refused if it uses a host name that another site may own and
 * contains no key. With DNS rebinding, the browser treats such a page as having the same origin.
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

/** Returns the password in `Authorization: Basic …`, which browsers prompt for. */
function basicPassword({ headers }: Pick<HttpRequest, "headers">): string | undefined {
  const encoded = /^basic +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return encoded && /^[^:]*:(.*)$/s.exec(Buffer.from(encoded, "base64").toString("utf8"))?.[1];
}

/** Returns `true` for host names that no other site can own. HTTP/1.0 programs may send none. */
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

/** Returns `true` for a request that opens the page. Any site may link to it. */
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
