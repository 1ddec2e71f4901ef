import { CPU_FLAVORS, type CpuFlavor } from "../model/cpuInstances";
import { countryOf, DATA_CENTERS } from "../model/dataCenters";
import { GPU_TYPES, type GpuType } from "../model/gpuTypes";
import { CPU_DATA_CENTERS } from "../model/places";
import type { LevelOf, StockFilter, StockLevel } from "../model/stock";

/** A stock level that the catalog can show. GPU types without stock are missing from its lists. */
export type ShownLevel = Exclude<StockLevel, "Absent">;

/** A request for GPU types. */
interface GpuQuestion extends Omit<StockFilter, "dataCenterIds"> {
  /** The data centers to search. @default all */
  readonly dataCenterIds?: readonly string[];
}

/** The stock of one GPU type. */
interface GpuStock {
  readonly level: ShownLevel;
  readonly dataCenters: readonly { readonly id: string; readonly level: ShownLevel }[];
  readonly cudaVersions: readonly { readonly version: string; readonly isAvailable: boolean }[];
}

/** A data center, as the catalog shows it. */
export interface CatalogDataCenter {
  readonly id: string;
  readonly country: string;
  readonly hasVolumes: boolean;
  readonly hasCpus: boolean;
}

/** The service's catalog, as both APIs show it. */
export interface Catalog {
  readonly gpuTypes: readonly GpuType[];
  readonly cpuFlavors: Readonly<Record<string, CpuFlavor>>;
  readonly dataCenters: readonly CatalogDataCenter[];
  stockOf(gpu: GpuType, question: GpuQuestion): GpuStock;
  /** Returns the GPU types in a data center. */
  gpusIn(dataCenterId: string, gpuCount: number): { readonly gpu: GpuType; readonly level: ShownLevel }[];
}

/** Creates the catalog. */
export function createCatalog(
  levelOf: LevelOf,
  dataCenterIds: readonly string[],
  volumeDataCenters: readonly string[],
): Catalog {
  const any = () => true;
  const shown = (level: StockLevel) => (level === "Absent" ? [] : [level]);
  return {
    gpuTypes: GPU_TYPES,
    cpuFlavors: CPU_FLAVORS,
    dataCenters: dataCenterIds.map((id) => ({
      id,
      country: countryOf(id),
      hasVolumes: volumeDataCenters.includes(id),
      hasCpus: CPU_DATA_CENTERS.includes(id),
    })),
    stockOf(gpu, { dataCenterIds: wanted = dataCenterIds, gpuCount, accepts }) {
      const [level = "None"] = shown(levelOf(gpu, { dataCenterIds: wanted, gpuCount, accepts }));
      return {
        level,
        dataCenters: wanted.flatMap((id) =>
          shown(levelOf(gpu, { dataCenterIds: [id], gpuCount, accepts })).map((each) => ({ id, level: each })),
        ),
        cudaVersions: gpu.cudaVersions.filter(accepts).flatMap((version) =>
          shown(levelOf(gpu, { dataCenterIds: wanted, gpuCount, accepts: (each) => each === version })).map((each) => ({
            version,
            isAvailable: each !== "None",
          })),
        ),
      };
    },
    gpusIn: (id, gpuCount) =>
      GPU_TYPES.flatMap((gpu) =>
        shown(levelOf(gpu, { dataCenterIds: [id], gpuCount, accepts: any })).map((level) => ({ gpu, level })),
      ),
  };
}

/** Returns the region of a data center: the first part of its id. */
export function regionOf(dataCenterId: string): string {
  return dataCenterId.split("-")[0] ?? "";
}

/** Returns the data centers in these countries, or all data centers if no country is given. */
export function inCountries(dataCenterIds: readonly string[], countries: readonly string[]): string[] {
  const wanted = DATA_CENTERS.filter(({ country }) => countries.includes(country)).map(({ id }) => id);
  return dataCenterIds.filter((id) => countries.length === 0 || wanted.includes(id));
}
