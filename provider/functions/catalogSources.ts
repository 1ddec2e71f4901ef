import { allowedDataCenters, cudaTest } from "../../sdk/catalog/places";
import { PUBLIC_PRICES, publicPrice } from "../../sdk/catalog/publicPrices";
import {
  bestLevel,
  type CatalogDataCenter,
  type CatalogGpu,
  isAtLeastLevel,
  type PlacedStock,
  type StockLevel,
} from "../../sdk/catalog/record";
import { splitList } from "../../sdk/endpoints/normalForms";
import { InvalidInputError } from "../../sdk/errors";
import type { DataSourceContext } from "./dataSource";

// The plugin loads this file, so it imports no values from Pulumi.

/** Selects GPU types of the service's catalog. All given conditions must hold. */
export interface GetGpuTypesArgs {
  /** Least memory of one GPU in GB, > 0. @default any */
  readonly minMemoryInGb?: number | undefined;
  /** The pool that `gpuIds` names, such as `ADA_24`. @default any */
  readonly pool?: string | undefined;
  /** Lowest CUDA version that some machines must have, such as `12.8`. @default any */
  readonly minCudaVersion?: string | undefined;
  /** Countries and ids of data centers, as in `locations` of an endpoint. @default any */
  readonly locations?: readonly string[] | undefined;
  /**
   * The first part of a data center's id: `EU` (also `EUR`), `US`, `CA`, `AP` or `OC`.
   * @default any
   */
  readonly region?: string | undefined;
  /** Least level of stock there: `High`, `Medium` or `Low`. @default any, also sold out */
  readonly minStock?: string | undefined;
  /** Highest price of one GPU of a worker in US dollars an hour, ≥ 0. @default any, also unknown */
  readonly maxPrice?: number | undefined;
  /** GPUs of one worker (integer, ≥ 1), for which the stock is asked. @default 1 */
  readonly gpuCount?: number | undefined;
}

/** A GPU type that endpoints can use. */
export interface GpuTypeResult {
  /** The service's id, such as `NVIDIA L40S`. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** The pool that `gpuIds` names. */
  readonly pool: string;
  /** Memory of one GPU in GB; 0 if the service does not show it. */
  readonly memoryInGb: number;
  /** Price of one GPU of a worker in US dollars an hour. Missing if it is not known. */
  readonly price?: number | undefined;
  /** Source of the price. Missing if there is none. */
  readonly priceSource?: string | undefined;
  /**
   * Level of its stock in the selected places when it was read: `High`, `Medium`, `Low`, `Unknown`
   * or `None`. An estimate, and no reservation.
   */
  readonly stock: StockLevel;
  /** Ids of the selected data centers whose stock is at least `minStock`. */
  readonly dataCenterIds: readonly string[];
  /** CUDA versions of its machines; empty if the service does not show them. */
  readonly cudaVersions: readonly string[];
}

/** Selects data centers of the service's catalog. All given conditions must hold. */
export interface GetDataCentersArgs {
  /** Countries and ids of data centers, as in `locations` of an endpoint. @default any */
  readonly locations?: readonly string[] | undefined;
  /** The first part of an id: `EU` (also `EUR`), `US`, `CA`, `AP` or `OC`. @default any */
  readonly region?: string | undefined;
  /** `true` for those that support network volumes. @default any */
  readonly hasVolumes?: boolean | undefined;
  /** Id of a GPU type that must be there, free or not. @default any */
  readonly gpuTypeId?: string | undefined;
}

/** A data center. */
export interface DataCenterResult {
  /** Id, such as `EU-RO-1`. */
  readonly id: string;
  /** Name for people. */
  readonly name: string;
  /** `true` if it supports network volumes. `false` also if the service does not show it. */
  readonly hasVolumes: boolean;
  /** Compliance labels, such as `GDPR`. */
  readonly compliance: readonly string[];
  /** Ids of the GPU types that are there, free or not. */
  readonly gpuTypeIds: readonly string[];
}

/** The levels that `minStock` can name. */
const LEVELS: readonly StockLevel[] = ["High", "Medium", "Low"];

/** Returns the GPU types of the catalog that fit, the cheapest first. */
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
  { id, name, memoryInGb = 0, serverlessPrice, stock, dataCenters, cudaVersions = [] }: CatalogGpu,
  pool: string,
  isRight: (place: PlacedStock) => boolean,
  least: StockLevel = "None",
  inPlaces: boolean,
): GpuTypeResult {
  const places = dataCenters.filter(isRight);
  const price = serverlessPrice ?? publicPrice(pool);
  const source = serverlessPrice === undefined ? `the public price table of ${PUBLIC_PRICES.date}` : "the catalog";
  return {
    ...{ id, name, pool, memoryInGb, price, priceSource: price === undefined ? undefined : source },
    stock: inPlaces ? bestLevel(places.map((place) => place.stock)) : stock,
    dataCenterIds: places.filter((place) => isAtLeastLevel(place.stock, least)).map((place) => place.id),
    cudaVersions: cudaVersions.map(({ version }) => version),
  };
}

type Places = Pick<GetGpuTypesArgs, "locations" | "region">;

/** Returns the ids of the data centers that are selected; `undefined` for any. */
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

/** Returns the data centers of the catalog that fit, by id. */
export async function findDataCenters(
  { client }: DataSourceContext,
  { hasVolumes, gpuTypeId, ...places }: GetDataCentersArgs,
): Promise<DataCenterResult[]> {
  const dataCenters = await client.catalog.dataCenters();
  const ids = selected(dataCenters, places);
  return dataCenters
    .filter(({ id }) => ids.includes(id))
    .map(({ id, name, volumeTypes, compliance, gpus }) => ({
      ...{ id, name, hasVolumes: (volumeTypes?.length ?? 0) > 0, compliance },
      gpuTypeIds: gpus.map((gpu) => gpu.id),
    }))
    .filter((place) => hasVolumes === undefined || place.hasVolumes === hasVolumes)
    .filter((place) => gpuTypeId === undefined || place.gpuTypeIds.includes(gpuTypeId))
    .sort((one, other) => one.id.localeCompare(other.id));
}
