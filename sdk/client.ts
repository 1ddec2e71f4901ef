import type { ClientOptions } from "./clientOptions";
import { type Connected, connectAccount } from "./connected";
import { accessOver } from "./endpointAccess";
import { createEndpointQueue, type EndpointQueue } from "./jobs/queue";
import type { QueueContext } from "./jobs/queueTransport";
import type { LoadBalancer } from "./loadBalancer/loadBalancer";
import type { Logs } from "./logs/logs";
import type { AddedToEndpoints, ManagedEndpoints } from "./management";
import { clientOver, type ManagementClient } from "./managementClient";

export type { ClientOptions };

/** The endpoints of a client: their records, their logs, and why they wait. */
export interface ClientEndpoints extends ManagedEndpoints, Logs {}

/**
 * One endpoint: its queue, or the HTTP servers of its workers if it is a load-balancing endpoint.
 */
export interface EndpointAccess extends EndpointQueue, LoadBalancer {}

/** A client of the queues and workers of one account. */
export interface JobsClient {
  /**
   * Returns the calls of an endpoint: a queue submits and follows jobs, and `fetch` calls the
   * workers of a load-balancing endpoint.
   * @throws InvalidInputError if the id cannot be part of a path
   * @throws ConfigurationError if there is no `queueUrl`
   */
  endpoint(endpointId: string): EndpointAccess;
  /** See `Client.close`. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * A client of one account. Create it once and share it: its users share connections, rate limits
 * and polls.
 */
export interface Client extends ManagementClient<Logs>, JobsClient {
  /** Creates, changes, lists and deletes endpoints, reads logs, and says why something waits. */
  readonly endpoints: ClientEndpoints;
}

/**
 * Creates a client. It sends nothing yet. Without options it reads the connection from the
 * environment. It uses the proxies in `HTTPS_PROXY` and `HTTP_PROXY`, except for the hosts in
 * `NO_PROXY`.
 * @throws ConfigurationError if an option is not valid, the key is missing, or a proxy's URL is not
 * valid. A missing URL of an API throws on the first use of that API
 * @example
 * await using client = createClient();
 * for (const { name, workersMax } of await client.endpoints.list()) console.log(name, workersMax);
 */
export function createClient(options?: ClientOptions): Client {
  const connected = connectAccount(options);
  const logs: AddedToEndpoints<Logs> = (...args) => {
    const { createLogs } = require("./logs/logs") as typeof import("./logs/logs");
    return createLogs(...args);
  };
  return clientOver(connected, createEndpointQueue, logs, { onEnded: jobRecorder(connected) });
}

/**
 * Creates a client of queues and workers only. Unlike those of `createClient`, its waits do not say
 * why a job waits. It sends nothing yet.
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

/** Returns a function that records the ends of jobs, if the options ask for it. */
function jobRecorder({ options: { record }, calls: { clock, warn } }: Connected): QueueContext["onEnded"] {
  if (record === undefined) return undefined;
  const { createJobRecorder } = require("./recording/jobRecorder") as typeof import("./recording/jobRecorder");
  return createJobRecorder(record, "client", clock.now, (error) =>
    warn?.(`jobs are no longer recorded in ${record}: ${error instanceof Error ? error.message : String(error)}`),
  );
}
