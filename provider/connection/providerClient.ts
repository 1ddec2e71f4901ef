import { connectAccount } from "../../sdk/client/connected";
import type { AddedToEndpoints } from "../../sdk/client/management";
import { clientOver, type ManagementClient } from "../../sdk/client/managementClient";
import type { ClientOptions } from "../../sdk/client/options";
import { createJobQueue, type JobQueue } from "../../sdk/jobs/jobQueue";
import type { LoadBalancer } from "../../sdk/loadBalancer/loadBalancer";
import type { Logs } from "../../sdk/logs/logs";

/**
 * The parts of a client that deployments need: the management API, and a queue for health and smoke
 * tests.
 */
export interface ProviderClient extends ManagementClient<Logs> {
  endpoint(endpointId: string): JobQueue & LoadBalancer;
}

/**
 * Creates the client. It sends nothing yet.
 * @param onStatus called with the status of each response over GraphQL
 */
export function createProviderClient(
  options: ClientOptions,
  onStatus: (status: number | undefined) => void,
): ProviderClient {
  const logs: AddedToEndpoints<Logs> = (...args) => {
    // Loaded lazily, because only the errors of failed releases show logs.
    const read: Logs["logs"] = (...request) => {
      const { createLogs } = require("../../sdk/logs/logs") as typeof import("../../sdk/logs/logs");
      return createLogs(...args).logs(...request);
    };
    return { logs: read };
  };
  return clientOver(connectAccount(options), createJobQueue, logs, { onStatus });
}
