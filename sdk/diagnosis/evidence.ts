import type { LogLine } from "../logs/record";
import type { EndpointFacts } from "./facts";
import type { AwaitedWork } from "./record";

/** A part of the evidence that was read. */
interface Seen<T> {
  readonly value: T;
  /** When the response arrived, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly source: string;
}

/** A part of the evidence that is missing. */
export interface NotSeen {
  /** The reason why this part is missing. `undefined` if the part was not requested. */
  readonly why: string | undefined;
  /** If this part is missing because of a rejection that is evidence in itself, that rejection. */
  readonly failure?: ServiceRefusal | undefined;
}

/** A rejection that is evidence in itself. */
export interface ServiceRefusal {
  readonly is: "absent" | "refused" | "no queue";
  /**
   * `true` if the response has the form that the service itself uses for rejections. Otherwise, the
   * response may come from a gateway or another server.
   */
  readonly isOwn: boolean;
  /** When the response arrived, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly source: string;
}

/** A part of the evidence, either read or missing. */
export type Part<T> = Seen<T> | NotSeen;

/** Stands for a part that was not requested. */
export const NOT_ASKED: NotSeen = { why: undefined };
/** Stands for a part that GraphQL does not have, so that nothing is wrong if it is missing. */
export const ONLY_V2: NotSeen = { why: "GraphQL does not show it. Only REST v2 does" };

/** Returns the value that was read, or `undefined` if the part is missing. */
export function seen<T>(part: Part<T>): T | undefined {
  return "value" in part ? part.value : undefined;
}

/** The number of an endpoint's workers in each state. */
export interface WorkerFacts {
  readonly running: number;
  readonly idle: number;
  readonly initializing: number;
  readonly throttled: number;
  readonly unhealthy: number;
  readonly total: number;
  /** The number of workers that run an old version, if the API shows it. */
  readonly stale: number | undefined;
  /** The number of unhealthy workers that run an old version, if the API shows it. */
  readonly staleUnhealthy?: number;
  /** How long the oldest starting worker has been starting, in milliseconds, if known. */
  readonly startingMs: number | undefined;
}

/** The state of a rollout, according to the list of releases. */
export interface RolloutFacts {
  readonly inProgress: boolean;
  readonly workersOnLatest: number;
  readonly workersTotal: number;
  /**
   * The fields that the last release changed. Only their names are kept, because the values may be
   * secret.
   */
  readonly changed: readonly string[];
  /** When the last release was made, in the service's own format. */
  readonly releasedAt: string | undefined;
}

/** The counts of an endpoint's queue. */
export interface QueueFacts {
  readonly inQueue: number;
  readonly inProgress: number;
  /** The number of jobs that have completed since the queue started counting. */
  readonly completed: number;
  readonly failed: number;
  /** The numbers of workers, as counted by the queue. */
  readonly workers: WorkerFacts;
}

/** The catalog's information about the machines that an endpoint can use. */
export interface StockVerdict {
  /** Why no machine is available, if the catalog shows it. */
  readonly cause: "gpu-ids" | "no-stock" | "cuda-version" | "volume-place" | undefined;
  readonly words: string;
}

/** The account's limits and how much of them is in use. Unknown values are missing. */
export interface LimitFacts {
  readonly workerQuota?: number;
  /** The sum of `workersMax` over all endpoints, if all of them were read. */
  readonly workersUsed?: number | undefined;
  readonly spendLimit?: number;
  readonly spend?: number;
  readonly isUnderBalance?: boolean;
}

/** The secrets to which the endpoint's variables refer, if they refer to any. */
interface SecretFacts {
  /** The names of secrets that the account does not have. */
  readonly missing: readonly string[];
}

/** The log of one worker. */
export interface WorkerLog {
  readonly workerId: string;
  readonly lines: readonly LogLine[];
  /** `true` if only the beginning of the log was read, because the log is too long. */
  readonly isCut?: boolean;
}

/** All the evidence on which a diagnosis is based. */
export interface Evidence {
  readonly awaited: AwaitedWork;
  /** How long the wait has lasted, in milliseconds, if known. */
  readonly waitedMs: number | undefined;
  /** The time of the decision, in milliseconds since the epoch. */
  readonly now: number;
  readonly endpoint: Part<EndpointFacts>;
  /**
   * Whether the list of endpoints contains the endpoint. Read only if the endpoint could not be
   * found by its id.
   */
  readonly listed: Part<boolean>;
  readonly workers: Part<WorkerFacts>;
  readonly rollout: Part<RolloutFacts>;
  readonly queue: Part<QueueFacts>;
  readonly stock: Part<StockVerdict>;
  /** The data center of each network volume, by volume id. */
  readonly volumes: Part<ReadonlyMap<string, string>>;
  readonly limits: Part<LimitFacts>;
  readonly secrets: Part<SecretFacts>;
  readonly logs: Part<readonly WorkerLog[]>;
}
