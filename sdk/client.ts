import type { Account, Catalog } from "./catalog/catalog";
import { type ClientOptions, checkClientOptions } from "./clientOptions";
import { extraWords, requireAddress, serviceName } from "./config";
import { capabilitiesAt } from "./contract/capabilities";
import { systemClock } from "./contract/clock";
import type { Endpoints } from "./endpoints/endpoints";
import { ClientClosedError } from "./errors";
import { createEndpointQueue, type EndpointQueue, type ManagedQueue } from "./jobs/queue";
import { createLoadBalancer, type LoadBalancer } from "./loadBalancer/loadBalancer";
import type { Management } from "./management";
import { createPods, type Pods } from "./pods/pods";
import { restPodCalls } from "./pods/restCalls";
import type { RegistryAuths } from "./registryAuths/registryAuths";
import { Secret } from "./secret";
import type { Templates } from "./templates/templates";
import { createClosing } from "./transport/closing";
import type { Http } from "./transport/httpRequest";
import { createLog, createReports } from "./transport/observers";
import { createAgent, proxyHint } from "./transport/proxy";
import { createRateWindows } from "./transport/rateWindows";
import type { CallContext } from "./transport/retryingCall";
import { createGate } from "./transport/throttle";
import type { Volumes } from "./volumes/volumes";

export type { ClientOptions };

/**
 * One endpoint: its queue, or the HTTP servers of its workers if it is a load-balancing endpoint.
 */
export interface EndpointAccess extends EndpointQueue, LoadBalancer {}

/**
 * A client of one account. Create it once and share it: its users share connections, rate limits
 * and polls.
 */
export interface Client {
  /** Creates, changes, lists and deletes endpoints. */
  readonly endpoints: Endpoints;
  /** Creates, changes, lists and deletes templates. */
  readonly templates: Templates;
  /** Creates, changes, lists and deletes registry credentials. */
  readonly registryAuths: RegistryAuths;
  /** Creates, changes, lists and deletes network volumes. */
  readonly volumes: Volumes;
  /** Reads pods. */
  readonly pods: Pods;
  /** Reads the service's catalogue: GPU types, pools, data centers, CPU flavors, stock, prices. */
  readonly catalog: Catalog;
  /** Reads the limits of the account. */
  readonly account: Account;
  /**
   * Returns the calls of an endpoint: a queue submits and follows jobs, and `fetch` calls the
   * workers of a load-balancing endpoint.
   * @throws InvalidInputError if the id cannot be part of a path
   * @throws ConfigurationError if there is no `queueUrl`
   */
  endpoint(endpointId: string): EndpointAccess;
  /**
   * Ends all waits for jobs, all streamed bodies, and all calls that wait for a rate limit or a
   * retry. Requests get one more second for their response. Those without one then fail, and the
   * logger is told which. Only the requests of your own `dispatcher` continue.
   */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** How long a client that is closed waits for responses, in milliseconds. */
const LAST_RESPONSES_MS = 1_000;

/**
 * Creates a client. It sends nothing yet. Without options it reads the connection from the
 * environment. It uses the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in
 * `NO_PROXY`.
 * @throws ConfigurationError if an option is not valid, the key is missing, or a proxy's URL is not
 * valid. A missing interface URL throws on the first use of that interface
 * @example
 * await using client = createClient();
 * for (const { name, workersMax } of await client.endpoints.list()) console.log(name, workersMax);
 */
export function createClient(options?: ClientOptions): Client {
  const checked = checkClientOptions(options);
  const apiKey = new Secret(checked.apiKey);
  const agent = checked.dispatcher ?? createAgent();
  const clock = checked.clock ?? systemClock;
  const log = createLog(checked.logger);
  const reports = createReports(checked, log);
  const http: Http = {
    agent,
    clock,
    report: reports.request,
    bodies: new Set(),
    proxyHint: checked.dispatcher ? () => "" : proxyHint,
  };
  const closing = createClosing();
  const { retry, attemptTimeoutMs, headers } = checked;
  const calls: CallContext = {
    clock,
    random: Math.random,
    retry,
    attemptTimeoutMs,
    headers,
    onRetry: reports.retry,
    warn: reports.warning,
    closing,
  };
  const limits = createRateWindows();
  const isV2 = checked.api === "v2";
  const managementContext: CallContext = isV2
    ? { ...calls, gate: createGate(clock, limits, reports.rateLimit) }
    : calls;
  const restPods = restPodCalls(http, apiKey, () => requireAddress(checked, "restUrl"));
  const pods = createPods(managementContext, () => managed().pods);
  let management: Management | undefined;
  const queues = new Map<string, ManagedQueue & EndpointAccess>();
  function endpoint(endpointId: string): EndpointAccess {
    const existing = queues.get(endpointId);
    if (existing) return existing;
    const queueUrl = requireAddress(checked, "queueUrl");
    const { rateLimits } = checked;
    const holdsReads = serviceName(checked) === "runpod";
    const context = { ...calls, http, apiKey, queueUrl, rateLimits, log, holdsReads };
    const queue = createEndpointQueue(context, endpointId);
    const access: ManagedQueue & EndpointAccess = Object.assign(createLoadBalancer(context, endpointId), queue);
    queues.set(endpointId, access);
    return access;
  }
  let closed: Promise<void> | undefined;
  function close(): Promise<void> {
    for (const queue of queues.values()) queue.close();
    const error = new ClientClosedError("the response was not read to its end: the client was closed");
    http.closedBy ??= error;
    for (const body of [...http.bodies]) body.abort(error);
    closing.begin();
    closed ??= checked.dispatcher ? Promise.resolve() : closeAgent();
    return closed;
  }
  /** Closes the connections: those without a response after `LAST_RESPONSES_MS` are cut. */
  function closeAgent(): Promise<void> {
    return new Promise((resolve, reject) => {
      // The real time, also for a client with a clock of its own: it is the program that waits.
      const cancel = systemClock.schedule(LAST_RESPONSES_MS, () => {
        closing.endAttempts(log);
        agent.destroy().then(resolve, reject);
        resolve();
      });
      agent.close().then(resolve, reject).finally(cancel);
    });
  }
  /**
   * Returns the management interface. Its modules are loaded on first use: programs that only run
   * jobs do not need them.
   */
  function managed(): Management {
    if (!management) {
      const { createManagement, graphqlCalls, v2Calls } = require("./management") as typeof import("./management");
      const capabilities = capabilitiesAt(checked.api, serviceName(checked));
      const context = { ...managementContext, ...extraWords(checked), capabilities };
      const url = () => requireAddress(checked, "graphqlUrl");
      const v2 = { http, apiKey, url, limits };
      management = createManagement(
        context,
        isV2 ? v2Calls(context, v2) : graphqlCalls(context, { http, apiKey, url }, serviceName(checked), restPods, v2),
      );
    }
    return management;
  }
  return {
    get endpoints() {
      return managed().endpoints;
    },
    get templates() {
      return managed().templates;
    },
    get registryAuths() {
      return managed().registryAuths;
    },
    get volumes() {
      return managed().volumes;
    },
    pods,
    get catalog() {
      return managed().catalog;
    },
    get account() {
      return managed().account;
    },
    endpoint,
    close,
    [Symbol.asyncDispose]: close,
  };
}
