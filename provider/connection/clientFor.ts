import type { Client } from "../../sdk/client";
import { requireApiKey, serviceName } from "../../sdk/config";
import type { ProviderSettings } from "./config";

const clients = new Map<string, Client>();

/** The client for these settings. One process shares one for each account, and with it its connections and lists. */
export function clientFor(settings: ProviderSettings): Client {
  const identity = JSON.stringify(settings);
  const existing = clients.get(identity);
  if (existing) return existing;
  // Loaded here: programs without look-ups, and previews without changes, start without it.
  const { createClient } = require("../../sdk/client") as typeof import("../../sdk/client");
  const client = createClient({ ...settings, apiKey: requireApiKey(settings), service: serviceName(settings) });
  clients.set(identity, client);
  return client;
}
