/**
 * A level of stock. `None` means sold out. `Unknown` stands for a word that this version does not
 * know. It means that some stock is available, but ranks below `Low`. Every level is an estimate at
 * the time of the read and does not reserve anything.
 */
export type StockLevel = "High" | "Medium" | "Low" | "Unknown" | "None";

/** The stock of a GPU type in one data center. */
export interface PlacedStock {
  /** The id of the data center. */
  readonly id: string;
  /** The stock level in this data center. */
  readonly stock: StockLevel;
}

/** A CUDA version that machines with a GPU type offer. */
export interface OfferedCuda {
  /** The version, such as `12.8`. */
  readonly version: string;
  /** `false` if all machines with this version are currently taken. */
  readonly isAvailable: boolean;
}

/** A GPU type in RunPod's catalog. */
export interface CatalogGpu {
  /** RunPod's id, such as `NVIDIA L40S`. An exclusion in `gpuIds` uses this id. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** The manufacturer, if RunPod shows it. */
  readonly manufacturer?: string | undefined;
  /** The memory of one GPU in GB, if RunPod shows it. */
  readonly memoryInGb?: number | undefined;
  /**
   * The GPU pool, as named in `gpuIds`. `null` if endpoints cannot use the GPU type, regardless of
   * its stock. `undefined` if the API does not show the pool; in that case, call `pools()`.
   */
  readonly pool?: string | null | undefined;
  /** The price of one GPU of a worker in US dollars per hour, if the API shows it (REST v2). */
  readonly serverlessPrice?: number | undefined;
  /**
   * The price of one GPU of a pod in the secure cloud in US dollars per hour, if RunPod shows it.
   */
  readonly podPrice?: number | undefined;
  /** The best stock level for workers across all data centers. */
  readonly stock: StockLevel;
  /** The data centers that have this GPU type, with their stock for workers. */
  readonly dataCenters: readonly PlacedStock[];
  /** The CUDA versions of the machines with this GPU type, if RunPod shows them. */
  readonly cudaVersions?: readonly OfferedCuda[] | undefined;
}

/** A data center in RunPod's catalog. */
export interface CatalogDataCenter {
  /** The id, such as `EU-RO-1`. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** RunPod's name for the data center's region, if RunPod shows it. */
  readonly region?: string | undefined;
  /** `false` if nothing can be started in this data center. */
  readonly isListed: boolean;
  /**
   * The kinds of network volumes that the data center supports: `STANDARD`, `HIGH_PERFORMANCE`.
   * Empty if it supports none, `undefined` if unknown.
   */
  readonly volumeTypes?: readonly string[] | undefined;
  /** The compliance labels, such as `GDPR`. */
  readonly compliance: readonly string[];
  /**
   * The GPU types that the data center has for any product. Their stock is not limited to workers.
   */
  readonly gpus: readonly PlacedStock[];
}

/** A CPU flavor in RunPod's catalog. */
export interface CatalogCpu {
  /** The id, such as `cpu3c`, which is the first part of an id in `instanceIds`. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** The minimum number of vCPUs. */
  readonly minVcpus?: number | undefined;
  /** The maximum number of vCPUs. */
  readonly maxVcpus?: number | undefined;
  /** The memory per vCPU, in GB. */
  readonly memoryPerVcpu?: number | undefined;
  /** The price of one vCPU of a worker in US dollars per hour, if the API shows it (REST v2). */
  readonly serverlessPricePerVcpu?: number | undefined;
}

/** A pool of GPU types that can be named in `gpuIds`. */
export interface CatalogPool {
  /** The id, such as `ADA_24`. */
  readonly id: string;
  /** The ids of the pool's GPU types. */
  readonly gpuTypeIds: readonly string[];
}

/**
 * The account's limits. A field is `null` if RunPod does not show it. The field names in the reply
 * of REST v2 are not documented, so `raw` contains the whole reply.
 */
export interface AccountLimits {
  /** The maximum sum of `workersMax` over all endpoints (integer). */
  readonly workerQuota: number | null;
  /**
   * The maximum cost of everything that runs in the account, in US dollars per hour. RunPod checks
   * this limit when a worker starts.
   */
  readonly spendLimit: number | null;
  /** The cost of everything that is running now, in US dollars per hour. */
  readonly currentSpend: number | null;
  /** The account's balance in US dollars. */
  readonly balance: number | null;
  /** `true` if the balance is too low to start workers. */
  readonly isUnderBalance: boolean | null;
  /** The reply of the service. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** A part of what was spent. */
export interface SpendGroup {
  /** The id of the endpoint, or the beginning of the day or hour as a UTC timestamp. */
  readonly key: string;
  /** In US dollars. */
  readonly amount: number;
  /** The billed worker seconds, if the API shows them (GraphQL). */
  readonly seconds?: number | undefined;
}

/** What endpoints have cost. Times are UTC timestamps. */
export interface Spend {
  /** In US dollars. */
  readonly amount: number;
  /** The billed worker seconds, if the API shows them (GraphQL). */
  readonly seconds?: number | undefined;
  /** Always `USD`. */
  readonly currency: string;
  /** The beginning of the first bucket. */
  readonly from: string;
  /** The end of the last bucket, which may be in the future. */
  readonly to: string;
  /** The beginning of the newest bucket with a charge. Missing if there is none. */
  readonly newestBucket?: string | undefined;
  /** The time since `newestBucket`, in seconds (integer). */
  readonly newestBucketAge?: number | undefined;
  /** When the amount was read. */
  readonly readAt: string;
  /** The parts that `groupBy` asks for, the largest amount or the oldest bucket first. */
  readonly groups?: readonly SpendGroup[] | undefined;
}

/** Stands for the id of an endpoint that the bill does not name. */
export const UNKNOWN_ENDPOINT = "unknown";

const LEVELS: readonly StockLevel[] = ["High", "Medium", "Low", "Unknown", "None"];

/** Converts RunPod's word for a stock level. Case is ignored, because it varies (observed). */
export function stockLevel(word: string | null | undefined): StockLevel {
  if (!word || /^(none|out)$/i.test(word)) return "None";
  return LEVELS.find((level) => level.toLowerCase() === word.toLowerCase()) ?? "Unknown";
}

/** Returns the best of the given levels, or `None` if there are none. */
export function bestLevel(levels: readonly StockLevel[]): StockLevel {
  return LEVELS.find((level) => levels.includes(level)) ?? "None";
}

/** Returns `true` if a level is at least as good as another level. */
export function isAtLeastLevel(level: StockLevel, least: StockLevel): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(least);
}

/** Returns the beginning of the month of a time in UTC, in milliseconds since 1970. */
export function monthOf(now: number, plus = 0): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + plus);
}

/** Adds the age of the newest bucket at a time, in milliseconds since 1970. */
export function aged(spend: Spend, now: number): Spend {
  if (spend.newestBucket === undefined) return spend;
  const ageMs = Math.max(0, now - Date.parse(spend.newestBucket));
  return { ...spend, newestBucketAge: Math.round(ageMs / 1000) };
}
