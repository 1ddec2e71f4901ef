import type { CatalogGpu, WorkerCounts } from "../../sdk";
import { poolsIn } from "../../sdk/catalog/places";
import { PUBLIC_PRICES, publicPrice } from "../../sdk/catalog/publicPrices";
import type { StockLevel } from "../../sdk/catalog/record";
import type { WatchedSettings } from "./endpointReads";

const LEVELS: Readonly<Record<StockLevel, number>> = { None: 0, Low: 1, Unknown: 1, Medium: 2, High: 3 };

/** A price in US dollars an hour, and where it comes from. */
export interface Price {
  readonly dollars: number;
  readonly source: "catalog" | "built-in table";
}

/** Returns the price of one GPU by pool. */
export function poolPrices(gpus: readonly CatalogGpu[] | undefined): ReadonlyMap<string, Price> {
  const pools = new Set([...Object.keys(PUBLIC_PRICES.perSecond), ...(gpus ?? []).flatMap(({ pool }) => pool ?? [])]);
  const prices = new Map<string, Price>();
  for (const pool of pools) {
    const price = poolPrice(pool, gpus);
    if (price !== undefined) prices.set(pool, price);
  }
  return prices;
}

/**
 * Returns the price of a pool's most expensive GPU in the catalog, or that of the public price
 * table.
 */
function poolPrice(pool: string, gpus: readonly CatalogGpu[] | undefined): Price | undefined {
  const prices = (gpus ?? []).flatMap((gpu) => (gpu.pool === pool ? (gpu.serverlessPrice ?? []) : []));
  if (prices.length > 0) return { dollars: Math.max(...prices), source: "catalog" };
  const dollars = publicPrice(pool);
  return dollars === undefined ? undefined : { dollars, source: "built-in table" };
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
 * Returns the cost of an endpoint's workers, based on its first GPU pool. Returns `undefined` if
 * the price is unknown, as for CPU workers.
 */
export function workersCost(
  settings: WatchedSettings | undefined,
  workers: Pick<WorkerCounts, "running" | "idle"> | undefined,
  gpus: readonly CatalogGpu[] | undefined,
): Price | undefined {
  if (settings?.instanceIds !== "" || !workers) return undefined;
  const [pool = ""] = poolsIn(settings.gpuIds);
  const price = poolPrice(pool, gpus);
  if (!price) return undefined;
  const dollars = (workers.running + workers.idle) * settings.gpuCount * price.dollars;
  return { ...price, dollars: Number(dollars.toPrecision(12)) };
}
