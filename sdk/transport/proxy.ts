import { ConfigurationError } from "../errors/errors";

/**
 * The environment variables that name a proxy, by the protocol of the requested URL. The first
 * variable that is set is used.
 */
const PROXY_VARIABLES = {
  "http:": ["http_proxy", "HTTP_PROXY"],
  // If there is no proxy for https, use the proxy for http.
  "https:": ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY"],
} as const;

interface Proxy {
  /** The environment variable that names the proxy. */
  readonly variable: string;
  readonly url: URL;
}

/** The prefix of the status in the `code` of an error from a proxy. */
export const PROXY_STATUS = "PROXY_STATUS_";

/**
 * Returns the end of a message about an unreachable URL, which names the proxy to check. Returns
 * `""` if there is no proxy.
 */
export function proxyHint(origin: string): string {
  const proxy = proxyFor(origin.startsWith("https:") ? "https:" : "http:");
  if (!proxy) return "";
  const { variable, url } = proxy;
  // Leave out the user name and the password.
  return `. ${variable} is set: check the proxy ${url.protocol}//${url.host}, or add the host to NO_PROXY if it needs no proxy`;
}

/**
 * Returns the proxy for URLs with this protocol, if the environment names one.
 * @throws ConfigurationError if an environment variable is not the URL of a proxy
 */
export function proxyFor(protocol: keyof typeof PROXY_VARIABLES): Proxy | undefined {
  for (const variable of PROXY_VARIABLES[protocol]) {
    const value = process.env[variable]?.trim();
    if (!value) continue;
    const text = value.includes("://") ? value : `http://${value}`;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url && /^https?:$/.test(url.protocol) && hasReadableCredentials(url)) return { variable, url };
    // Don't show the value, because it may contain a password.
    throw new ConfigurationError(
      `${variable} must be the http(s) URL of a proxy, such as http://proxy.example.com:3128, with user and password percent-encoded: ` +
        "fix it, or remove it",
    );
  }
  return undefined;
}

function hasReadableCredentials({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
