import type { Attempt } from "../transport/call";
import type { RolloutFacts, WorkerFacts } from "./evidence";
import type { EndpointFacts } from "./facts";

/** An endpoint, as read for a diagnosis. */
export interface ReadEndpoint {
  readonly facts: EndpointFacts;
  /** Facts from the endpoint's pods, if they are read together with the endpoint. */
  readonly pods: PodFacts | undefined;
  /**
   * The environment variables of the endpoint and of its template. Their values are needed in order
   * to hide them, and to find references to secrets.
   */
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

/** Sends one request, without retries. Requests about the whole account ignore the id. */
export type DiagnosisCall<T> = (operation: string, attempt: Attempt, id: string, now: number) => Promise<T>;

/** The requests that a diagnosis needs. */
export interface DiagnosisCalls {
  /** The name of the API that the requests use, as shown in messages. */
  readonly source: string;
  /**
   * Reads the endpoint. Returns `undefined` if the service says that the endpoint does not exist.
   */
  readonly endpoint: DiagnosisCall<ReadEndpoint | undefined>;
  /** Reads the workers of the endpoint. @default the API does not list workers */
  readonly workers?: DiagnosisCall<ReadWorkers>;
  /** Reads the releases of the endpoint. @default the API does not list releases */
  readonly releases?: DiagnosisCall<RolloutFacts>;
  /**
   * Returns whether the list of endpoints contains the id.
   * @throws UnexpectedResponseError if the part that was read does not, and the list continues
   */
  readonly isListed: DiagnosisCall<boolean>;
  /**
   * Reads the sum of `workersMax` over all endpoints. Returns `undefined` if only a part of the
   * list was read.
   */
  readonly workersUsed: DiagnosisCall<number | undefined>;
  /** Reads the names of the account's secrets. */
  readonly secretNames: DiagnosisCall<readonly string[]>;
}

/** The reason why a list proves nothing about an endpoint that it does not contain. */
export const LIST_CONTINUES = "the list continues after the part that was read";
