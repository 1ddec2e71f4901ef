import { readFileSync } from "node:fs";
import path from "node:path";
import { ServerlessEndpoint, type ServerlessEndpointArgs } from "pulumi-serverless-gpu";

// The data can come from anywhere: a file that other teams change, a database, the config of this
// stack. The preview reports all errors in it at once.
const fleet: Record<string, ServerlessEndpointArgs> = JSON.parse(
  readFileSync(path.join(__dirname, "fleet.json"), "utf8"),
);

/** The defaults of all endpoints. */
const common: Partial<ServerlessEndpointArgs> = { locations: ["CZ", "NO", "RO"], workersMax: 2, idleTimeout: 20 };

const endpoints = Object.entries(fleet).map(
  ([name, args]) => [name, new ServerlessEndpoint(name, { ...common, ...args })] as const,
);

/** The queue of each endpoint, by its key in the data. */
export const queueUrls = Object.fromEntries(endpoints.map(([name, { queueUrl }]) => [name, queueUrl]));
