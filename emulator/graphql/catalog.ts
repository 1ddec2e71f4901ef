import { type Catalog, type CatalogDataCenter, inCountries, regionOf, type ShownLevel } from "../catalog/catalog";
import type { Profile } from "../model/fidelity";
import { GPU_POOLS, type GpuType } from "../model/gpuTypes";
import { cudaRule } from "../model/stock";
import type { GraphqlPart } from "./part";

const STOCK_INPUT = `
  gpuCount: Int secureCloud: Boolean includeAiApi: Boolean machineProducts: [MachineProduct] minCudaVersion: String
`;

const SCHEMA = `
  extend type Query {
    gpuTypes(input: GpuTypeFilter): [GpuType] serverlessGpuPools: [ServerlessGpuPool]
    dataCenters: [DataCenter] cpuFlavors(input: CpuFlavorInput): [CpuFlavor]
  }
  enum MachineProduct { PODCLOUD CLUSTER SERVERLESS }
  input GpuTypeFilter { id: String ids: [String] cluster: Boolean }
  input GpuLowestPriceInput {
    ${STOCK_INPUT} countryCode: String dataCenterId: String minDisk: Int minMemoryInGb: Int minVcpuCount: Int minDownload: Int
    minUpload: Int totalDisk: Int supportPublicIp: Boolean cudaVersion: String allowedCudaVersions: [String]
    compliance: [String] globalNetwork: Boolean
  }
  input GpuAvailabilityInput { ${STOCK_INPUT} }
  input CpuFlavorInput { id: String slsOnly: Boolean isSls: Boolean }
  input SpecificsInput { instanceId: String dataCenterId: String }
  type ServerlessGpuPool { id: String gpuTypeIds: [String] }
  type GpuTypeDatacenter { dataCenterId: String supportNetworkVolumes: Boolean availability: String }
  type GpuTypeCudaVersion { cudaVersion: String availability: String }
  type LowestPrice {
    stockStatus: String uninterruptablePrice: Float minimumBidPrice: Float minVcpu: Int minMemory: Int
    maxUnreservedGpuCount: Int availableGpuCounts: [Int] rentedCount: Int totalCount: Int
    gpuTypeDatacenters: [GpuTypeDatacenter] gpuTypeCudaVersions: [GpuTypeCudaVersion]
  }
  type GpuType {
    id: String displayName: String memoryInGb: Int maxGpuCount: Int maxGpuCountSecureCloud: Int maxGpuCountCommunityCloud: Int
    manufacturer: String cudaCores: Int secureCloud: Boolean communityCloud: Boolean securePrice: Float communityPrice: Float
    oneMonthPrice: Float threeMonthPrice: Float oneWeekPrice: Float communitySpotPrice: Float secureSpotPrice: Float
    lowestPrice(input: GpuLowestPriceInput): LowestPrice
  }
  type GpuAvailability {
    id: String gpuTypeId: String gpuTypeDisplayName: String displayName: String available: Boolean stockStatus: String
  }
  type DataCenter {
    id: String name: String location: String region: String listed: Boolean storageSupport: Boolean globalNetwork: Boolean
    compliance: [String] gpuAvailability(input: GpuAvailabilityInput): [GpuAvailability]
  }
  type CpuSpecifics { stockStatus: String securePrice: Float slsPrice: Float }
  type CpuFlavor {
    id: String groupId: String groupName: String displayName: String minVcpu: Int maxVcpu: Int vcpuBurstable: Boolean
    ramMultiplier: Float diskLimitPerVcpu: Int specifics(input: SpecificsInput): CpuSpecifics
  }
`;

interface GpuInput {
  readonly id?: string | null;
  readonly ids?: readonly string[] | null;
}

interface StockInput {
  readonly gpuCount?: number | null;
  readonly countryCode?: string | null;
  readonly dataCenterId?: string | null;
  readonly minCudaVersion?: string | null;
  readonly cudaVersion?: string | null;
  readonly allowedCudaVersions?: readonly string[] | null;
}

/**
 * Creates the part of the GraphQL API for the catalog, which is not in the contract. Everything
 * except the pools is available without a key.
 */
