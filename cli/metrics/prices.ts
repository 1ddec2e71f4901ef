import type { CatalogGpu, WorkerCounts } from "../../sdk";
import { PUBLIC_PRICES } from "../../sdk/catalog/publicPrices";
import type { StockLevel } from "../../sdk/catalog/record";
import { catalogPrices, type PricedSettings, PUBLIC_PRICE_SOURCE, workerPrices } from "../../sdk/catalog/workerPrices";
import type { WatchedSettings } from "./endpointReads";

const LEVELS: Readonly<Record<StockLevel, number>> = { None: 0, Low: 1, Unknown: 1, Medium: 2, High: 3 };

/** An amount in US dollars an hour, and where the price comes from. */
interface Price {
  readonly dollars: number;
  /** `catalog`, or the name of the public price table. */
  readonly source: string;
}

/** Returns the price of one GPU by pool. */
export function poolPrices(gpus: readonly CatalogGpu[] | undefined): ReadonlyMap<string, Price> {
  const pools = new Set([...Object.keys(PUBLIC_PRICES.perSecond), ...(gpus ?? []).flatMap(({ pool }) => pool ?? [])]);
  const prices = new Map<string, Price>();
  for (const pool of pools) {
    const price = firstPrice({ gpuIds: pool, gpuCount: 1, instanceIds: "" }, gpus);
    if (price) prices.set(pool, price);
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
 * Returns the cost of an endpoint's workers, based on its first GPU pool. Returns `undefined` if
 * the price is unknown, as for CPU workers.
 */
export function workersCost(
  settings: WatchedSettings | undefined,
  workers: Pick<WorkerCounts, "running" | "idle"> | undefined,
  gpus: readonly CatalogGpu[] | undefined,
): Price | undefined {
  const price = settings && firstPrice(settings, gpus);
  if (!price || !workers) return undefined;
  return { ...price, dollars: Number(((workers.running + workers.idle) * price.dollars).toPrecision(12)) };
}

function firstPrice(settings: PricedSettings, gpus: readonly CatalogGpu[] | undefined): Price | undefined {
  const [price] = workerPrices(settings, [catalogPrices({ gpus }, "catalog"), PUBLIC_PRICE_SOURCE]);
  const { perHour, source } = price ?? {};
  return perHour === undefined || source === undefined ? undefined : { dollars: perHour, source };
}
