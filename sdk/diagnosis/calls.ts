import type { Attempt } from "../transport/call";
import type { EndpointFacts, RolloutFacts, WorkerFacts } from "./evidence";

/** An endpoint, as read for a diagnosis. */
export interface ReadEndpoint {
  readonly facts: EndpointFacts;
  /** Facts from the endpoint's pods, if they are read together with the endpoint. */
  readonly pods: PodFacts | undefined;
  /** The endpoint's environment variables. Their values are needed in order to hide them. */
  readonly env: Readonly<Record<string, string>>;
}

/** The facts that GraphQL shows about an endpoint's pods. */
export interface PodFacts {
  /** The number of pods that have not ended. */
  readonly active: number;
  /**
   * The number of pods that run an old version. `undefined` if the service does not show versions.
   */
  readonly stale: number | undefined;
  /** How long the newest pod has been up, in milliseconds, if the service shows it. */
  readonly newestMs: number | undefined;
}

/**
 * The workers of an endpoint and their ids, beginning with the ids of workers that are not working.
 */
export interface ReadWorkers {
  readonly facts: WorkerFacts;
  readonly ids: readonly string[];
}

/** The requests that a diagnosis needs. Each function sends one request, without retries. */
export interface DiagnosisCalls {
  /** The name of the API that the requests use, as shown in messages. */
  readonly source: string;
  /**
   * Reads the endpoint. Returns `undefined` if the service says that the endpoint does not exist.
   */
  readonly endpoint: (operation: string, id: string, attempt: Attempt) => Promise<ReadEndpoint | undefined>;
  /**
   * Reads the workers of the endpoint.
   * @default the API does not list workers
   */
  readonly workers?: (operation: string, id: string, now: number, attempt: Attempt) => Promise<ReadWorkers>;
  /**
   * Reads the releases of the endpoint.
   * @default the API does not list releases
   */
  readonly releases?: (operation: string, id: string, attempt: Attempt) => Promise<RolloutFacts>;
  /**
   * Returns whether the list of endpoints contains the id. Returns `undefined` if only part of the
   * list was read and the id was not found in it.
   */
  readonly isListed: (operation: string, id: string, attempt: Attempt) => Promise<boolean | undefined>;
  /**
   * Reads the sum of `workersMax` over all endpoints. Returns `undefined` if only a part of the
   * list was read.
   */
  readonly workersUsed: (operation: string, attempt: Attempt) => Promise<number | undefined>;
}