export function catalogPart(catalog: Catalog, profile: Profile): GraphqlPart {
  if (profile === "contract") return { schema: "" };
  return {
    schema: SCHEMA,
    publicOperations: ["gpuTypes", "dataCenters", "cpuFlavors"],
    operations: {
      gpuTypes: ({ input }: { input?: GpuInput | null }) =>
        catalog.gpuTypes
          .filter(({ id }) => (input?.id == null || id === input.id) && (input?.ids?.includes(id) ?? true))
          .map((gpu) => shownGpu(catalog, gpu)),
      serverlessGpuPools: () => GPU_POOLS,
      dataCenters: () => catalog.dataCenters.map((each) => shownDataCenter(catalog, each)),
      cpuFlavors: ({ input }: { input?: { id?: string | null } | null }) =>
        Object.entries(catalog.cpuFlavors)
          .filter(([id]) => input?.id == null || id === input.id)
          .map(([id, flavor]) => ({
            id,
            groupId: id.slice(0, 4),
            groupName: id.slice(0, 4),
            displayName: id,
            minVcpu: 2,
            maxVcpu: flavor.maxVcpus,
            ramMultiplier: flavor.memoryPerVcpu,
            specifics: () => ({ stockStatus: "High", slsPrice: flavor.perVcpuHour }),
          })),
    },
  };
}

function shownGpu(catalog: Catalog, gpu: GpuType) {
  const { id, memoryInGb, podPrice } = gpu;
  return {
    id,
    displayName: id.replace(/^NVIDIA /, ""),
    memoryInGb,
    maxGpuCount: 8,
    maxGpuCountSecureCloud: 8,
    manufacturer: id.startsWith("NVIDIA") ? "Nvidia" : "AMD",
    secureCloud: true,
    communityCloud: false,
    securePrice: podPrice,
    communityPrice: podPrice,
    lowestPrice({ input }: { input?: StockInput | null }) {
      const { gpuCount, countryCode, dataCenterId, minCudaVersion, cudaVersion, allowedCudaVersions } = input ?? {};
      const all = catalog.dataCenters.map((each) => each.id);
      const allowed = cudaVersion ?? allowedCudaVersions?.join(",") ?? null;
      const { level, dataCenters, cudaVersions } = catalog.stockOf(gpu, {
        gpuCount: gpuCount ?? 1,
        accepts: cudaRule(allowed, minCudaVersion ?? null),
        dataCenterIds: dataCenterId == null ? inCountries(all, countryCode ? [countryCode] : []) : [dataCenterId],
      });
      return {
        stockStatus: statusOf(level),
        uninterruptablePrice: podPrice,
        minimumBidPrice: null,
        availableGpuCounts: level === "None" ? [] : [1, 2, 4, 8],
        gpuTypeDatacenters: dataCenters.map((place) => ({
          dataCenterId: place.id,
          supportNetworkVolumes: catalog.dataCenters.some((each) => each.id === place.id && each.hasVolumes),
          availability: place.level === "None" ? "UNAVAILABLE" : "AVAILABLE",
        })),
        gpuTypeCudaVersions: cudaVersions.map(({ version, isAvailable }) => ({
          cudaVersion: version,
          availability: isAvailable ? "AVAILABLE" : "UNAVAILABLE",
        })),
      };
    },
  };
}

const statusOf = (level: ShownLevel) => (level === "None" ? null : level);

function shownDataCenter(catalog: Catalog, { id, country, hasVolumes }: CatalogDataCenter) {
  return {
    id,
    name: id,
    location: country,
    region: regionOf(id),
    listed: true,
    storageSupport: hasVolumes,
    globalNetwork: false,
    compliance: [],
    gpuAvailability: ({ input }: { input?: StockInput | null }) =>
      catalog.gpusIn(id, input?.gpuCount ?? 1).map(({ gpu, level }) => ({
        id: `${id} ${gpu.id}`,
        gpuTypeId: gpu.id,
        gpuTypeDisplayName: gpu.id,
        displayName: gpu.id,
        available: level !== "None",
        stockStatus: statusOf(level),
      })),
  };
}
