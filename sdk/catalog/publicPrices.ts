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

/**
 * Returns the price of one GPU of a pool in US dollars per hour, if the public table contains it.
 */
export function publicPrice(pool: string): number | undefined {
  const perSecond = Object.hasOwn(PUBLIC_PRICES.perSecond, pool) ? PUBLIC_PRICES.perSecond[pool] : undefined;
  // Without rounding, 0.00016 × 3600 would appear as 0.5760000000000001.
  return perSecond === undefined ? undefined : Number((perSecond * 3600).toPrecision(12));
}
