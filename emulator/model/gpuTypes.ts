/** A GPU type of the catalog. */
export interface GpuType {
  /** RunPod's id of the GPU type, such as `NVIDIA L40S`. */
  readonly id: string;
  /** Memory in GB. */
  readonly memoryInGb: number;
  /** The pool that the type belongs to; `null` if endpoints cannot use it. */
  readonly pool: string | null;
  /** The price of one GPU in a pod, in US dollars an hour. */
  readonly podPrice: number;
  /** CUDA driver versions of its machines. Each machine has one of them. */
  readonly cudaVersions: readonly string[];
}

/** A pool of GPU types, which `gpuIds` refers to. */
interface Pool {
  readonly id: string;
  /** The price of one worker GPU, in US dollars an hour. */
  readonly perHour: number;
  /** GPU types without the prefix `NVIDIA `, and their memory in GB. */
  readonly types: Readonly<Record<string, number>>;
  readonly cudaVersions?: readonly string[];
}

const CUDA_11 = ["11.8", "12.0", "12.1", "12.2", "12.3", "12.4", "12.5", "12.6", "12.7", "12.8"];
const CUDA_12_8 = ["12.8", "12.9", "13.0"];

/**
 * The pools and their GPU types (observed for the newest, documented for the others). Prices are
 * those of the public table of June 2026, rounded as the catalog rounds them (assumed for
 * ADA_32_PRO, which the table lacks). CUDA versions are assumed; the newest GPUs need 12.8.
 */
const POOLS: readonly Pool[] = [
  {
    id: "AMPERE_16",
    perHour: 0.58,
    types: { "RTX A4000": 16, "RTX A4500": 20, "RTX 4000 Ada Generation": 20, "RTX 2000 Ada Generation": 16 },
  },
  { id: "AMPERE_24", perHour: 0.68, types: { "RTX A5000": 24, L4: 24, "GeForce RTX 3090": 24 } },
  { id: "ADA_24", perHour: 1.12, types: { "GeForce RTX 4090": 24 } },
  { id: "ADA_32_PRO", perHour: 1.58, types: { "GeForce RTX 5090": 32 }, cudaVersions: CUDA_12_8 },
  { id: "AMPERE_48", perHour: 1.22, types: { A40: 48, "RTX A6000": 48 } },
  { id: "ADA_48_PRO", perHour: 1.91, types: { "RTX 6000 Ada Generation": 48, L40: 48, L40S: 48 } },
  { id: "AMPERE_80", perHour: 2.74, types: { "A100 80GB PCIe": 80, "A100-SXM4-80GB": 80 } },
  { id: "ADA_80_PRO", perHour: 4.18, types: { "H100 PCIe": 80, "H100 80GB HBM3": 80, "H100 NVL": 94 } },
  {
    id: "BLACKWELL_96",
    perHour: 4,
    types: {
      "RTX PRO 6000 Blackwell Server Edition": 96,
      "RTX PRO 6000 Blackwell Workstation Edition": 96,
      "RTX PRO 6000 Blackwell Max-Q Workstation Edition": 96,
    },
    cudaVersions: CUDA_12_8,
  },
  { id: "HOPPER_141", perHour: 5.58, types: { H200: 141 } },
  { id: "BLACKWELL_180", perHour: 8.64, types: { B200: 180 }, cudaVersions: CUDA_12_8 },
];

/** A pod costs less than a worker (assumed factor). */
const POD_FACTOR = 0.6;

const podPriceOf = (perHour: number) => Math.round(perHour * POD_FACTOR * 100) / 100;

/** GPU types that are in no pool, regardless of their stock (observed). */
const WITHOUT_POOL: readonly GpuType[] = [
  {
    id: "NVIDIA RTX PRO 4500 Blackwell",
    memoryInGb: 32,
    pool: null,
    podPrice: 0.79,
    cudaVersions: CUDA_12_8,
  },
  { id: "AMD Instinct MI300X OAM", memoryInGb: 192, pool: null, podPrice: 1.99, cudaVersions: [] },
];

/** All GPU types in the catalog. The service's list changes over time. */
export const GPU_TYPES: readonly GpuType[] = [
  ...POOLS.flatMap(({ id: pool, perHour, types, cudaVersions = CUDA_11 }) =>
    Object.entries(types).map(([name, memoryInGb]) => ({
      id: `NVIDIA ${name}`,
      memoryInGb,
      pool,
      podPrice: podPriceOf(perHour),
      cudaVersions,
    })),
  ),
  ...WITHOUT_POOL,
];

/** The pools in the catalog, with the ids of their GPU types. */
export const GPU_POOLS: readonly { readonly id: string; readonly gpuTypeIds: readonly string[] }[] = POOLS.map(
  ({ id, types }) => ({ id, gpuTypeIds: Object.keys(types).map((name) => `NVIDIA ${name}`) }),
);

/** Returns the price of one worker GPU in US dollars an hour; 0 for an unknown pool. */
export function pricePerGpu(pool: string | null): number {
  return POOLS.find(({ id }) => id === pool)?.perHour ?? 0;
}

/** Returns the GPU types in the pools that remain after the exclusions. */
export function gpuTypesIn(pools: readonly string[], excluded: readonly string[] = []): GpuType[] {
  return GPU_TYPES.filter(({ id, pool }) => pool !== null && pools.includes(pool) && !excluded.includes(id));
}
