import { isIPv4 } from "node:net";

/** Whether an address certainly leads to this machine. Names other than `localhost` are not looked up. */
export function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}
