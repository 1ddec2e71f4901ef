import type { WarningEvent } from "../../sdk/transport/observers";
import { log, rateLimitLogger } from "../engine/log";
import { clientOptions, type ProviderSettings } from "./config";
import { noteGraphqlStatus } from "./decidedApi";
import type { ProviderClient } from "./providerClient";

const clients = new Map<string, ProviderClient>();

/**
 * Returns the client for these settings. A process has one client per account, so that connections
 * and lists are shared.
 */
export function clientFor(settings: ProviderSettings): ProviderClient {
  const identity = JSON.stringify(settings);
  const existing = clients.get(identity);
  if (existing) return existing;
  // Loaded lazily, because programs without data sources and previews without changes don't need
  // it.
  const { createProviderClient }: typeof import("./providerClient") = require("./providerClient");
  const client = createProviderClient(
    { ...clientOptions(settings), onRateLimit: rateLimitLogger(), onWarning },
    noteGraphqlStatus,
  );
  clients.set(identity, client);
  return client;
}

function onWarning({ message }: WarningEvent): void {
  log("serverless-gpu", `warning: ${message}`);
}
