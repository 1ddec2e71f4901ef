import { acceptedInputs } from "../connection/acceptedWords";
import type { GraphqlStatusListener } from "../connection/endSigns";
import { requireAddress, serviceName } from "../connection/settings";
import { capabilitiesAt } from "../contract/capabilities";
import { createLateDiagnoses } from "../diagnosis/waits";
import { createJobQueue, type JobQueue } from "../jobs/jobQueue";
import type { QueueContext } from "../jobs/queueTransport";
import type { LoadBalancer } from "../loadBalancer/loadBalancer";
import { createPods, type Pods } from "../pods/pods";
import { restPodCalls } from "../pods/restCalls";
import { type Connected, connectAccount } from "./connected";
import { accessOver, type CreateQueue } from "./endpointAccess";
import type { AddedToEndpoints, Management } from "./management";
import type { ClientOptions } from "./options";

/** A client for the management API of one account, which provides everything `pulumi up` needs. */
export interface ManagementClient<Added extends object = object> extends Omit<Management<Added>, "pods"> {
  /** Reads pods. */
  readonly pods: Pods;
  /**
   * Ends all waits for jobs, all streamed bodies, and all calls that are waiting for a rate limit
   * or a retry. Requests in progress get one more second for their response. Requests without a
   * response then fail, and the logger reports which ones. Only requests over your own `dispatcher`
   * continue.
   */
  close(): Promise<void>;
  /** Same as `close`, for use with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client for the management API only, for programs that run no jobs. Does not send any
 * request.
 * @throws ConfigurationError, see `createClient`
 * @example
 * await using management = createManagement();
 * for (const { name, workersMax } of await management.endpoints.list()) console.log(name, workersMax);
 */
export function createManagement(options?: ClientOptions): ManagementClient {
  const connected = connectAccount(options);
  return managementOver(connected, accessOver(connected, createJobQueue), () => ({}));
}

/**
 * Returns the functions for the management API and the queues of a connection. If a wait in a queue
 * times out, the error can explain why the job is waiting.
 * @param added creates the additional parts of `endpoints`
 * @param hooks called when a job ends, and with the status of each response over GraphQL
 */
export function clientOver<Queue extends JobQueue, Added extends object>(
  connected: Connected,
  createQueue: CreateQueue<Queue>,
  added: AddedToEndpoints<Added>,
  {
    onStatus,
    ...hooks
  }: Pick<QueueContext, "onEnded"> & { readonly onStatus?: GraphqlStatusListener | undefined } = {},
): ManagementClient<Added> & { endpoint(endpointId: string): Queue & LoadBalancer } {
  const diagnose = createLateDiagnoses(
    { diagnose: (id, limits) => management.endpoints.diagnose(id, limits) },
    connected.calls.clock,
  );
  const endpoint = accessOver(connected, createQueue, { ...hooks, diagnose });
  const management = managementOver(connected, endpoint, added, onStatus);
  return Object.assign(management, { endpoint });
}

/**
 * Returns the functions for the management API of a connection. If no setting selects the API, they
 * use GraphQL while the service serves it, and REST v2 once it is gone.
 */
function managementOver<Added extends object>(
  connected: Connected,
  access: (endpointId: string) => Pick<JobQueue, "health">,
  added: AddedToEndpoints<Added>,
  onStatus?: GraphqlStatusListener,
): ManagementClient<Added> {
  if (!connected.isAutomatic) return managementAt(connected, access, added, onStatus);
  const { automaticManagement } = require("./automaticManagement") as typeof import("./automaticManagement");
  return automaticManagement(connected, (at, onGraphql) => managementAt(at, access, added, onGraphql));
}

/**
 * Returns the functions for the management API of a connection. Their modules are loaded only here,
 * because programs that only run jobs don't need them.
 * @param access returns an endpoint's queue, which a diagnosis reads
 * @param added creates the additional parts of `endpoints`
 */
function managementAt<Added extends object>(
  connected: Connected,
  access: (endpointId: string) => Pick<JobQueue, "health">,
  added: AddedToEndpoints<Added>,
  onStatus: GraphqlStatusListener | undefined,
): ManagementClient<Added> {
  const { callsOver } = require("./apis") as typeof import("./apis");
  const { managementOf } = require("./management") as typeof import("./management");
  const { options, http, apiKey, limits, managed, close } = connected;
  const service = serviceName(options);
  const context = { ...managed, ...acceptedInputs(options), capabilities: capabilitiesAt(options.api, service) };
  const url = () => requireAddress(options, "graphqlUrl");
  const restPods = restPodCalls(http, apiKey, () => requireAddress(options, "restUrl"));
  const calls = callsOver(options.api, context, { http, apiKey, url, limits }, service, restPods, onStatus);
  const management = managementOf(context, calls, async (id, limits) => access(id).health(limits), added);
  const pods = createPods(connected.pods, () => management.pods);
  return { ...management, pods, close, [Symbol.asyncDispose]: close };
}
