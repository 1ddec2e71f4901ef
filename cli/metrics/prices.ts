import type { CatalogGpu } from "../../sdk";
import { PUBLIC_PRICES } from "../../sdk/catalog/publicPrices";
import type { StockLevel } from "../../sdk/catalog/record";
import { catalogPrices, type PricedSettings, PUBLIC_PRICE_SOURCE, workerPrices } from "../../sdk/catalog/workerPrices";
import type { WatchedSettings } from "./endpointReads";

const LEVELS: Readonly<Record<StockLevel, number>> = { None: 0, Low: 1, Unknown: 1, Medium: 2, High: 3 };

/**
 * Returns the price of one GPU by pool, in US dollars an hour. Uses the catalog's price, or the
 * public price table if the catalog has none.
 */
export function poolPrices(gpus: readonly CatalogGpu[] | undefined): ReadonlyMap<string, number> {
  const pools = new Set([...Object.keys(PUBLIC_PRICES.perSecond), ...(gpus ?? []).flatMap(({ pool }) => pool ?? [])]);
  const prices = new Map<string, number>();
  for (const pool of pools) {
    const price = firstPrice({ gpuIds: pool, gpuCount: 1, instanceIds: "" }, gpus);
    if (price !== undefined) prices.set(pool, price);
  }
  return prices;
}

/** Returns the best stock level of each pool, as a number from 0 to 3. */
export function poolStock(gpus: readonly CatalogGpu[] | undefined): ReadonlyMap<string, number> {
  const best = new Map<string, number>();
  for (const { pool, stock } of gpus ?? []) {
    if (pool) best.set(pool, Math.max(best.get(pool) ?? 0, LEVELS[stock]));
  }
  return best;
}

/**
 * Returns the price of a worker in US dollars an hour, based on its first GPU pool. Returns
 * `undefined` if the price is unknown, as for CPU workers.
 */
export function workerPrice(
  settings: WatchedSettings | undefined,
  gpus: readonly CatalogGpu[] | undefined,
): number | undefined {
  return settings && firstPrice(settings, gpus);
}

function firstPrice(settings: PricedSettings, gpus: readonly CatalogGpu[] | undefined): number | undefined {
  return workerPrices(settings, [catalogPrices({ gpus }, "the catalog"), PUBLIC_PRICE_SOURCE])[0]?.perHour;
}
