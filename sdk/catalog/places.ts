import { countryOf } from "../endpoints/countries";
import { compareVersions, isGpuExclusion, splitList } from "../endpoints/normalForms";
import type { CatalogDataCenter, CatalogGpu } from "./record";

/** The catalog as far as it was read. Lists that were read are never empty. */
export interface CatalogView {
  /** The GPU types, with their pools. */
  readonly gpus?: readonly CatalogGpu[] | undefined;
  readonly dataCenters?: readonly CatalogDataCenter[] | undefined;
}

/** The settings of an endpoint that decide where its workers can run, in normal form. */
export interface PlacedSettings {
  readonly gpuIds: string;
  readonly locations: string;
  readonly minCudaVersion: string;
  readonly allowedCudaVersions: string;
  /** The data centers of its network volumes; empty without volumes, `undefined` if unknown. */
  readonly volumeDataCenters: readonly string[] | undefined;
}

/** Returns the pools that `gpuIds` names, in order. */
export function poolsIn(gpuIds: string): string[] {
  return splitList(gpuIds).filter((part) => !isGpuExclusion(part));
}

/** Returns the GPU types that `gpuIds` leaves. */
export function gpusLeft(gpuIds: string, gpus: readonly CatalogGpu[]): CatalogGpu[] {
  const pools = poolsIn(gpuIds);
  const excluded = splitList(gpuIds)
    .filter(isGpuExclusion)
    .map((part) => part.slice(1).trim());
  return gpus.filter(({ id, pool }) => pool != null && pools.includes(pool) && !excluded.includes(id));
}

/**
 * Returns the ids of the data centers that `locations` allow. An empty list allows all.
 */
export function allowedDataCenters(locations: string, dataCenters: readonly CatalogDataCenter[]): string[] {
  const words = splitList(locations);
  return dataCenters
    .filter(({ isListed }) => isListed)
    .map(({ id }) => id)
    .filter((id) => words.length === 0 || words.includes(id) || words.includes(countryOf(id) ?? ""));
}

/** Returns `true` if a data center has a GPU type, free or not, by either list. */
export function hasGpu(dataCenterId: string, gpu: CatalogGpu, dataCenters: readonly CatalogDataCenter[]): boolean {
  const listed = dataCenters.find(({ id }) => id === dataCenterId)?.gpus ?? [];
  return gpu.dataCenters.some(({ id }) => id === dataCenterId) || listed.some(({ id }) => id === gpu.id);
}

/** Returns the test of a CUDA rule. A version that cannot be compared passes. */
export function cudaTest(minCudaVersion: string, allowedCudaVersions: string): (version: string) => boolean {
  const allowed = splitList(allowedCudaVersions);
  return (version) => {
    if (!/^\d+\.\d+$/.test(version)) return true;
    const isAllowed = allowed.length === 0 || allowed.some((each) => compareVersions(each, version) === 0);
    return isAllowed && (minCudaVersion === "" || compareVersions(version, minCudaVersion) >= 0);
  };
}
