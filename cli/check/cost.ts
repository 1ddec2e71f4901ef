import { gpusLeft, poolsIn } from "../../sdk/catalog/places";
import { type Prices, PUBLIC_PRICES } from "../../sdk/catalog/publicPrices";
import { priceOf } from "../forecast/settings/prices";
import type { Answers } from "./lookUps";
import { type EndpointSide, endpointSide, holdersAfter, type Planned, type Side } from "./preview";
import { shownChanges } from "./shownChanges";

/** The price of one worker, in US dollars an hour. */
export interface WorkerPrice {
  readonly perHour: number;
  /** What is priced: a pool or a CPU instance, with the number of GPUs. */
  readonly of: string;
  readonly source: string;
}

/** The cost of an endpoint before or after the change, in US dollars an hour. */
export interface SideCost {
  readonly workersMin: number | undefined;
  readonly workersMax: number | undefined;
  readonly price: WorkerPrice | undefined;
  /** The cost with `workersMax` workers; `undefined` if unknown. */
  readonly fullScale: number | undefined;
  /** The cost with `workersMin` workers; `undefined` if unknown. */
  readonly atRest: number | undefined;
  /** Why the cost is unknown. */
  readonly problem?: string | undefined;
}

export interface EndpointCost {
  readonly name: string;
  readonly urn: string;
  readonly op: Planned["op"];
  /** What changes, such as `workersMax 3 → 0`. */
  readonly changes: string;
  readonly before: SideCost | undefined;
  readonly after: SideCost | undefined;
}

export interface TotalCost {
  readonly fullScale: number;
  readonly atRest: number;
  /** Endpoints whose cost is unknown and missing from the total. */
  readonly unknown: readonly string[];
}

/** Costs before and after the change. */
interface TotalCosts {
  readonly before: TotalCost;
  readonly after: TotalCost;
}

/** The cost of the whole program before and after the change. */
export interface Costs extends TotalCosts {
  readonly endpoints: readonly EndpointCost[];
  /**
   * The share of the account that the environment selects. Endpoints that the program takes over
   * count before the change, too.
   */
  readonly inAccount: TotalCosts;
}

/** Prices from a file, which replace all others. */
export interface GivenPrices {
  readonly prices: Prices;
  readonly source: string;
}

/** Returns the cost of each endpoint and the total. */
export function costsOf(planned: readonly Planned[], answers: Answers, given: GivenPrices | undefined): Costs {
  const holders = holdersAfter(planned);
  const endpoints = planned
    .filter(({ kind }) => kind === "endpoint")
    .map((each) => {
      const { name, urn, op, before, after } = each;
      // These endpoints leave the stack but still exist. Another resource may take them over.
      const left = before.filter(({ id, isRetained }) => isRetained && id !== after?.id && !(id && holders.has(id)));
      const costs = (sides: readonly Side[]) =>
        summed(sides.map((side) => sideCost(endpointSide(side), answers, given)));
      return {
        name,
        urn,
        op,
        changes: shownChanges(each),
        before: costs(before),
        after: costs([...(after ? [after] : []), ...left]),
      };
    });
  const inAccount = planned.filter(({ hasDefaultProvider }) => hasDefaultProvider);
  const urns = new Set(inAccount.map(({ urn }) => urn));
  const own = totalsOf(endpoints.filter(({ urn }) => urns.has(urn)));
  const known = new Set(inAccount.flatMap(({ before }) => before.map(({ id }) => id)));
  const taken = inAccount
    .flatMap((each) => (each.taken && !known.has(each.taken.id) ? [endpointSide(each.taken)] : []))
    .reduce((sum, side) => sum + (sideCost(side, answers, given).fullScale ?? 0), 0);
  const before = { ...own.before, fullScale: rounded(own.before.fullScale + taken) };
  return { endpoints, ...totalsOf(endpoints), inAccount: { before, after: own.after } };
}

function totalsOf(endpoints: readonly EndpointCost[]): TotalCosts {
  const side = (at: "before" | "after") =>
    totalOf(endpoints.flatMap((each) => (each[at] ? [{ name: each.name, cost: each[at] }] : [])));
  return { before: side("before"), after: side("after") };
}

/**
 * Returns the total cost of a resource's records. An interrupted run may have left more than one.
 */
function summed(costs: readonly SideCost[]): SideCost | undefined {
  const [first, ...others] = costs;
  if (!first || others.length === 0) return first;
  const sum = (field: "fullScale" | "atRest" | "workersMin" | "workersMax") =>
    costs.every((cost) => cost[field] !== undefined)
      ? costs.reduce((total, cost) => total + (cost[field] as number), 0)
      : undefined;
  return {
    ...first,
    fullScale: sum("fullScale"),
    atRest: sum("atRest"),
    workersMin: sum("workersMin"),
    workersMax: sum("workersMax"),
  };
}

