import { GPU_TYPES, type GpuType } from "./gpuTypes";

/**
 * A level of stock, the best first. `Absent`: a place or a driver does not offer the type at all.
 */
export type StockLevel = "High" | "Medium" | "Low" | "None" | "Absent";

/** All levels, the best first. */
export const STOCK_LEVELS = ["High", "Medium", "Low", "None", "Absent"] as const satisfies readonly StockLevel[];

/** A part of the stock. Fields that are left out match everything. */
export interface StockPart {
  /** The pool of the GPU type. */
  readonly pool?: string | undefined;
  /** Id of the GPU type. */
  readonly gpuTypeId?: string | undefined;
  /** Id of the data center. */
  readonly dataCenterId?: string | undefined;
  /** CUDA version of the machines' drivers. */
  readonly cudaVersion?: string | undefined;
}

/** The level of a part of the stock, as a fault rule sets it. */
export interface StockRule {
  readonly part: StockPart;
  readonly level: StockLevel;
}

/** The machines that one request asks about. */
export interface StockFilter {
  /** The data centers to look at. */
  readonly dataCenterIds: readonly string[];
  /** GPUs of one machine (integer, ≥ 1). */
  readonly gpuCount: number;
  /** Returns `true` for the CUDA versions to look at. */
  readonly accepts: (cudaVersion: string) => boolean;
}

/** Returns the level of stock of a GPU type: the best one of the machines that fit. */
export type LevelOf = (gpu: GpuType, filter: StockFilter) => StockLevel;

/** The most GPUs of one machine (assumed). */
const MOST_GPUS = 8;

/**
 * Creates the stock. Without a rule it is high everywhere (assumed). As for other faults, the first
 * rule that matches applies.
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

/** Returns `true` if machines of this level exist and are free. */
export function isInStock(level: StockLevel): boolean {
  return level !== "None" && level !== "Absent";
}

/** Every CUDA version of the catalog, by number. */
export const STOCKED_CUDA_VERSIONS = [...new Set(GPU_TYPES.flatMap(({ cudaVersions }) => cudaVersions))].sort(
  (one, other) => (isAtLeast(one, other) ? 1 : -1),
);

/** Compares versions by number: 12.11 is above 12.2. */
export function isAtLeast(version: string, floor: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [floorMajor = 0, floorMinor = 0] = floor.trim().split(".").map(Number);
  return major === floorMajor ? minor >= floorMinor : major > floorMajor;
}

/**
 * Returns the test of a set of CUDA versions, of which any is right if it is empty, and a floor.
 */
export function cudaRule(allowed: string | null, floor: string | null): (version: string) => boolean {
  const versions = (allowed ?? "").split(",").flatMap((version) => version.trim() || []);
  return (version) => (versions.length === 0 || versions.includes(version)) && (!floor || isAtLeast(version, floor));
}
