import type { CatalogDataCenter, CatalogGpu } from "../catalog/record";
import type { LogLine } from "../logs/record";
import type { AwaitedWork } from "./record";

/** A part of the evidence that was read. */
export interface Seen<T> {
  readonly value: T;
  /** When the response arrived, in milliseconds since the epoch. */
  readonly readAt: number;
  readonly source: string;
}

/** A part of the evidence that is missing. */
export interface NotSeen {
  /** The reason why this part is missing. `undefined` if the part was not requested. */
  readonly why: string | undefined;
  /** The rejection because of which this part is missing, if the rejection itself is evidence. */
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

/** Returns the value that was read, or `undefined` if the part is missing. */
export function seen<T>(part: Part<T>): T | undefined {
  return "value" in part ? part.value : undefined;
}

/** The settings of an endpoint that determine whether its workers start. */
export interface EndpointFacts {
  readonly name: string | undefined;
  readonly isLoadBalancer: boolean;
  readonly workersMin: number;
  readonly workersMax: number;
  readonly scalerType: string | undefined;
  readonly scalerValue: number | undefined;
  /** The GPU pools, in normal form. Empty if the endpoint runs on CPUs. */
  readonly gpuIds: string;
  readonly gpuCount: number;
  readonly locations: string;
  readonly minCudaVersion: string;
  readonly allowedCudaVersions: string;
  readonly volumeIds: readonly string[];
  readonly compliance: readonly string[];
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
  /** How long the oldest starting worker has been starting, in milliseconds, if known. */
  readonly startingMs: number | undefined;
  /** `true` if the workers were listed one by one, in which case the counts come from REST v2. */
  readonly isListed: boolean;
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

/** The GPU types with their stock, and the data centers of the endpoint's volumes. */
export interface StockFacts {
  readonly gpus: readonly CatalogGpu[];
  /** The data centers, if they were needed. */
  readonly dataCenters: readonly CatalogDataCenter[] | undefined;
  /**
   * The data centers of the endpoint's volumes. `undefined` if the data center of any volume is
   * unknown.
   */
  readonly volumeDataCenters: readonly string[] | undefined;
}

/** The account's limits and how much of them is in use. Unknown values are `undefined`. */
export interface LimitFacts {
  readonly workerQuota: number | undefined;
  /**
   * The sum of `workersMax` over all endpoints that were read. The sum over all endpoints of the
   * account may be higher.
   */
  readonly workersUsed: number | undefined;
  readonly spendLimit: number | undefined;
  readonly spend: number | undefined;
  readonly isUnderBalance: boolean | undefined;
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
  readonly stock: Part<StockFacts>;
  /** The data center of each network volume, by volume id. */
  readonly volumes: Part<ReadonlyMap<string, string>>;
  readonly limits: Part<LimitFacts>;
  readonly logs: Part<readonly WorkerLog[]>;
}
