import type { CatalogGpu } from "../../sdk";
import { poolsIn } from "../../sdk/catalog/places";
import { PUBLIC_PRICES, publicPrice } from "../../sdk/catalog/publicPrices";
import type { StockLevel } from "../../sdk/catalog/record";
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
    const price = poolPrice(pool, gpus);
    if (price !== undefined) prices.set(pool, price);
  }
  return prices;
}

/** Returns the price of a pool's most expensive GPU. */
function poolPrice(pool: string, gpus: readonly CatalogGpu[] | undefined): number | undefined {
  const prices = (gpus ?? []).flatMap((gpu) => (gpu.pool === pool ? (gpu.serverlessPrice ?? []) : []));
  return prices.length > 0 ? Math.max(...prices) : publicPrice(pool);
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
  if (settings?.instanceIds !== "") return undefined;
  const [pool = ""] = poolsIn(settings.gpuIds);
  const price = poolPrice(pool, gpus);
  return price === undefined ? undefined : price * settings.gpuCount;
}
