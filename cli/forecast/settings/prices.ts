import { readFileSync } from "node:fs";
import { systemReason } from "../../../emulator/io/systemReason";
import { type Prices, PUBLIC_PRICES } from "../../../sdk/catalog/publicPrices";
import { didYouMean } from "../../didYouMean";
import type { Settings } from "./endpoints";

/** A worker's price, and where it comes from. */
export interface Price {
  readonly perSecond: number;
  readonly source: string;
}

/** The settings that a price depends on. */
type Priced = Pick<Settings, "gpuIds" | "gpuCount" | "instanceIds">;

/**
 * Returns the price of a worker. For CPU workers, that is the price of the first instance. For GPU
 * workers, it is the price of all its GPUs in the first pool, where up to 4 workers run.
 * @throws Error if the price table does not contain it
 */
export function priceOf({ gpuIds, gpuCount, instanceIds }: Priced, prices: Prices, source: string): Price {
  const isOnCpus = instanceIds !== "";
  const tier = (isOnCpus ? instanceIds : gpuIds).split(",")[0]?.trim() ?? "";
  const perSecond = Object.hasOwn(prices.perSecond, tier) ? prices.perSecond[tier] : undefined;
  if (perSecond !== undefined) {
    return priceOfWorker(perSecond, `${tier} in ${source} of ${prices.date}`, isOnCpus ? 1 : gpuCount);
  }
  if (isOnCpus) {
    throw new Error(
      `no price is known for CPU workers (${tier}), because the service publishes none: give --prices the price of a worker ` +
        `in US dollars per second, or a file with "${tier}"`,
    );
  }
  const hint = didYouMean(tier, Object.keys(prices.perSecond));
  throw new Error(`no price is known for the GPU pool "${tier}": give --prices.${hint}`);
}

/**
 * Returns the price of a worker with several GPUs.
 * @param perGpu the price of one GPU
 */
export function priceOfWorker(perGpu: number, source: string, gpuCount: number): Price {
  if (gpuCount === 1) return { perSecond: perGpu, source };
  // Otherwise, 3 × 0.00016 would show as 0.00048000000000000007.
  return { perSecond: Number((perGpu * gpuCount).toPrecision(12)), source: `${source}, ${gpuCount} GPUs each` };
}

/** Reads prices from a file, or returns RunPod's public prices. */
export function readPrices(file: string | undefined): { readonly prices: Prices; readonly source: string } {
  if (file === undefined) return { prices: PUBLIC_PRICES, source: "the public price table" };
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
  return { prices: content, source: file };
}

function isPrices(value: unknown): value is Prices {
  if (typeof value !== "object" || value === null) return false;
  const { date, perSecond } = value as Record<string, unknown>;
  if (typeof date !== "string" || typeof perSecond !== "object" || perSecond === null) return false;
  return Object.values(perSecond).every((price) => typeof price === "number" && price >= 0);
}
