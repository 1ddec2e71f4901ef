import type { Account, Catalog } from "./catalog/catalog";
import type { ClientOptions } from "./clientOptions";
import { type Connected, connect } from "./connected";
import { extraWords } from "./connection/acceptedWords";
import { requireAddress, serviceName } from "./connection/settings";
import { capabilitiesAt } from "./contract/capabilities";
import { createLateDiagnoses } from "./diagnosis/waits";
import { accessOver, type CreateQueue } from "./endpointAccess";
import { createJobQueue, type JobQueue } from "./jobs/jobQueue";
import type { QueueContext } from "./jobs/queueTransport";
import type { LoadBalancer } from "./loadBalancer/loadBalancer";
import type { AddedToEndpoints, ManagedEndpoints, Management, ReadHealth } from "./management";
import { createPods, type Pods } from "./pods/pods";
import { restPodCalls } from "./pods/restCalls";
import type { RegistryAuths } from "./registryAuths/registryAuths";
import type { Secrets } from "./secrets/secrets";
import type { Templates } from "./templates/templates";
import type { Volumes } from "./volumes/volumes";

/** A client of the management API of one account: what `pulumi up` needs. */
export interface ManagementClient<Added extends object = object> {
  /** Creates, changes, lists and deletes endpoints, and says why something waits. */
  readonly endpoints: ManagedEndpoints & Added;
  /** Creates, changes, lists and deletes templates. */
  readonly templates: Templates;
  /** Creates, changes, lists and deletes registry credentials. */
  readonly registryAuths: RegistryAuths;
  /** Creates, changes, lists and deletes secrets. */
  readonly secrets: Secrets;
  /** Creates, changes, lists and deletes network volumes. */
  readonly volumes: Volumes;
  /** Reads pods. */
  readonly pods: Pods;
  /** Reads the service's catalog: GPU types, pools, data centers, CPU flavors, stock, prices. */
  readonly catalog: Catalog;
  /** Reads the limits of the account. */
  readonly account: Account;
  /**
   * Ends all waits for jobs, all streamed bodies, and all calls that wait for a rate limit or a
   * retry. Requests get one more second for their response. Those without one then fail, and the
   * logger is told which. Only the requests of your own `dispatcher` continue.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates a client of the management API only, for programs that run no jobs. It sends nothing yet.
 * @throws ConfigurationError, see `createClient`
 * @example
 * await using management = createManagement();
 * for (const { name, workersMax } of await management.endpoints.list()) console.log(name, workersMax);
 */
export function createManagement(options?: ClientOptions): ManagementClient {
  const connected = connect(options);
  return managementOver(connected, accessOver(connected, createJobQueue), () => ({}));
}

/**
 * Returns the management API and the queues over a connection. The queues' waits say why a job
 * waits.
 * @param added what else `endpoints` has
 */
export function clientOver<Queue extends JobQueue, Added extends object>(
  connected: Connected,
  createQueue: CreateQueue<Queue>,
  added: AddedToEndpoints<Added>,
  hooks: Pick<QueueContext, "onEnded"> = {},
): ManagementClient<Added> & { endpoint(endpointId: string): Queue & LoadBalancer } {
  const diagnose = createLateDiagnoses(
    { diagnose: (id, limits) => management.endpoints.diagnose(id, limits) },
    connected.calls.clock,
  );
  const endpoint = accessOver(connected, createQueue, { ...hooks, diagnose });
  const management = managementOver(connected, endpoint, added);
  return Object.assign(management, { endpoint });
}

/**
 * Returns the management API over a connection. Its modules are loaded on first use: programs that
 * only run jobs do not need them.
 * @param access returns an endpoint's queue, which a diagnosis reads
 * @param added what else `endpoints` has
 */
function managementOver<Added extends object>(
  connected: Connected,
  access: (endpointId: string) => Pick<JobQueue, "health">,
  added: AddedToEndpoints<Added>,
): ManagementClient<Added> {
  const health: ReadHealth = async (id, options) => access(id).health(options);
  let management: Management<Added> | undefined;
  const loaded = () => {
    management ??= load(connected, health, added);
    return management;
  };
  return {
    get endpoints() {
      return loaded().endpoints;
    },
    get templates() {
      return loaded().templates;
    },
    get registryAuths() {
      return loaded().registryAuths;
    },
    get secrets() {
      return loaded().secrets;
    },
    get volumes() {
      return loaded().volumes;
    },
    pods: createPods(connected.pods, () => loaded().pods),
    get catalog() {
      return loaded().catalog;
    },
    get account() {
      return loaded().account;
    },
    close: connected.close,
    [Symbol.asyncDispose]: connected.close,
  };
}

function load<Added extends object>(connected: Connected, health: ReadHealth, added: AddedToEndpoints<Added>) {
  const { callsOver } = require("./apis") as typeof import("./apis");
  const { managementOf } = require("./management") as typeof import("./management");
  const { options, http, apiKey, limits, managed } = connected;
  const service = serviceName(options);
  const context = { ...managed, ...extraWords(options), capabilities: capabilitiesAt(options.api, service) };
  const url = () => requireAddress(options, "graphqlUrl");
  const restPods = restPodCalls(http, apiKey, () => requireAddress(options, "restUrl"));
  const requests = callsOver(options.api, context, { http, apiKey, url, limits }, service, restPods);
  return managementOf(context, requests, health, added);
}
