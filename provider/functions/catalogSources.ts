import { allowedDataCenters, cudaTest } from "../../sdk/catalog/places";
import {
  bestLevel,
  type CatalogDataCenter,
  type CatalogGpu,
  isAtLeastLevel,
  type PlacedStock,
  type StockLevel,
} from "../../sdk/catalog/record";
import { catalogPrices, PUBLIC_PRICE_SOURCE, workerPrices } from "../../sdk/catalog/workerPrices";
import { splitList } from "../../sdk/endpoints/normalForms";
import { InvalidInputError } from "../../sdk/errors/errors";
import type { DataSourceContext } from "./dataSource";

// The plugin loads this file, so it doesn't import any values from Pulumi.

/** Selects GPU types from RunPod's catalog. A GPU type must meet all given conditions. */
export interface GetGpuTypesArgs {
  /** The minimum memory of one GPU in GB, > 0. @default any */
  readonly minMemoryInGb?: number | undefined;
  /** The GPU pool, as named in `gpuIds`, such as `ADA_24`. @default any */
  readonly pool?: string | undefined;
  /**
   * The lowest CUDA version, such as `12.8`. At least some machines must have this version or a
   * newer one. @default any
   */
  readonly minCudaVersion?: string | undefined;
  /** Countries and data center ids, as in an endpoint's `locations`. @default any */
  readonly locations?: readonly string[] | undefined;
  /**
   * The first part of a data center's id: `EU` (also `EUR`), `US`, `CA`, `AP` or `OC`.
   * @default any
   */
  readonly region?: string | undefined;
  /**
   * The minimum stock level in the selected places: `High`, `Medium` or `Low`. @default any, even
   * sold out
   */
  readonly minStock?: string | undefined;
  /**
   * The highest price of one GPU of a worker, in US dollars per hour, ≥ 0. @default any, even
   * unknown
   */
  readonly maxPrice?: number | undefined;
  /** The number of GPUs per worker for which stock is requested (integer, ≥ 1). @default 1 */
  readonly gpuCount?: number | undefined;
}

/** A GPU type that endpoints can use. */
export interface GpuTypeResult {
  /** RunPod's id of the GPU type, such as `NVIDIA L40S`. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /** The GPU pool, as named in `gpuIds`. */
  readonly pool: string;
  /** The memory of one GPU in GB; 0 if RunPod does not show it. */
  readonly memoryInGb: number;
  /** The price of one GPU of a worker, in US dollars per hour. Missing if it is not known. */
  readonly price?: number | undefined;
  /** Where the price comes from. Missing if the price is not known. */
  readonly priceSource?: string | undefined;
  /**
   * The stock level in the selected places at the time of the read: `High`, `Medium`, `Low`,
   * `Unknown` or `None`. It is an estimate and does not reserve anything.
   */
  readonly stock: StockLevel;
  /** The ids of the selected data centers whose stock is at least `minStock`. */
  readonly dataCenterIds: readonly string[];
  /** The CUDA versions of the machines with this GPU type; empty if RunPod does not show them. */
  readonly cudaVersions: readonly string[];
}

/** Selects data centers from RunPod's catalog. A data center must meet all given conditions. */
export interface GetDataCentersArgs {
  /** Countries and data center ids, as in an endpoint's `locations`. @default any */
  readonly locations?: readonly string[] | undefined;
  /**
   * The first part of a data center's id: `EU` (also `EUR`), `US`, `CA`, `AP` or `OC`. @default any
   */
  readonly region?: string | undefined;
  /** `true` to select only data centers that support network volumes. @default any */
  readonly hasVolumes?: boolean | undefined;
  /**
   * The id of a GPU type that the data center must have, whether or not any of these GPUs are free.
   * @default any
   */
  readonly gpuTypeId?: string | undefined;
}

/** A data center. */
export interface DataCenterResult {
  /** The id, such as `EU-RO-1`. */
  readonly id: string;
  /** The display name. */
  readonly name: string;
  /**
   * `true` if the data center supports network volumes. Also `false` if RunPod does not show this.
   */
  readonly hasVolumes: boolean;
  /** The compliance labels, such as `GDPR`. */
  readonly compliance: readonly string[];
  /** The ids of the data center's GPU types, whether or not any of these GPUs are free. */
  readonly gpuTypeIds: readonly string[];
}

/** The stock levels that `minStock` accepts. */
const LEVELS: readonly StockLevel[] = ["High", "Medium", "Low"];

