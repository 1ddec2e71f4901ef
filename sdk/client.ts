import type { Dispatcher } from "undici";
import type { Account, Catalog } from "./catalog/catalog";
import { type CheckedOptions, type ClientOptions, checkClientOptions } from "./clientOptions";
import { extraWords } from "./connection/acceptedWords";
import { requireAddress, serviceName } from "./connection/settings";
import { capabilitiesAt } from "./contract/capabilities";
import { type Clock, systemClock } from "./contract/clock";
import { GRAPHQL_PER_MINUTE, hasRestV1, type ServiceName } from "./contract/limits";
import type { ClientEndpoints } from "./diagnosis/diagnosis";
import { createLateDiagnoses } from "./diagnosis/waits";
import { CodedError } from "./errors";
import { createEndpointQueue, type EndpointQueue, type ManagedQueue } from "./jobs/queue";
import type { QueueContext } from "./jobs/queueTransport";
import { createLoadBalancer, type LoadBalancer } from "./loadBalancer/loadBalancer";
import type { Management, ReadHealth } from "./management";
import { createPods, type Pods } from "./pods/pods";
import { restPodCalls } from "./pods/restCalls";
import type { RegistryAuths } from "./registryAuths/registryAuths";
import { Secret } from "./secret";
import type { Secrets } from "./secrets/secrets";
import type { Templates } from "./templates/templates";
import { createClosing } from "./transport/closing";
import type { Http } from "./transport/httpRequest";
import { createAnnouncedLimiter, type Limiter } from "./transport/limiter";
import { createLog, createReports } from "./transport/observers";
import { createAgent, proxyHint } from "./transport/proxy";
import { createRateWindows, type RateWindows } from "./transport/rateWindows";
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
  /** Creates, changes, lists and deletes endpoints, reads logs, and says why something waits. */
  readonly endpoints: ClientEndpoints;
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
    ...{ clock, random: Math.random, retry, attemptTimeoutMs, headers },
    ...{ onRetry: reports.retry, warn: reports.warning, closing },
  };
  const limits = createRateWindows();
  const service = serviceName(checked);
  const gateOf = (limiter: Limiter | undefined) => limiter && createGate(clock, limiter, reports.rateLimit);
  const v2Gate = gateOf(limits);
  const gate = checked.api === "v2" ? v2Gate : gateOf(graphqlLimiter(service));
  const managed: CallContext = { ...calls, gate, v2Gate };
  const podGate = checked.api === "v2" || !hasRestV1(service) ? v2Gate : undefined;
  const health: ReadHealth = async (id, options) => endpoints.get(id).health(options);
  const management = lazyManagement(checked, { http, apiKey, limits, calls: managed, health });
  const late = createLateDiagnoses({ diagnose: (id, options) => management().endpoints.diagnose(id, options) }, clock);
  const onEnded = jobRecorder(checked, clock, reports.warning);
  const endpoints = createEndpointAccess(checked, { ...calls, http, apiKey, log, diagnose: late, onEnded });
  let closed: Promise<void> | undefined;

  function close(): Promise<void> {
    endpoints.close();
    const error = new CodedError("CLIENT_CLOSED", "the response was not read to its end: the client was closed");
    http.closedBy ??= error;
    for (const body of [...http.bodies]) body.abort(error);
    closing.begin();
    closed ??= checked.dispatcher ? Promise.resolve() : closeAgent(agent, () => closing.endAttempts(log));
    return closed;
  }

  return {
    get endpoints() {
      return management().endpoints;
    },
    get templates() {
      return management().templates;
    },
    get registryAuths() {
      return management().registryAuths;
    },
    get secrets() {
      return management().secrets;
    },
    get volumes() {
      return management().volumes;
    },
    pods: createPods({ ...calls, gate: podGate }, () => management().pods),
    get catalog() {
      return management().catalog;
    },
    get account() {
      return management().account;
    },
    endpoint: endpoints.get,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function graphqlLimiter(service: ServiceName | undefined): Limiter | undefined {
  return (
    service &&
    createAnnouncedLimiter({
      ...{ perWindow: GRAPHQL_PER_MINUTE[service], windowMs: 60_000 },
      concurrent: Number.POSITIVE_INFINITY,
    })
  );
}

/** Returns a function that records the ends of jobs, if the options ask for it. */
function jobRecorder(
  { record }: CheckedOptions,
  clock: Clock,
  warn: (message: string) => void,
): QueueContext["onEnded"] {
  if (record === undefined) return undefined;
  const { createJobRecorder } = require("./recording/jobRecorder") as typeof import("./recording/jobRecorder");
  return createJobRecorder(record, "client", clock.now, (error) =>
    warn(`jobs are no longer recorded in ${record}: ${error instanceof Error ? error.message : String(error)}`),
  );
}

/** Keeps one access for each endpoint, so that all its users share a queue. */
function createEndpointAccess(
  checked: CheckedOptions,
  calls: Omit<QueueContext, "queueUrl" | "rateLimits" | "holdsReads">,
) {
  const known = new Map<string, ManagedQueue & EndpointAccess>();
  return {
    get(endpointId: string): EndpointAccess {
      const existing = known.get(endpointId);
      if (existing) return existing;
      const queueUrl = requireAddress(checked, "queueUrl");
      const { rateLimits } = checked;
      const holdsReads = serviceName(checked) === "runpod";
      const context = { ...calls, queueUrl, rateLimits, holdsReads };
      const queue = createEndpointQueue(context, endpointId);
      const access: ManagedQueue & EndpointAccess = Object.assign(createLoadBalancer(context, endpointId), queue);
      known.set(endpointId, access);
      return access;
    },
    close(): void {
      for (const queue of known.values()) queue.close();
    },
  };
}

/** The parts of a client that its management interface uses. */
interface ManagementParts {
  readonly http: Http;
  readonly apiKey: Secret;
  readonly limits: RateWindows;
  readonly calls: CallContext;
  readonly health: ReadHealth;
}

/**
 * Returns a function that returns the management interface. Its modules are loaded on first use:
 * programs that only run jobs do not need them.
 */
function lazyManagement(
  checked: CheckedOptions,
  { http, apiKey, limits, calls, health }: ManagementParts,
): () => Management {
  let management: Management | undefined;

  function load(): Management {
    const { callsOver } = require("./apis") as typeof import("./apis");
    const { createManagement } = require("./management") as typeof import("./management");
    const service = serviceName(checked);
    const context = { ...calls, ...extraWords(checked), capabilities: capabilitiesAt(checked.api, service) };
    const url = () => requireAddress(checked, "graphqlUrl");
    const restPods = restPodCalls(http, apiKey, () => requireAddress(checked, "restUrl"));
    const requests = callsOver(checked.api, context, { http, apiKey, url, limits }, service, restPods);
    return createManagement(context, requests, health);
  }

  return () => {
    management ??= load();
    return management;
  };
}

/** Closes the connections: those without a response after `LAST_RESPONSES_MS` are cut. */
function closeAgent(agent: Dispatcher, endAttempts: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    // The real time, also for a client with a clock of its own: it is the program that waits.
    const cancel = systemClock.schedule(LAST_RESPONSES_MS, () => {
      endAttempts();
      agent.destroy().then(resolve, reject);
      resolve();
    });
    agent.close().then(resolve, reject).finally(cancel);
  });
}
