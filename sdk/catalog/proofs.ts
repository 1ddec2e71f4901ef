import { isKnownPool } from "../contract/gpuPools";
import { compareVersions } from "../endpoints/normalForms";
import { nearestWord } from "../errors/nearestWord";
import {
  allowedDataCenters,
  type CatalogView,
  cudaTest,
  exclusionsIn,
  gpusLeft,
  hasGpu,
  type PlacedSettings,
  poolsIn,
} from "./places";
import type { CatalogDataCenter, CatalogGpu } from "./record";

/** A configuration that the catalog proves to be impossible. */
export interface Impossible {
  readonly kind: "pool" | "exclusions" | "place" | "volume-place" | "cuda";
  /**
   * The settings that cause the problem. A change that touches none of these settings did not cause
   * it.
   */
  readonly fields: readonly string[];
  readonly message: string;
}

/** The network volume settings that determine whether the volume can be created. */
interface PlacedVolumeSettings {
  readonly dataCenterId: string;
  readonly highPerformance: boolean;
}

/**
 * Returns the reasons why no worker of an endpoint can ever start. Information missing from the
 * catalog proves nothing, and a lack of stock proves nothing either.
 */
export function endpointProofs(settings: PlacedSettings, { gpus, dataCenters }: CatalogView): Impossible[] {
  if (!gpus?.some(({ pool }) => pool != null)) return [];
  // If a GPU type doesn't show its pool, it may belong to any pool.
  if (gpus.some(({ pool }) => pool === undefined)) return [];
  const pools = poolsIn(settings.gpuIds);
  if (pools.length === 0) return [];
  const listed = poolsOf(gpus);
  const unlisted = pools.filter((pool) => !listed.includes(pool));
  if (unlisted.length > 0) return unlisted.filter(isKnownPool).map((pool) => unlistedPool(pool, listed));
  const types = gpus.filter(({ pool }) => pool != null && pools.includes(pool)).map(({ id }) => id);
  const outside = exclusionsIn(settings.gpuIds).filter((type) => !types.includes(type));
  if (outside.length > 0) return outside.map((type) => outsideExclusion(type, pools, types));
  const left = gpusLeft(settings.gpuIds, gpus);
  if (left.length === 0) {
    const message = `gpuIds excludes every GPU type of ${pools.join(", ")}: ${types.join(", ")}`;
    return [{ kind: "exclusions", fields: ["gpuIds"], message }];
  }
  return [...placeProofs(settings, left, dataCenters), ...cudaProofs(settings, left)];
}

/**
 * Returns the pools in `gpuIds` that neither this version nor the catalog knows. That proves
 * nothing: the service may have added them to the catalog last.
 */
export function unlistedNewPools(gpuIds: string, { gpus = [] }: CatalogView): string[] {
  const listed = poolsOf(gpus);
  return listed.length === 0 ? [] : poolsIn(gpuIds).filter((pool) => !listed.includes(pool) && !isKnownPool(pool));
}

/** Returns the pools that a catalog lists. */
function poolsOf(gpus: readonly CatalogGpu[]): string[] {
  return [...new Set(gpus.flatMap(({ pool }) => pool ?? []))].sort();
}

function unlistedPool(pool: string, listed: readonly string[]): Impossible {
  const near = nearestWord(pool, listed);
  const hint = near ? `. Did you mean ${near}?` : "";
  const message = `the catalog has no GPU pool ${pool}. Its pools are ${listed.join(", ")}${hint}`;
  return { kind: "pool", fields: ["gpuIds"], message };
}

/**
 * Describes an exclusion that excludes nothing. REST v2 rejects it, and GraphQL ignores it, so
 * that workers run on GPUs that the program wanted to exclude.
 */
function outsideExclusion(type: string, pools: readonly string[], types: readonly string[]): Impossible {
  const near = nearestWord(type, types);
  const hint = near ? `. Did you mean -${near}?` : "";
  const message = `gpuIds excludes ${type}, which is not a GPU type of ${pools.join(", ")}: ${types.join(", ")}${hint}`;
  return { kind: "exclusions", fields: ["gpuIds"], message };
}

