import type { GpuType } from "./gpuTypes";

/**
 * A stock level, best first. `Absent` means that a data center or driver does not offer the GPU
 * type.
 */
export type StockLevel = "High" | "Medium" | "Low" | "None" | "Absent";

/** All stock levels, best first. */
export const STOCK_LEVELS = ["High", "Medium", "Low", "None", "Absent"] as const satisfies readonly StockLevel[];

/** A selection of stock. Omitted fields match everything. */
export interface StockPart {
  /** The pool of the GPU type. */
  readonly pool?: string | undefined;
  /** Id of the GPU type. */
  readonly gpuTypeId?: string | undefined;
  /** The id of the data center. */
  readonly dataCenterId?: string | undefined;
  /** The CUDA version of the machines' drivers. */
  readonly cudaVersion?: string | undefined;
}

/** The stock level that a fault rule sets for part of the stock. */
export interface StockRule {
  readonly part: StockPart;
  readonly level: StockLevel;
}

/** The machines that a request asks about. */
export interface StockFilter {
  /** The data centers to consider. */
  readonly dataCenterIds: readonly string[];
  /** GPUs per machine (integer, ≥ 1). */
  readonly gpuCount: number;
  /** Returns `true` for the CUDA versions to consider. */
  readonly accepts: (cudaVersion: string) => boolean;
}

/** Returns the stock level of a GPU type: the best level among the machines that fit. */
export type LevelOf = (gpu: GpuType, filter: StockFilter) => StockLevel;

/** The maximum number of GPUs in one machine (assumed). */
const MOST_GPUS = 8;

/**
 * Creates the stock. Without a rule, every level is high (assumed). As with other faults, the first
 * matching rule applies.
 */
export function createStock(rules: () => readonly StockRule[]): LevelOf {
  return (gpu, { dataCenterIds, gpuCount, accepts }) => {
    const versions = gpu.cudaVersions.filter(accepts);
    const active = rules();
    const cells = dataCenterIds.flatMap((dataCenterId) =>
      versions.map((cudaVersion) => {
        const cell = { pool: gpu.pool, gpuTypeId: gpu.id, dataCenterId, cudaVersion };
        const level = active.find(({ part }) => isPartOf(cell, part))?.level ?? "High";
        return gpuCount > MOST_GPUS && level !== "Absent" ? "None" : level;
      }),
    );
    return STOCK_LEVELS.find((level) => cells.includes(level)) ?? "Absent";
  };
}

function isPartOf(cell: Readonly<Record<keyof StockPart, string | null>>, part: StockPart): boolean {
  const fields = ["pool", "gpuTypeId", "dataCenterId", "cudaVersion"] as const;
  return fields.every((field) => part[field] === undefined || part[field] === cell[field]);
}

/** Returns `true` if machines exist and are free at this level. */
export function isInStock(level: StockLevel): boolean {
  return level !== "None" && level !== "Absent";
}

/** Compares versions numerically: 12.11 is higher than 12.2. */
function isAtLeast(version: string, floor: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [floorMajor = 0, floorMinor = 0] = floor.trim().split(".").map(Number);
  return major === floorMajor ? minor >= floorMinor : major > floorMajor;
}

/**
 * Returns a function that accepts a CUDA version if it is in the set (or the set is empty) and not
 * below the minimum.
 */
export function cudaRule(allowed: string | null, floor: string | null): (version: string) => boolean {
  const versions = (allowed ?? "").split(",").flatMap((version) => version.trim() || []);
  return (version) => (versions.length === 0 || versions.includes(version)) && (!floor || isAtLeast(version, floor));
}
