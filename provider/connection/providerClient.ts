import type { ClientOptions } from "../../sdk/clientOptions";
import { connectAccount } from "../../sdk/connected";
import { createJobQueue, type JobQueue } from "../../sdk/jobs/jobQueue";
import type { LoadBalancer } from "../../sdk/loadBalancer/loadBalancer";
import { clientOver, type ManagementClient } from "../../sdk/managementClient";

/**
 * The parts of a client that deployments need: the management API, and a queue for health and smoke
 * tests.
 */
export interface ProviderClient extends ManagementClient {
  endpoint(endpointId: string): JobQueue & LoadBalancer;
}

/** Creates the client. It sends nothing yet. */
export function createProviderClient(options: ClientOptions): ProviderClient {
  return clientOver(connectAccount(options), createJobQueue, () => ({}));
}
