import { InvalidInputError } from "../errors/errors";

/**
 * A path segment that a URL parser, or a gateway that decodes the path, interprets as the current
 * or the parent folder.
 */
const DOT_SEGMENT = /^\.{1,2}$/;

/** Characters that a URL parser drops or misinterprets. */
const MISREAD = /[\\#\s\p{Cc}]/u;

/**
 * Returns the URL for a path of a load-balancing endpoint. Because other URLs are rejected, the key
 * is never sent anywhere else.
 * @param base the URL of the endpoint, without a trailing slash
 * @param target a path that begins with a slash and may contain a query, or a URL below the base
 * @throws InvalidInputError if the target leads elsewhere
 */
export function targetUrl(base: string, target: unknown): URL {
  const text = target instanceof URL ? target.href : target;
  if (typeof text !== "string") throw refused("must be a string such as /v1/models");
  const path = text.startsWith(`${base}/`) ? text.slice(base.length) : text;
  if (!path.startsWith("/")) throw refused(`must begin with a slash, or be a URL that begins with ${base}/`);
  if (MISREAD.test(path)) throw refused("must not contain white space, # or a backslash: percent-encode them");
  const [beforeQuery = ""] = path.split("?", 1);
  if (beforeQuery.startsWith("//")) throw refused("must begin with one slash: two would name another host");
  if (
    decodedSeparators(beforeQuery)
      .split(/[/\\]/)
      .some((part) => DOT_SEGMENT.test(part))
  ) {
    throw refused('must not contain "." or ".." as a part');
  }
  const url = new URL(base + path);
  const own = new URL(base);
  if (url.origin !== own.origin || !url.pathname.startsWith(own.pathname)) throw refused("must be below the endpoint");
  return url;
}

function decodedSeparators(path: string): string {
  return path.replace(/%(2e|2f|5c)/gi, (encoded) => decodeURIComponent(encoded));
}

/**
 * Returns the error for a rejected path. It does not show the path, because the query may contain a
 * secret.
 */
function refused(message: string): InvalidInputError {
  return new InvalidInputError("the request", [{ property: "path", message }]);
}
