import { readFileSync } from "node:fs";
import { systemReason } from "../../../emulator/io/systemReason";
import { type Prices, PUBLIC_PRICES } from "../../../sdk/catalog/publicPrices";
import { type PricedSettings, type PriceSource, tablePrices, workerPrices } from "../../../sdk/catalog/workerPrices";
import { didYouMean } from "../../didYouMean";

/** A worker's price, and where it comes from. */
export interface Price {
  readonly perSecond: number;
  readonly source: string;
}

/**
 * Returns the price of a worker. A CPU worker costs as much as the first instance in the list. A
 * GPU worker costs as much as its GPUs do in the first pool, because the first 4 workers run there.
 * @param sources the sources in order: the first one that knows the price determines it
 * @throws Error if no source knows it
 */
export function priceOf(settings: PricedSettings, sources: readonly PriceSource[]): Price {
  const { instanceIds, gpuCount } = settings;
  const [{ tier, perHour, source } = { tier: "", perHour: undefined, source: "" }] = workerPrices(settings, sources);
  const gpus = instanceIds !== "" || gpuCount === 1 ? "" : `, ${gpuCount} GPUs each`;
  // Otherwise, 0.00019 × 3600 / 3600 would show as 0.00018999999999999998.
  if (perHour !== undefined)
    return { perSecond: Number((perHour / 3600).toPrecision(12)), source: `${tier} in ${source}${gpus}` };
  if (instanceIds !== "") {
    throw new Error(
      `no price is known for CPU workers (${tier}), because the service publishes none: give --prices the price of a worker ` +
        `in US dollars per second, or a file with "${tier}"`,
    );
  }
  const hint = didYouMean(tier, Object.keys(PUBLIC_PRICES.perSecond));
  throw new Error(`no price is known for the GPU pool "${tier}": give --prices.${hint}`);
}

/** Reads prices from a file. */
export function readPrices(file: string): PriceSource {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    const what = cause instanceof SyntaxError ? "is not valid JSON" : "cannot be read";
    throw new Error(`--prices ${file} ${what}: ${systemReason(cause)}`, { cause });
  }
  if (!isPrices(content)) {
    throw new Error(`--prices ${file} must contain {"date": "2026-06-08", "perSecond": {"AMPERE_24": 0.00019}}`);
  }
  return tablePrices(content, file);
}

function isPrices(value: unknown): value is Prices {
  if (typeof value !== "object" || value === null) return false;
  const { date, perSecond } = value as Record<string, unknown>;
  if (typeof date !== "string" || typeof perSecond !== "object" || perSecond === null) return false;
  return Object.values(perSecond).every((price) => typeof price === "number" && price >= 0);
}
