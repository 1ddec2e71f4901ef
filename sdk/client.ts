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
import { createEndpoints, type Endpoints } from "./endpoints/endpoints";
import { ClientClosedError } from "./errors";
import { createEndpointQueue, type EndpointQueue, type ManagedQueue } from "./jobs/queue";
import { createPods, type Pods } from "./pods/pods";
import { Secret } from "./secret";
import type { Http } from "./transport/http";
import { createReport, type Observers } from "./transport/observers";
import { createAgent } from "./transport/proxy";
import { DEFAULT_RETRY_POLICY, type RetryPolicy } from "./transport/retry";
import type { CallContext } from "./transport/retryingCall";
import type { RateLimitOptions } from "./transport/throttle";

/** How a client reaches the service. Either `service` or the addresses of the interfaces that are used. */
export interface ClientOptions extends ConnectionSettings, ExtraWords, Observers {
  readonly apiKey: string;
  readonly service?: ServiceName | undefined;
  /** Bounds of each call. Default: 6 attempts, 120,000 ms. */
  readonly retry?: Partial<RetryPolicy>;
  /**
   * How long an attempt waits for the response to begin, or to go on, in milliseconds. A large request may take longer,
   * by a second for each 64 kB. @default 30,000
   */
  readonly attemptTimeoutMs?: number;
  /**
   * How the queue's operations are kept within the service's limits. Default: to the contract's table. `off`: not at all.
   */
  readonly rateLimits?: RateLimitOptions | "off";
  /** Time; for tests. Default: the machine's. */
  readonly clock?: Clock;
}

/** A client of one account. Make one and keep it: connections, limits and polls are shared by all that use it. */
export interface Client {
  /** Creates, changes, lists and deletes endpoints. */
  readonly endpoints: Endpoints;
  /** Looks pods up. */
  readonly pods: Pods;
  /**
   * The queue of an endpoint: submits jobs and follows them.
   * @throws InvalidInputError when the id cannot be part of a path
   * @throws ConfigurationError when there is no `queueUrl`
   */
  endpoint(endpointId: string): EndpointQueue;
  /** Ends all waits for jobs and all bodies that are being read, and closes the connections when their answers have come. */
  close(): Promise<void>;
}

/**
 * Makes a client. It sends nothing yet. It uses the proxies that `HTTPS_PROXY` and `HTTP_PROXY` name, except for the
 * hosts in `NO_PROXY`.
 * @throws ConfigurationError when the key is missing, or a proxy's URL is none; a missing address shows at the first use
 * of its interface
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
  const endpoints = createEndpoints({
    ...calls,
    ...extraWords(options),
    clearFlashBootWith: serviceName(options) === "runpod" ? "OFF" : "null",
    transport: {
      http,
      apiKey,
      get graphqlUrl() {
        return requireAddress(options, "graphqlUrl");
      },
    },
  });
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
  return { endpoints, pods, endpoint, close };
}
