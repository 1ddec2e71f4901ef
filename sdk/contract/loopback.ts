import { isIPv4 } from "node:net";

/**
 * Returns `true` if a URL is certain to lead to this machine. Host names other than `localhost` are
 * not resolved.
 */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}
