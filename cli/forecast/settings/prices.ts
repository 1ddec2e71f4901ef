import { readFileSync } from "node:fs";
import { systemReason } from "../../../emulator/io/systemReason";
import { didYouMean } from "../../didYouMean";

/** Prices of a worker with one GPU, in US dollars a second, by GPU tier. */
export interface Prices {
  /** The day of the table, such as `2026-06-08`. */
  readonly date: string;
  readonly perSecond: Readonly<Record<string, number>>;
}

/** The service's public price table. */
const PUBLIC_PRICES: Prices = {
  date: "2026-06-08",
  perSecond: {
    AMPERE_16: 0.00016,
    AMPERE_24: 0.00019,
    ADA_24: 0.00031,
    AMPERE_48: 0.00034,
    ADA_48_PRO: 0.00053,
    AMPERE_80: 0.00076,
    ADA_80_PRO: 0.00116,
    BLACKWELL_96: 0.00111,
    HOPPER_141: 0.00155,
    BLACKWELL_180: 0.0024,
  },
};

/** The price of a worker, and its source. */
export interface Price {
  readonly perSecond: number;
  readonly source: string;
}

/** Returns the price of the first tier in a list, where up to 4 workers run. */
export function priceOf(gpuIds: string, prices: Prices, source: string): Price {
  const tier = gpuIds.split(",")[0]?.trim() ?? "";
  const perSecond = Object.hasOwn(prices.perSecond, tier) ? prices.perSecond[tier] : undefined;
  if (perSecond !== undefined) return { perSecond, source: `${tier} in ${source} of ${prices.date}` };
  const hint = didYouMean(tier, Object.keys(prices.perSecond));
  throw new Error(`no price is known for the GPU tier "${tier}": give --prices.${hint}`);
}

/** Returns the prices of a file, or the service's public ones. */
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
