import { splitList } from "../endpoints/normalForms";
import { exclusionsIn, gpusLeft, poolsIn } from "./places";
import { type Prices, PUBLIC_PRICES } from "./publicPrices";
import type { CatalogCpu, CatalogGpu } from "./record";

/** The settings that determine what a worker costs. */
export interface PricedSettings {
  /** GPU pools, and exclusions of GPU types. */
  readonly gpuIds: string;
  /** The number of GPUs of a worker (integer, ≥ 1). */
  readonly gpuCount: number;
  /** CPU instances; empty for GPU workers. */
  readonly instanceIds: string;
}

/** A source of prices in US dollars an hour. A price that it does not know is `undefined`. */
export interface PriceSource {
  /** Where the prices come from, such as `the public price table of 2026-06-08`. */
  readonly name: string;
  /**
   * Returns the highest price of one GPU of a pool; `null` if no GPU type of the pool is left
   * after the exclusions.
   */
  ofGpu(pool: string, exclusions: readonly string[]): number | null | undefined;
  /** Returns the price of a worker on a CPU instance such as `cpu3c-4-8`. */
  ofCpu(instance: string): number | undefined;
}

/** The price of a worker in a GPU pool, or on a CPU instance. */
export interface WorkerPrice {
  /** The GPU pool or the CPU instance. */
  readonly tier: string;
  /** The price of all its GPUs, in US dollars an hour; `undefined` if no source knows it. */
  readonly perHour: number | undefined;
  /** The name of the source; `undefined` if no source knows the price. */
  readonly source: string | undefined;
}

/** Removes the last digits, in which 0.00016 × 3600 would appear as 0.5760000000000001. */
const rounded = (dollars: number) => Number(dollars.toPrecision(12));

/**
 * Returns what a worker costs in each pool or on each instance where it may start, in the order of
 * the settings. Pools without a GPU type after the exclusions are left out, unless none has any.
 * @param sources the sources in order: the first one that knows a price determines it
 */
export function workerPrices(
  { gpuIds, gpuCount, instanceIds }: PricedSettings,
  sources: readonly PriceSource[],
): WorkerPrice[] {
  if (instanceIds !== "")
    return splitList(instanceIds).map((instance) => priced(instance, sources, (source) => source.ofCpu(instance)));
  const exclusions = exclusionsIn(gpuIds);
  const pools = poolsIn(gpuIds);
  const isEmpty = (pool: string) => sources.some((source) => source.ofGpu(pool, exclusions) === null);
  const usable = pools.filter((pool) => !isEmpty(pool));
  return (usable.length > 0 ? usable : pools).map((pool) =>
    priced(pool, sources, (source) => {
      const ofOne = source.ofGpu(pool, exclusions) ?? undefined;
      return ofOne === undefined ? undefined : ofOne * gpuCount;
    }),
  );
}

function priced(
  tier: string,
  sources: readonly PriceSource[],
  priceIn: (source: PriceSource) => number | undefined,
): WorkerPrice {
  for (const source of sources) {
    const perHour = priceIn(source);
    if (perHour !== undefined) return { tier, perHour: rounded(perHour), source: source.name };
  }
  return { tier, perHour: undefined, source: undefined };
}

/** Returns the prices in a table. */
export function tablePrices({ date, perSecond }: Prices, name: string): PriceSource {
  const perHour = (tier: string) =>
    Object.hasOwn(perSecond, tier) ? rounded((perSecond[tier] as number) * 3600) : undefined;
  return { name: `${name} of ${date}`, ofGpu: perHour, ofCpu: perHour };
}

/** The prices that RunPod publishes. They do not include CPU workers. */
export const PUBLIC_PRICE_SOURCE = tablePrices(PUBLIC_PRICES, "the public price table");

/** Returns the prices in a service's catalog. Only REST v2 shows them. */
export function catalogPrices(
  { gpus = [], cpus = [] }: { readonly gpus?: readonly CatalogGpu[]; readonly cpus?: readonly CatalogCpu[] },
  name: string,
): PriceSource {
  return {
    name,
    ofGpu(pool, exclusions) {
      const left = gpusLeft([pool, ...exclusions.map((type) => `-${type}`)].join(), gpus);
      if (left.length === 0) return gpus.some((gpu) => gpu.pool === pool) ? null : undefined;
      const prices = left.flatMap(({ serverlessPrice }) => serverlessPrice ?? []);
      return prices.length > 0 ? Math.max(...prices) : undefined;
    },
    ofCpu(instance) {
      const [, flavor, vcpus] = /^(\w+)-(\d+)-/.exec(instance) ?? [];
      const perVcpu = cpus.find(({ id }) => id === flavor)?.serverlessPricePerVcpu;
      return perVcpu === undefined ? undefined : perVcpu * Number(vcpus);
    },
  };
}