/** Returns the problems with an endpoint's places, if both catalog lists show places. */
function placeProofs(
  { gpuIds, locations, volumeDataCenters }: PlacedSettings,
  left: readonly CatalogGpu[],
  dataCenters: readonly CatalogDataCenter[] | undefined,
): Impossible[] {
  if (!dataCenters?.some((each) => each.gpus.length > 0)) return [];
  const pools = poolsIn(gpuIds).join(", ");
  const allowed = allowedDataCenters(locations, dataCenters);
  const isPossible = (id: string) => left.some((gpu) => hasGpu(id, gpu, dataCenters));
  if (!allowed.some(isPossible)) {
    const inLocations = locations === "" ? "" : ` in locations ${locations}`;
    const withGpu = allowed.length === 0 ? "" : ` with a GPU of ${pools}`;
    const message = `the catalog has no data center${inLocations}${withGpu}${elsewhere(left, pools)}`;
    return [{ kind: "place", fields: ["gpuIds", "locations"], message }];
  }
  if (volumeDataCenters === undefined || volumeDataCenters.length === 0) return [];
  const usable = volumeDataCenters.filter((id) => allowed.includes(id) && isPossible(id));
  if (usable.length > 0) return [];
  const inLocations = locations === "" ? "" : `is in locations ${locations} and `;
  const message =
    `no data center of its network volumes (${volumeDataCenters.join(", ")}) ${inLocations}has a GPU of ` +
    `${pools}${elsewhere(left, pools)}`;
  return [{ kind: "volume-place", fields: ["gpuIds", "locations", "networkVolumeIds", "networkVolumeId"], message }];
}

/** The largest number of data centers to name in a message. */
const MOST_PLACES = 6;

function elsewhere(left: readonly CatalogGpu[], pools: string): string {
  const ids = [...new Set(left.flatMap((gpu) => gpu.dataCenters.map(({ id }) => id)))].sort();
  if (ids.length === 0) return "";
  const more = ids.length > MOST_PLACES ? " and more" : "";
  return `. GPUs of ${pools} are in ${ids.slice(0, MOST_PLACES).join(", ")}${more}`;
}

function cudaProofs(
  { minCudaVersion, allowedCudaVersions }: PlacedSettings,
  left: readonly CatalogGpu[],
): Impossible[] {
  if (minCudaVersion === "" && allowedCudaVersions === "") return [];
  if (left.some(({ cudaVersions = [] }) => cudaVersions.length === 0)) return [];
  const offered = [...new Set(left.flatMap(({ cudaVersions = [] }) => cudaVersions.map(({ version }) => version)))];
  const accepts = cudaTest(minCudaVersion, allowedCudaVersions);
  if (offered.some(accepts)) return [];
  const rules = [
    ...(minCudaVersion === "" ? [] : [`minCudaVersion ${minCudaVersion}`]),
    ...(allowedCudaVersions === "" ? [] : [`allowedCudaVersions ${allowedCudaVersions}`]),
  ];
  const versions = offered.sort(compareVersions).join(", ");
  const message = `no host offers ${rules.join(" with ")}: the hosts with its GPU types have CUDA ${versions}`;
  return [{ kind: "cuda", fields: ["gpuIds", "minCudaVersion", "allowedCudaVersions"], message }];
}

/** Returns the reasons why a network volume cannot be created. */
export function volumeProofs(
  { dataCenterId, highPerformance }: PlacedVolumeSettings,
  { dataCenters }: CatalogView,
): Impossible[] {
  if (!dataCenters || dataCenterId === "") return [];
  const place = dataCenters.find(({ id }) => id === dataCenterId);
  const fields = ["dataCenterId", "highPerformance"];
  const withVolumes = dataCenters.filter(
    ({ isListed, volumeTypes }) => isListed && volumeTypes?.includes(highPerformance ? "HIGH_PERFORMANCE" : "STANDARD"),
  );
  const ids = withVolumes.map(({ id }) => id).sort();
  const volumes = highPerformance ? "high-performance network volumes" : "network volumes";
  const hint = ids.length === 0 ? "" : `. Data centers with ${volumes}: ${ids.join(", ")}`;
  if (!place) {
    // If no data center in the list supports this kind of volume, the list may simply not show the
    // data centers that do.
    if (ids.length === 0) return [];
    return [{ kind: "volume-place", fields, message: `the catalog has no data center ${dataCenterId}${hint}` }];
  }
  const { volumeTypes } = place;
  if (volumeTypes === undefined) return [];
  const lacksAll = volumeTypes.length === 0;
  if (!lacksAll && (!highPerformance || volumeTypes.includes("HIGH_PERFORMANCE"))) return [];
  const what = lacksAll ? "network volumes" : volumes;
  return [{ kind: "volume-place", fields, message: `the data center ${dataCenterId} has no ${what}${hint}` }];
}