/** Returns the matching GPU types of the catalog, cheapest first. */
export async function findGpuTypes({ client }: DataSourceContext, args: GetGpuTypesArgs): Promise<GpuTypeResult[]> {
  const { minMemoryInGb = 0, pool, maxPrice, gpuCount = 1, minStock } = args;
  const least = LEVELS.find((level) => level.toLowerCase() === minStock?.toLowerCase());
  if (minStock !== undefined && least === undefined) {
    const message = `must be ${LEVELS.join(", ")}`;
    throw new InvalidInputError("getGpuTypes", [{ property: "minStock", message }]);
  }
  const { readGpus } = require("../../sdk/catalog/read") as typeof import("../../sdk/catalog/read");
  const [gpus, allowed] = await Promise.all([readGpus(client.catalog, { gpuCount }), placesFor({ client }, args)]);
  const accepts = cudaTest(args.minCudaVersion ?? "", "");
  const isRight = (place: PlacedStock) => allowed?.includes(place.id) ?? true;
  return gpus
    .filter(({ cudaVersions }) => cudaVersions?.some(({ version }) => accepts(version)) ?? true)
    .flatMap((gpu) => (gpu.pool == null ? [] : [resultOf(gpu, gpu.pool, isRight, least, allowed !== undefined)]))
    .filter((gpu) => gpu.memoryInGb >= minMemoryInGb && (pool === undefined || gpu.pool === pool))
    .filter(({ price }) => maxPrice === undefined || (price !== undefined && price <= maxPrice))
    .filter(({ stock }) => least === undefined || isAtLeastLevel(stock, least))
    .sort((one, other) => (one.price ?? 1e9) - (other.price ?? 1e9) || one.id.localeCompare(other.id));
}

function resultOf(
  gpu: CatalogGpu,
  pool: string,
  isRight: (place: PlacedStock) => boolean,
  least: StockLevel = "None",
  inPlaces: boolean,
): GpuTypeResult {
  const { id, name, memoryInGb = 0, stock, dataCenters, cudaVersions = [] } = gpu;
  const places = dataCenters.filter(isRight);
  const sources = [catalogPrices({ gpus: [gpu] }, "the catalog"), PUBLIC_PRICE_SOURCE];
  const [worker] = workerPrices({ gpuIds: pool, gpuCount: 1, instanceIds: "" }, sources);
  return {
    id,
    name,
    pool,
    memoryInGb,
    price: worker?.perHour,
    priceSource: worker?.source,
    stock: inPlaces ? bestLevel(places.map((place) => place.stock)) : stock,
    dataCenterIds: places.filter((place) => isAtLeastLevel(place.stock, least)).map((place) => place.id),
    cudaVersions: cudaVersions.map(({ version }) => version),
  };
}

type Places = Pick<GetGpuTypesArgs, "locations" | "region">;

/** Returns the ids of the selected data centers, or `undefined` if all data centers are allowed. */
async function placesFor(
  { client }: Pick<DataSourceContext, "client">,
  { locations = [], region }: Places,
): Promise<string[] | undefined> {
  if (locations.length === 0 && region === undefined) return undefined;
  return selected(await client.catalog.dataCenters(), { locations, region });
}

function selected(dataCenters: readonly CatalogDataCenter[], { locations = [], region }: Places): string[] {
  const prefixes = region === "EU" ? ["EU", "EUR"] : [region];
  return allowedDataCenters(splitList(locations).join(","), dataCenters).filter(
    (id) => region === undefined || prefixes.includes(id.split("-")[0]),
  );
}

/** Returns the matching data centers of the catalog, sorted by id. */
export async function findDataCenters(
  { client }: DataSourceContext,
  { hasVolumes, gpuTypeId, ...places }: GetDataCentersArgs,
): Promise<DataCenterResult[]> {
  const dataCenters = await client.catalog.dataCenters();
  const ids = selected(dataCenters, places);
  return dataCenters
    .filter(({ id }) => ids.includes(id))
    .map(({ id, name, volumeTypes, compliance, gpus }) => ({
      id,
      name,
      hasVolumes: (volumeTypes?.length ?? 0) > 0,
      compliance,
      gpuTypeIds: gpus.map((gpu) => gpu.id),
    }))
    .filter((place) => hasVolumes === undefined || place.hasVolumes === hasVolumes)
    .filter((place) => gpuTypeId === undefined || place.gpuTypeIds.includes(gpuTypeId))
    .sort((one, other) => one.id.localeCompare(other.id));
}
