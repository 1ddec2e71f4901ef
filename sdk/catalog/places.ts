import { countryOf } from "../endpoints/countries";
import { compareVersions, isGpuExclusion, splitList } from "../endpoints/normalForms";
import type { CatalogDataCenter, CatalogGpu } from "./record";

/** The parts of the catalog that were read. A list that was read is never empty. */
export interface CatalogView {
  /** The GPU types, with their pools. */
  readonly gpus?: readonly CatalogGpu[] | undefined;
  readonly dataCenters?: readonly CatalogDataCenter[] | undefined;
}

/** The endpoint settings that determine where its workers can run, in normal form. */
export interface PlacedSettings {
  readonly gpuIds: string;
  readonly locations: string;
  readonly minCudaVersion: string;
  readonly allowedCudaVersions: string;
  /**
   * The data centers of the endpoint's network volumes; empty if it has no volumes, `undefined` if
   * they are unknown.
   */
  readonly volumeDataCenters: readonly string[] | undefined;
}

/** Returns the pools named in `gpuIds`, in order. */
export function poolsIn(gpuIds: string): string[] {
  return splitList(gpuIds).filter((part) => !isGpuExclusion(part));
}

/** Returns the GPU types that `gpuIds` excludes, in order. */
export function exclusionsIn(gpuIds: string): string[] {
  return splitList(gpuIds)
    .filter(isGpuExclusion)
    .map((part) => part.slice(1).trim());
}

/** Returns the GPU types that remain after applying the pools and exclusions in `gpuIds`. */
export function gpusLeft(gpuIds: string, gpus: readonly CatalogGpu[]): CatalogGpu[] {
  const pools = poolsIn(gpuIds);
  const excluded = exclusionsIn(gpuIds);
  return gpus.filter(({ id, pool }) => pool != null && pools.includes(pool) && !excluded.includes(id));
}

/**
 * Returns the ids of the data centers that `locations` allows. An empty list allows all data
 * centers.
 */
export function allowedDataCenters(locations: string, dataCenters: readonly CatalogDataCenter[]): string[] {
  return dataCenters
    .filter(({ isListed }) => isListed)
    .map(({ id }) => id)
    .filter(allows(locations));
}

/** Returns a function that tests whether `locations` allows a data center. Case does not matter. */
export function allows(locations: string): (id: string) => boolean {
  const words = splitList(locations.toUpperCase());
  return (id) => words.length === 0 || [id.toUpperCase(), countryOf(id) ?? ""].some((word) => words.includes(word));
}

/**
 * Returns `true` if the list of GPU types or the list of data centers shows that a data center has
 * a GPU type, whether or not any of these GPUs are free.
 */
export function hasGpu(dataCenterId: string, gpu: CatalogGpu, dataCenters: readonly CatalogDataCenter[]): boolean {
  const listed = dataCenters.find(({ id }) => id === dataCenterId)?.gpus ?? [];
  return gpu.dataCenters.some(({ id }) => id === dataCenterId) || listed.some(({ id }) => id === gpu.id);
}

/**
 * Returns a function that tests whether a version satisfies a CUDA rule. A version that cannot be
 * compared passes.
 */
export function cudaTest(minCudaVersion: string, allowedCudaVersions: string): (version: string) => boolean {
  const allowed = splitList(allowedCudaVersions);
  return (version) => {
    if (!/^\d+\.\d+$/.test(version)) return true;
    const isAllowed = allowed.length === 0 || allowed.some((each) => compareVersions(each, version) === 0);
    return isAllowed && (minCudaVersion === "" || compareVersions(version, minCudaVersion) >= 0);
  };
}
