import type { CatalogDataCenter, CatalogGpu } from "../catalog/record";
import type { LogLine } from "../logs/record";
import type { AwaitedWork } from "./record";

/** A part of the evidence that was read. */
export interface Seen<T> {
  readonly value: T;
  /** In milliseconds since the epoch. */
  readonly readAt: number;
  readonly source: string;
}

/** A part of the evidence that is missing. */
export interface NotSeen {
  /** Why it is missing. `undefined`: it was not asked for. */
  readonly why: string | undefined;
  /** The refusal behind it, where it says something itself. */
  readonly failure?: ServiceRefusal | undefined;
}

/** A refusal that says something itself. */
export interface ServiceRefusal {
  readonly is: "absent" | "refused" | "no queue";
  /**
   * `true` if the response has the form in which the service refuses. Otherwise a gateway or
   * another server may have sent it.
   */
  readonly isOwn: boolean;
  /** In milliseconds since the epoch. */
  readonly readAt: number;
  readonly source: string;
}

/** A part of the evidence. */
export type Part<T> = Seen<T> | NotSeen;

/** Returns what was read, or `undefined` if it is missing. */
export function seen<T>(part: Part<T>): T | undefined {
  return "value" in part ? part.value : undefined;
}

/** The settings of an endpoint that decide whether its workers start. */
export interface EndpointFacts {
  readonly name: string | undefined;
  readonly isLoadBalancer: boolean;
  readonly workersMin: number;
  readonly workersMax: number;
  readonly scalerType: string | undefined;
  readonly scalerValue: number | undefined;
  /** In normal form; empty on CPUs. */
  readonly gpuIds: string;
  readonly gpuCount: number;
  readonly locations: string;
  readonly minCudaVersion: string;
  readonly allowedCudaVersions: string;
  readonly volumeIds: readonly string[];
  readonly compliance: readonly string[];
}

/** The workers of an endpoint by their state. */
export interface WorkerFacts {
  readonly running: number;
  readonly idle: number;
  readonly initializing: number;
  readonly throttled: number;
  readonly unhealthy: number;
  readonly total: number;
  /** Workers of an old version, if the interface shows it. */
  readonly stale: number | undefined;
  /** How long the oldest starting worker has been starting, in milliseconds, if it is known. */
  readonly startingMs: number | undefined;
  /** `true` if each worker was listed: then the counts are those of the service's REST v2. */
  readonly isListed: boolean;
}

/** A rollout, as the list of releases shows it. */
export interface RolloutFacts {
  readonly inProgress: boolean;
  readonly workersOnLatest: number;
  readonly workersTotal: number;
  /** The fields that the last release changed: their names only, because values may be secret. */
  readonly changed: readonly string[];
  /** When the last release was made, as the service writes it. */
  readonly releasedAt: string | undefined;
}

/** The counts of an endpoint's queue. */
export interface QueueFacts {
  readonly inQueue: number;
  readonly inProgress: number;
  /** Jobs that have ended since the queue began to count. */
  readonly completed: number;
  readonly failed: number;
  /** The queue's own counts of workers. */
  readonly workers: WorkerFacts;
}

/** The GPU types with their stock, and the places of the endpoint's volumes. */
export interface StockFacts {
  readonly gpus: readonly CatalogGpu[];
  /** The data centers, if they were needed. */
  readonly dataCenters: readonly CatalogDataCenter[] | undefined;
  /** `undefined` if a volume's place is not known. */
  readonly volumeDataCenters: readonly string[] | undefined;
}

/** What the account uses of its limits. `undefined`: not known. */
export interface LimitFacts {
  readonly workerQuota: number | undefined;
  /** The sum of `workersMax` over all endpoints that were read: at least that many. */
  readonly workersUsed: number | undefined;
  readonly spendLimit: number | undefined;
  readonly spend: number | undefined;
  readonly isUnderBalance: boolean | undefined;
}

/** The log of one worker. */
export interface WorkerLog {
  readonly workerId: string;
  readonly lines: readonly LogLine[];
  /** `true` if only its beginning was read, because it is long. */
  readonly isCut?: boolean;
}

/** Everything that a diagnosis is decided from. */
export interface Evidence {
  readonly awaited: AwaitedWork;
  /** In milliseconds, if it is known. */
  readonly waitedMs: number | undefined;
  /** The time of the decision, in milliseconds since the epoch. */
  readonly now: number;
  readonly endpoint: Part<EndpointFacts>;
  /** Whether the list of endpoints contains it. Read only if the read by its id found nothing. */
  readonly listed: Part<boolean>;
  readonly workers: Part<WorkerFacts>;
  readonly rollout: Part<RolloutFacts>;
  readonly queue: Part<QueueFacts>;
  readonly stock: Part<StockFacts>;
  /** The data centers of network volumes, by the volumes' ids. */
  readonly volumes: Part<ReadonlyMap<string, string>>;
  readonly limits: Part<LimitFacts>;
  readonly logs: Part<readonly WorkerLog[]>;
}
