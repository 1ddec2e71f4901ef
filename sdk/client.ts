import {
  type ConnectionSettings,
  type ExtraWords,
  extraWords,
  requireAddress,
  requireApiKey,
  type ServiceName,
  serviceName,
} from "./config";
import { type Clock, systemClock } from "./contract/clock";
import { createAccount } from "./endpoints/calls";
import { createEndpoints, type Endpoints } from "./endpoints/endpoints";
import { ClientClosedError } from "./errors";
import { createEndpointQueue, type EndpointQueue, type ManagedQueue } from "./jobs/queue";
import { createPods, type Pods } from "./pods/pods";
import { createRegistryAuths, type RegistryAuths } from "./registryAuths/registryAuths";
import { Secret } from "./secret";
import { createTemplateAccount, createTemplates, type Templates } from "./templates/templates";
import { createGraphqlTransport } from "./transport/graphql";
import type { Http } from "./transport/http";
import { createReport, type Observers } from "./transport/observers";
import { createAgent } from "./transport/proxy";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./transport/retry";
import type { CallContext } from "./transport/retryingCall";
import type { RateLimitOptions } from "./transport/throttle";
import { createVolumes, type Volumes } from "./volumes/volumes";

/** Options of a client. Give either `service`, or the URLs of the interfaces that you use. */
export interface ClientOptions extends ConnectionSettings, ExtraWords, Observers {
  /** The API key. */
  readonly apiKey: string;
  /** The name of a known service. It sets all URLs. */
  readonly service?: ServiceName | undefined;
  /** The limits of each call. @default 6 attempts, 120,000 ms */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * The longest time of an attempt without data from the service, in milliseconds. A large request may take longer, by
   * a second for each 64 kB.
   * @default 30,000
   */
  readonly attemptTimeoutMs?: number;
  /** Settings of the rate limiter of the queue's operations. `"off"`: no limiter. @default the contract's limits */
  readonly rateLimits?: RateLimitOptions | "off";
  /** The clock, for tests. @default the machine's clock */
  readonly clock?: Clock;
}

/** A client of one account. Create it once and share it: its users share connections, rate limits and polls. */
export interface Client {
  /** Creates, changes, lists and deletes endpoints. */
  readonly endpoints: Endpoints;
  /** Creates, changes, lists and deletes templates. */
  readonly templates: Templates;
  /** Creates, changes, lists and deletes credentials of image registries. */
  readonly registryAuths: RegistryAuths;
  /** Creates, changes, lists and deletes network volumes. */
  readonly volumes: Volumes;
  /** Reads pods. */
  readonly pods: Pods;
  /**
   * Returns the queue of an endpoint, which submits and follows jobs.
   * @throws InvalidInputError if the id cannot be part of a path
   * @throws ConfigurationError if there is no `queueUrl`
   */
  endpoint(endpointId: string): EndpointQueue;
  /** Ends all waits for jobs and all streamed bodies, and closes each connection when its response is complete. */
  close(): Promise<void>;
}

/**
 * Creates a client. It sends nothing yet. It uses the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts
 * in `NO_PROXY`.
 * @throws ConfigurationError if the key is missing, or a proxy's URL is not valid. A missing URL of an interface is an
 * error at the first use of the interface
 * @example
 * const client = createClient({ ...settingsFromEnvironment(), service: "runpod" });
 * for (const { name, workersMax } of await client.endpoints.list()) console.log(name, workersMax);
 */
export function createClient(options: ClientOptions): Client {
  const apiKey = new Secret(requireApiKey(options));
  const agent = createAgent();
  const clock = options.clock ?? systemClock;
  const http: Http = { agent, clock, report: createReport(options), bodies: new Set() };
  const calls: CallContext = {
    clock,
    random: Math.random,
    retry: { ...DEFAULT_RETRY_POLICY, ...options.retry },
    attemptTimeoutMs: options.attemptTimeoutMs ?? 30_000,
  };
  const transport = createGraphqlTransport(http, apiKey, () => requireAddress(options, "graphqlUrl"));
  const account = createAccount({ ...calls, ...extraWords(options), service: serviceName(options), transport });
  const templateAccount = createTemplateAccount(calls, transport);
  const endpoints = createEndpoints(account);
  const templates = createTemplates(templateAccount, account);
  const registryAuths = createRegistryAuths(calls, transport, templateAccount);
  const volumes = createVolumes(calls, transport, account);
  const pods = createPods({
    ...calls,
    http,
    apiKey,
    get restUrl() {
      return requireAddress(options, "restUrl");
    },
  });
  const queues = new Map<string, ManagedQueue>();
  function endpoint(endpointId: string): EndpointQueue {
    const existing = queues.get(endpointId);
    if (existing) return existing;
    const queueUrl = requireAddress(options, "queueUrl");
    const { rateLimits, logger } = options;
    const queue = createEndpointQueue({ ...calls, http, apiKey, queueUrl, rateLimits, logger }, endpointId);
    queues.set(endpointId, queue);
    return queue;
  }
  let closed: Promise<void> | undefined;
  function close(): Promise<void> {
    for (const queue of queues.values()) queue.close();
    const error = new ClientClosedError("the response was not read to its end: the client was closed");
    http.closedBy ??= error;
    for (const body of [...http.bodies]) body.abort(error);
    closed ??= agent.close();
    return closed;
  }
  return { endpoints, templates, registryAuths, volumes, pods, endpoint, close };
}
