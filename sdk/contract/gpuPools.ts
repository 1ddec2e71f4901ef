import type { GpuTier } from "./enums";

/** A pool of GPU types, which workers share. */
interface GpuPool {
  /** The GPU types in the pool, without the prefix `NVIDIA ` (documented, the newest observed). */
  readonly types: readonly string[];
  /** The public price of a worker with one GPU, in US dollars per second. @default none */
  readonly perSecond?: number;
}

/** The date of the prices: that of RunPod's public price table. */
export const PRICE_DATE = "2026-06-08";

/** The known GPU pools. The emulator has its own table, and a test compares both. */
export const GPU_POOLS: Readonly<Record<GpuTier, GpuPool>> = {
  AMPERE_16: {
    types: ["RTX A4000", "RTX A4500", "RTX 4000 Ada Generation", "RTX 2000 Ada Generation"],
    perSecond: 0.00016,
  },
  AMPERE_24: { types: ["RTX A5000", "L4", "GeForce RTX 3090"], perSecond: 0.00019 },
  ADA_24: { types: ["GeForce RTX 4090"], perSecond: 0.00031 },
  ADA_32_PRO: { types: ["GeForce RTX 5090"] },
  AMPERE_48: { types: ["A40", "RTX A6000"], perSecond: 0.00034 },
  ADA_48_PRO: { types: ["RTX 6000 Ada Generation", "L40", "L40S"], perSecond: 0.00053 },
  AMPERE_80: { types: ["A100 80GB PCIe", "A100-SXM4-80GB"], perSecond: 0.00076 },
  ADA_80_PRO: { types: ["H100 PCIe", "H100 80GB HBM3", "H100 NVL"], perSecond: 0.00116 },
  BLACKWELL_96: {
    types: [
      "RTX PRO 6000 Blackwell Server Edition",
      "RTX PRO 6000 Blackwell Workstation Edition",
      "RTX PRO 6000 Blackwell Max-Q Workstation Edition",
    ],
    perSecond: 0.00111,
  },
  HOPPER_141: { types: ["H200"], perSecond: 0.00155 },
  BLACKWELL_180: { types: ["B200"], perSecond: 0.0024 },
};

/** Returns `true` if this version knows the GPU pool. */
export function isKnownPool(pool: string): boolean {
  return Object.hasOwn(GPU_POOLS, pool);
}
