import type { QueueContext } from "../jobs/queueTransport";
import type { LoadBalancer } from "../loadBalancer/loadBalancer";
import type { Logs } from "../logs/logs";
import { type Connected, connectAccount } from "./connected";
import { accessOver } from "./endpointAccess";
import type { AddedToEndpoints, ManagedEndpoints } from "./management";
import { clientOver, type ManagementClient } from "./managementClient";
import type { ClientOptions } from "./options";
import { createEndpointQueue, type EndpointQueue } from "./queue";

export type { ClientOptions };

/**
 * A client's functions for endpoints: managing them, reading their logs, and explaining why
 * something waits.
 */
export interface ClientEndpoints extends ManagedEndpoints, Logs {}

/**
 * Access to one endpoint: its queue or, for a load-balancing endpoint, the HTTP servers of its
 * workers.
 */
export interface EndpointAccess extends EndpointQueue, LoadBalancer {}

/** A client for the queues and workers of one account. */
export interface JobsClient {
  /**
   * Returns the functions for one endpoint. The functions for its queue submit and follow jobs, and
   * `fetch` calls the workers of a load-balancing endpoint.
   * @throws InvalidInputError if the id cannot be part of a path
   * @throws ConfigurationError if there is no `queueUrl`
   */
  endpoint(endpointId: string): EndpointAccess;
  /** See `Client.close`. */
  close(): Promise<void>;
  /** Same as `close`, for use with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A client for one account. Create one client and share it, so that all its users share
 * connections, rate limits and polls.
 */
export interface Client extends ManagementClient<Logs>, JobsClient {
  /**
   * Creates, changes, lists and deletes endpoints, reads their logs, and explains why something
   * waits.
   */
  readonly endpoints: ClientEndpoints;
}

/**
 * Creates a client without sending any request. If called without options, it reads the connection
 * from the environment. The client uses the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for
 * the hosts in `NO_PROXY`.
 * @throws ConfigurationError if an option or a proxy's URL is not valid, or if the key is missing.
 * If the URL of an API is missing, the error is thrown on the first use of that API
 * @example
 * await using client = createClient();
 * for (const { name, workersMax } of await client.endpoints.list()) console.log(name, workersMax);
 */
export function createClient(options?: ClientOptions): Client {
  const connected = connectAccount(options);
  const logs: AddedToEndpoints<Logs> = (...args) => {
    const { createLogs } = require("../logs/logs") as typeof import("../logs/logs");
    return createLogs(...args);
  };
  return clientOver(connected, createEndpointQueue, logs, { onEnded: jobRecorder(connected) });
}

/**
 * Creates a client for queues and workers only, without sending any request. Unlike the waits of a
 * client from `createClient`, its waits do not explain why a job waits.
 * @throws ConfigurationError, see `createClient`
 * @example
 * await using jobs = createJobs();
 * const { output } = await jobs.endpoint("abc").runSync({ input: { prompt: "Hi" } });
 */
export function createJobs(options?: ClientOptions): JobsClient {
  const connected = connectAccount(options);
  const { close } = connected;
  const endpoint = accessOver(connected, createEndpointQueue, { onEnded: jobRecorder(connected) });
  return { endpoint, close, [Symbol.asyncDispose]: close };
}

/** Returns a function that records jobs when they end, if the options ask for that. */
function jobRecorder({ options: { record }, calls: { clock, warn } }: Connected): QueueContext["onEnded"] {
  if (record === undefined) return undefined;
  const { createJobRecorder } = require("../recording/jobRecorder") as typeof import("../recording/jobRecorder");
  return createJobRecorder(record, "client", clock.now, (error) =>
    warn?.(`jobs are no longer recorded in ${record}: ${error instanceof Error ? error.message : String(error)}`),
  );
}