function sideCost(side: EndpointSide, answers: Answers, given: GivenPrices | undefined): SideCost {
  const { workersMin, workersMax } = side;
  const isOff = workersMin === 0 && workersMax === 0;
  const price = isOff ? undefined : priceOfSide(side, answers, given);
  const perHour = typeof price === "object" ? price.perHour : isOff ? 0 : undefined;
  const times = (workers: number | undefined) =>
    // Zero workers cost nothing, whatever their price.
    workers === 0 ? 0 : workers === undefined || perHour === undefined ? undefined : rounded(workers * perHour);
  const unknown = [
    ...(workersMax === undefined ? ["workersMax is not known before up"] : []),
    ...(workersMin === undefined ? ["workersMin is not known before up"] : []),
    ...(typeof price === "string" ? [price] : []),
  ];
  return {
    workersMin,
    workersMax,
    price: typeof price === "object" ? price : undefined,
    fullScale: times(workersMax),
    atRest: times(workersMin),
    problem: unknown.length > 0 ? unknown.join("; ") : undefined,
  };
}

const rounded = (dollars: number) => Number(dollars.toPrecision(12));

/**
 * Returns the price of the most expensive worker that the settings allow, or why it is unknown. A
 * worker may start in any of the pools, and a cap must hold for all of them.
 */
function priceOfSide(side: EndpointSide, answers: Answers, given: GivenPrices | undefined): WorkerPrice | string {
  const { gpuIds, instanceIds, gpuCount } = side;
  if (instanceIds === undefined || gpuIds === undefined || gpuCount === undefined)
    return "its GPUs or CPUs are not known before up";
  const isOnCpus = instanceIds !== "";
  const names = isOnCpus ? instanceIds.split(",") : usablePools(gpuIds, answers);
  if (names.length === 0) return "it names no GPU pool and no CPU instance";
  const prices = names.map((name) =>
    isOnCpus ? cpuPrice(name, answers, given) : gpuPrice(name, side, gpuCount, answers, given),
  );
  const missing = names.filter((_, at) => prices[at] === undefined);
  if (missing.length > 0) return `no price is known for ${missing.join(", ")}: give --prices`;
  const known = prices.filter((price) => price !== undefined);
  return known.reduce((dearest, price) => (price.perHour > dearest.perHour ? price : dearest));
}

/**
 * Returns the pools that still contain a GPU type after the exclusions, according to the catalog.
 * Returns all pools if none does.
 */
function usablePools(gpuIds: string, { gpus }: Answers): string[] {
  const [types = []] = gpus.values();
  const pools = poolsIn(gpuIds);
  const left = gpusLeft(gpuIds, types);
  const has = (list: typeof types, pool: string) => list.some((each) => each.pool === pool);
  const usable = pools.filter((pool) => has(left, pool) || !has(types, pool));
  return usable.length > 0 ? usable : pools;
}

function gpuPrice(
  pool: string,
  { gpuIds = "" }: EndpointSide,
  gpuCount: number,
  { gpus, owner, source, readAt }: Answers,
  given: GivenPrices | undefined,
): WorkerPrice | undefined {
  const of = gpuCount === 1 ? pool : `${pool}, ${gpuCount} GPUs`;
  const exclusions = gpuIds.split(",").filter((part) => part.trim().startsWith("-"));
  const [types = []] = gpus.values();
  const left = gpusLeft([pool, ...exclusions].join(","), types).flatMap(({ serverlessPrice }) => serverlessPrice ?? []);
  if (!given && left.length > 0) {
    const perHour = rounded(Math.max(...left) * gpuCount);
    return { perHour, of, source: `${owner}'s catalog (${source}), read at ${readAt.toISOString()}` };
  }
  const table = given ?? { prices: PUBLIC_PRICES, source: "the public price table" };
  return fromTable({ gpuIds: pool, gpuCount, instanceIds: "" }, table, of);
}

function cpuPrice(
  instance: string,
  { cpus, owner, readAt }: Answers,
  given: GivenPrices | undefined,
): WorkerPrice | undefined {
  if (given) return fromTable({ gpuIds: "", gpuCount: 1, instanceIds: instance }, given, instance);
  const [, flavor, vcpus] = /^(\w+)-(\d+)-/.exec(instance.trim()) ?? [];
  const perVcpu = cpus?.find(({ id }) => id === flavor)?.serverlessPricePerVcpu;
  if (perVcpu === undefined) return undefined;
  const source = `${owner}'s catalog (REST v2), read at ${readAt.toISOString()}`;
  return { perHour: rounded(perVcpu * Number(vcpus)), of: instance, source };
}

function fromTable(
  priced: Parameters<typeof priceOf>[0],
  { prices, source }: GivenPrices,
  of: string,
): WorkerPrice | undefined {
  const name = priced.instanceIds || priced.gpuIds;
  if (!Object.hasOwn(prices.perSecond, name)) return undefined;
  return {
    perHour: rounded(priceOf(priced, prices, source).perSecond * 3600),
    of,
    source: `${source} of ${prices.date}`,
  };
}

function totalOf(costs: readonly { readonly name: string; readonly cost: SideCost | undefined }[]): TotalCost {
  const sum = (field: "fullScale" | "atRest") =>
    rounded(costs.reduce((total, { cost }) => total + (cost?.[field] ?? 0), 0));
  const unknown = costs.filter(({ cost }) => cost?.problem !== undefined).map(({ name }) => name);
  return { fullScale: sum("fullScale"), atRest: sum("atRest"), unknown };
}
