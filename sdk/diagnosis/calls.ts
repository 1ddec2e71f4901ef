import type { Attempt } from "../transport/call";
import type { EndpointFacts, RolloutFacts, WorkerFacts } from "./evidence";

/** An endpoint as a diagnosis reads it. */
export interface ReadEndpoint {
  readonly facts: EndpointFacts;
  /** What its pods show, where they are read together with the endpoint. */
  readonly pods: PodFacts | undefined;
  /** The values of its variables, to hide them. */
  readonly env: Readonly<Record<string, string>>;
}

/** What the pods of an endpoint show over GraphQL. */
export interface PodFacts {
  /** Pods that have not ended. */
  readonly active: number;
  /** Pods of an old version. `undefined` if the service does not show versions. */
  readonly stale: number | undefined;
  /** How long the newest pod has been up, in milliseconds, if the service shows it. */
  readonly newestMs: number | undefined;
}

/** The workers of an endpoint, and their ids with those that do not work first. */
export interface ReadWorkers {
  readonly facts: WorkerFacts;
  readonly ids: readonly string[];
}

/** The requests of a diagnosis. Each sends one request, once. */
export interface DiagnosisCalls {
  /** Their interface, for people. */
  readonly source: string;
  /** Reads the endpoint; `undefined` if the service says that there is none. */
  readonly endpoint: (operation: string, id: string, attempt: Attempt) => Promise<ReadEndpoint | undefined>;
  /** @default the interface does not list workers */
  readonly workers?: (operation: string, id: string, now: number, attempt: Attempt) => Promise<ReadWorkers>;
  /** @default the interface does not list releases */
  readonly releases?: (operation: string, id: string, attempt: Attempt) => Promise<RolloutFacts>;
  /**
   * Returns whether the list of endpoints contains the id. `undefined`: the list goes on after what
   * was read, so it does not show what is missing.
   */
  readonly isListed: (operation: string, id: string, attempt: Attempt) => Promise<boolean | undefined>;
  /** Reads the sum of `workersMax` over all endpoints. `undefined`: the list goes on. */
  readonly workersUsed: (operation: string, attempt: Attempt) => Promise<number | undefined>;
}
