import { compareVersions } from "../endpoints/normalForms";
import { nearestWord } from "../nearestWord";
import {
  allowedDataCenters,
  type CatalogView,
  cudaTest,
  gpusLeft,
  hasGpu,
  type PlacedSettings,
  poolsIn,
} from "./places";
import type { CatalogDataCenter, CatalogGpu } from "./record";

/** Something that the catalog proves impossible. */
export interface Impossible {
  readonly kind: "pool" | "exclusions" | "place" | "volume-place" | "cuda";
  /** The settings that cause it. If none of them changes, the change is not to blame. */
  readonly fields: readonly string[];
  readonly message: string;
}

/** The settings of a network volume that decide whether it can be created. */
export interface PlacedVolumeSettings {
  readonly dataCenterId: string;
  readonly highPerformance: boolean;
}

/**
 * Returns what keeps every worker of an endpoint from starting, however long it waits. What the
 * catalog does not show proves nothing. Stock proves nothing either.
 */
export function endpointProofs(settings: PlacedSettings, { gpus, dataCenters }: CatalogView): Impossible[] {
  if (!gpus?.some(({ pool }) => pool != null)) return [];
  // The pool of a type that does not show it may be any.
  if (gpus.some(({ pool }) => pool === undefined)) return [];
  const pools = poolsIn(settings.gpuIds);
  if (pools.length === 0) return [];
  const known = [...new Set(gpus.flatMap(({ pool }) => pool ?? []))].sort();
  const unknown = pools.filter((pool) => !known.includes(pool));
  if (unknown.length > 0) return unknown.map((pool) => unknownPool(pool, known));
  const left = gpusLeft(settings.gpuIds, gpus);
  if (left.length === 0) {
    const types = gpus.filter(({ pool }) => pool != null && pools.includes(pool)).map(({ id }) => id);
    const message = `the exclusions in gpuIds leave no GPU type of ${pools.join(", ")} (${types.join(", ")})`;
    return [{ kind: "exclusions", fields: ["gpuIds"], message }];
  }
  return [...placeProofs(settings, left, dataCenters), ...cudaProofs(settings, left)];
}

function unknownPool(pool: string, known: readonly string[]): Impossible {
  const near = nearestWord(pool, known);
  const hint = near ? `. Did you mean ${near}?` : "";
  const message = `the pool ${pool} is not in the catalog. It has ${known.join(", ")}${hint}`;
  return { kind: "pool", fields: ["gpuIds"], message };
}

/** Returns what is wrong with the places of an endpoint, if both lists show places. */
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
    const places = allowed.length === 0 ? "has no data center" : `has no data center with a GPU of ${pools}`;
    const where = locations === "" ? "the catalog" : `the catalog's part in locations ${locations}`;
    return [{ kind: "place", fields: ["gpuIds", "locations"], message: `${where} ${places}${elsewhere(left)}` }];
  }
  if (volumeDataCenters === undefined || volumeDataCenters.length === 0) return [];
  const usable = volumeDataCenters.filter((id) => allowed.includes(id) && isPossible(id));
  if (usable.length > 0) return [];
  const inLocations = locations === "" ? "" : `is in locations ${locations} and `;
  const message =
    `no data center of its network volumes (${volumeDataCenters.join(", ")}) ${inLocations}has a GPU of ` +
    `${pools}${elsewhere(left)}`;
  return [{ kind: "volume-place", fields: ["gpuIds", "locations", "networkVolumeIds", "networkVolumeId"], message }];
}

/** The largest number of data centers that a message names. */
const MOST_PLACES = 6;

function elsewhere(left: readonly CatalogGpu[]): string {
  const ids = [...new Set(left.flatMap((gpu) => gpu.dataCenters.map(({ id }) => id)))].sort();
  if (ids.length === 0) return "";
  const more = ids.length > MOST_PLACES ? " and more" : "";
  return `. They are in ${ids.slice(0, MOST_PLACES).join(", ")}${more}`;
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
  const message = `no host offers ${rules.join(" with ")}: those with its GPU types have CUDA ${versions}`;
  return [{ kind: "cuda", fields: ["gpuIds", "minCudaVersion", "allowedCudaVersions"], message }];
}

/** Returns what keeps a network volume from being created. */
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
  const hint = ids.length === 0 ? "" : `. Those that do: ${ids.join(", ")}`;
  if (!place) {
    // A list without any kind of volume may not show them at all.
    if (ids.length === 0) return [];
    return [{ kind: "volume-place", fields, message: `the catalog has no data center ${dataCenterId}${hint}` }];
  }
  const { volumeTypes } = place;
  if (volumeTypes === undefined) return [];
  const lacksAll = volumeTypes.length === 0;
  if (!lacksAll && (!highPerformance || volumeTypes.includes("HIGH_PERFORMANCE"))) return [];
  const what = lacksAll ? "network volumes" : "high-performance network volumes";
  return [{ kind: "volume-place", fields, message: `the data center ${dataCenterId} has no ${what}${hint}` }];
}
