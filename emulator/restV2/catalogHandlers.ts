import { type AccountUse, v2Limits } from "../catalog/accountLimits";
import { type Catalog, inCountries, regionOf } from "../catalog/catalog";
import { type GpuType, pricePerGpu } from "../model/gpuTypes";
import { cudaRule } from "../model/stock";
import type { V2Call } from "./handler";
import { findOrRefuse, V2Refusal } from "./problem";

const PRODUCTS = ["POD", "CLUSTER", "SERVERLESS"];

/** Parameters that require `include`. */
const OF_AVAILABILITY = ["count", "cloud", "countryCodes", "cudaVersions", "minCudaVersion"];

/** Returns the operations on the catalog and the account's limits. */
export function catalogHandlers(catalog: Catalog, use: () => AccountUse) {
  return {
    listGpus: ({ query }: V2Call) => ({ gpus: catalog.gpuTypes.flatMap((gpu) => shownGpu(catalog, gpu, query)) }),
    getGpu: ({ id, query }: V2Call) => shownGpu(catalog, findOrRefuse(catalog.gpuTypes, id), query, true)[0],
    listCpus({ query }: V2Call) {
      const included = withAvailability(query);
      return {
        cpus: Object.entries(catalog.cpuFlavors).map(([id, { memoryPerVcpu, maxVcpus, perVcpuHour }]) => ({
          id,
          name: id,
          group: id.slice(0, 4),
          vcpu: { min: 2, max: maxVcpus },
          ramGbPerVcpu: memoryPerVcpu,
          price: { securePerVcpu: perVcpuHour, serverlessPerVcpu: perVcpuHour },
          ...(included && { availability: "HIGH", dataCenters: shownCpuPlaces(catalog) }),
        })),
      };
    },
    listDataCenters({ query }: V2Call) {
      const included = query.get("include")?.split(",") ?? [];
      return {
        dataCenters: catalog.dataCenters.map(({ id, hasVolumes }) => ({
          id,
          name: id,
          region: regionOf(id),
          globalNetwork: false,
          compliance: [],
          networkVolumeTypes: hasVolumes ? ["STANDARD", "HIGH_PERFORMANCE"] : [],
          ...(included.includes("GPU_AVAILABILITY") && {
            gpuAvailability: catalog
              .gpusIn(id, 1)
              .map(({ gpu, level }) => ({ id: gpu.id, name: gpu.id, availability: level.toUpperCase() })),
          }),
        })),
      };
    },
    getAccountLimits: () => v2Limits(use()),
  };
}

function shownCpuPlaces(catalog: Catalog): object[] {
  return catalog.dataCenters.filter(({ hasCpus }) => hasCpus).map(({ id }) => ({ id, name: id, availability: "HIGH" }));
}

/**
 * Returns `true` if a request asks for stock.
 * @throws Refusal if the parameters do not fit together
 */
function withAvailability(query: URLSearchParams): boolean {
  const [include, product] = [query.get("include"), query.get("product")];
  if ((include === null) !== (product === null))
    throw new V2Refusal(400, "include and product must be used together", "catalog.v2-parameters");
  if (product?.split(",").some((each) => !PRODUCTS.includes(each)))
    throw new V2Refusal(422, "product is invalid", "catalog.v2-parameters");
  if (include === null && OF_AVAILABILITY.some((name) => query.has(name)))
    throw new V2Refusal(400, "these parameters need include", "catalog.v2-parameters");
  if (query.has("cudaVersions") && query.has("minCudaVersion"))
    throw new V2Refusal(400, "cudaVersions and minCudaVersion exclude each other", "catalog.v2-parameters");
  return include !== null;
}

/**
 * Returns a GPU type, or an empty list if the request asks for countries in which it does not
 * exist.
 */
function shownGpu(catalog: Catalog, gpu: GpuType, query: URLSearchParams, always = false): object[] {
  const included = withAvailability(query);
  const countries = query.get("countryCodes")?.split(",") ?? [];
  const { id, pool, memoryInGb, podPrice } = gpu;
  const plain = {
    id,
    name: id.replace(/^NVIDIA /, ""),
    pool,
    memory: memoryInGb,
    secure: true,
    community: false,
    manufacturer: id.startsWith("NVIDIA") ? "NVIDIA" : "AMD",
    price: { secure: podPrice, community: podPrice, ...(pool !== null && { serverless: pricePerGpu(pool) }) },
    maxCount: { secure: 8, community: 8 },
  };
  if (!included) return [plain];
  const all = catalog.dataCenters.map((each) => each.id);
  const { level, dataCenters, cudaVersions } = catalog.stockOf(gpu, {
    gpuCount: Number(query.get("count") ?? 1),
    accepts: cudaRule(query.get("cudaVersions"), query.get("minCudaVersion")),
    dataCenterIds: inCountries(all, countries),
  });
  if (countries.length > 0 && dataCenters.length === 0 && !always) return [];
  return [
    {
      ...plain,
      availability: level.toUpperCase(),
      ...(dataCenters.length > 0 && {
        dataCenters: dataCenters.map((each) => ({
          id: each.id,
          name: each.id,
          availability: each.level.toUpperCase(),
        })),
      }),
      cudaVersions: cudaVersions.map(({ version, isAvailable }) => ({ version, available: isAvailable })),
    },
  ];
}
