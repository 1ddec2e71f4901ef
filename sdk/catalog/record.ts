/**
 * A level of stock. `None` is sold out. `Unknown` is a word that this version does not know: there
 * is something, but less than with `Low`. Every level is an estimate at the time of the read, and
 * no reservation.
 */
export type StockLevel = "High" | "Medium" | "Low" | "Unknown" | "None";

/** The stock of a GPU type in one data center. */
export interface PlacedStock {
  /** Id of the data center. */
  readonly id: string;
  /** Level of its stock. */
  readonly stock: StockLevel;
}

/** A CUDA version of the machines of a GPU type. */
export interface OfferedCuda {
  /** The version, such as `12.8`. */
  readonly version: string;
  /** `false` if all machines with it are taken now. */
  readonly isAvailable: boolean;
}

/** A GPU type of the service's catalog. */
export interface CatalogGpu {
  /** The service's id, such as `NVIDIA L40S`. An exclusion in `gpuIds` names it. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Manufacturer, if the service shows it. */
  readonly manufacturer?: string | undefined;
  /** Memory of one GPU in GB, if the service shows it. */
  readonly memoryInGb?: number | undefined;
  /**
   * The pool that `gpuIds` names. `null` for a type that endpoints cannot use, whatever its stock
   * says. `undefined` if the interface does not show it: see `pools()`.
   */
  readonly pool?: string | null | undefined;
  /** Price of one GPU of a worker in US dollars an hour, if the interface shows it (REST v2). */
  readonly serverlessPrice?: number | undefined;
  /**
   * Price of one GPU of a pod in the secure cloud in US dollars an hour, if the service shows it.
   */
  readonly podPrice?: number | undefined;
  /** Best level of the stock for workers, over all data centers. */
  readonly stock: StockLevel;
  /** The data centers that have the type, with their stock for workers. */
  readonly dataCenters: readonly PlacedStock[];
  /** The CUDA versions of its machines, if the service shows them. */
  readonly cudaVersions?: readonly OfferedCuda[] | undefined;
}

/** A data center of the service's catalog. */
export interface CatalogDataCenter {
  /** Id, such as `EU-RO-1`. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** The service's word for where it is, if it shows one. */
  readonly region?: string | undefined;
  /** `false` if nothing can be started there. */
  readonly isListed: boolean;
  /**
   * Kinds of network volumes: `STANDARD`, `HIGH_PERFORMANCE`. Empty for none, `undefined` if
   * unknown.
   */
  readonly volumeTypes?: readonly string[] | undefined;
  /** Compliance labels, such as `GDPR`. */
  readonly compliance: readonly string[];
  /** The GPU types that it has for any product. The stock is not that for workers alone. */
  readonly gpus: readonly PlacedStock[];
}

/** A CPU flavor of the service's catalog. */
export interface CatalogCpu {
  /** Id, such as `cpu3c`: the first part of an id in `instanceIds`. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** Smallest number of vCPUs. */
  readonly minVcpus?: number | undefined;
  /** Largest number of vCPUs. */
  readonly maxVcpus?: number | undefined;
  /** GB of memory for each vCPU. */
  readonly memoryPerVcpu?: number | undefined;
  /** Price of one vCPU of a worker in US dollars an hour, if the interface shows it (REST v2). */
  readonly serverlessPricePerVcpu?: number | undefined;
}

/** A pool of GPU types, which `gpuIds` names. */
export interface CatalogPool {
  /** Id, such as `ADA_24`. */
  readonly id: string;
  /** Ids of its GPU types. */
  readonly gpuTypeIds: readonly string[];
}

/**
 * The limits of the account. A field is `null` if the service does not show it. The inner names of
 * REST v2 are not public: `raw` has what it returned.
 */
export interface AccountLimits {
  /** The largest sum of `workersMax` over all endpoints (integer). */
  readonly workerQuota: number | null;
  /**
   * The largest cost of everything that runs, in US dollars an hour. It is checked when a worker
   * starts.
   */
  readonly spendLimit: number | null;
  /** The cost of what runs now, in US dollars an hour. */
  readonly currentSpend: number | null;
  /** The balance in US dollars. */
  readonly balance: number | null;
  /** `true` if the balance is too low for workers to start. */
  readonly isUnderBalance: boolean | null;
  /** What the service returned. */
  readonly raw: Readonly<Record<string, unknown>>;
}

const LEVELS: readonly StockLevel[] = ["High", "Medium", "Low", "Unknown", "None"];

/** Returns the level that a word of the service means. Case does not matter (observed). */
export function stockLevel(word: string | null | undefined): StockLevel {
  if (!word || /^(none|out)$/i.test(word)) return "None";
  return LEVELS.find((level) => level.toLowerCase() === word.toLowerCase()) ?? "Unknown";
}

/** Returns the best of levels; `None` without any. */
export function bestLevel(levels: readonly StockLevel[]): StockLevel {
  return LEVELS.find((level) => levels.includes(level)) ?? "None";
}

/** Returns `true` if a level is at least another one. */
export function isAtLeastLevel(level: StockLevel, least: StockLevel): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(least);
}
