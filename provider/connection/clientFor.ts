import type { Client } from "../../sdk/client";
import { log, rateLimitLogger } from "../log";
import { clientOptions, type ProviderSettings } from "./config";

const clients = new Map<string, Client>();

/**
 * Returns the client for these settings. A process has one client for each account, with shared connections and lists.
 */
export function clientFor(settings: ProviderSettings): Client {
  const identity = JSON.stringify(settings);
  const existing = clients.get(identity);
  if (existing) return existing;
  // Loaded here: programs without data sources, and previews without changes, do not need it.
  const { createClient } = require("../../sdk/client") as typeof import("../../sdk/client");
  const client = createClient({
    ...clientOptions(settings),
    onRateLimit: rateLimitLogger(),
    onWarning: (message) => log("serverless-gpu", `warning: ${message}`),
  });
  clients.set(identity, client);
  return client;
}
