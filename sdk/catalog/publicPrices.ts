import { GPU_POOLS, PRICE_DATE } from "../contract/gpuPools";

/**
 * A price table in US dollars per second. The entry of a GPU pool is the price of a worker with one
 * GPU, and the entry of a CPU instance is the price of a CPU worker.
 */
export interface Prices {
  /** The date of the price table, such as `2026-06-08`. */
  readonly date: string;
  readonly perSecond: Readonly<Record<string, number>>;
}

/** RunPod's public price table. It does not include prices of CPU workers. */
export const PUBLIC_PRICES: Prices = {
  date: PRICE_DATE,
  perSecond: Object.fromEntries(
    Object.entries(GPU_POOLS).flatMap(([pool, { perSecond }]) => (perSecond === undefined ? [] : [[pool, perSecond]])),
  ),
};
