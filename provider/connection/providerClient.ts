import type { ClientOptions } from "../../sdk/clientOptions";
import { connect } from "../../sdk/connected";
import { createLateDiagnoses } from "../../sdk/diagnosis/waits";
import { accessOver } from "../../sdk/endpointAccess";
import { createJobQueue, type JobQueue } from "../../sdk/jobs/jobQueue";
import type { LoadBalancer } from "../../sdk/loadBalancer/loadBalancer";
import { type ManagementClient, managementOver } from "../../sdk/managementClient";

/**
 * What deployments need of a client: the management API, and a queue for health and smoke tests.
 */
export interface ProviderClient extends ManagementClient {
  endpoint(endpointId: string): JobQueue & LoadBalancer;
}

/** Creates the client. It sends nothing yet. */
export function createProviderClient(options: ClientOptions): ProviderClient {
  const connected = connect(options);
  const diagnose = createLateDiagnoses(
    { diagnose: (id, limits) => management.endpoints.diagnose(id, limits) },
    connected.calls.clock,
  );
  const endpoint = accessOver(connected, createJobQueue, { diagnose });
  const management = managementOver(connected, endpoint, () => ({}));
  return Object.assign(management, { endpoint });
}
