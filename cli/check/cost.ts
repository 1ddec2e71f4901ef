import {
  catalogPrices,
  type PriceSource,
  PUBLIC_PRICE_SOURCE,
  type WorkerPrice,
  workerPrices,
} from "../../sdk/catalog/workerPrices";
import type { Answers } from "./lookUps";
import { type EndpointSide, endpointSide, holdersAfter, type Planned, type Side } from "./preview";
import { shownChanges } from "./shownChanges";

/** The price of one worker, in US dollars an hour. */
export interface SidePrice {
  readonly perHour: number;
  /** What is priced: a pool or a CPU instance, with the number of GPUs. */
  readonly of: string;
  readonly source: string;
}

/** The cost of an endpoint before or after the change, in US dollars an hour. */
export interface SideCost {
  readonly workersMin: number | undefined;
  readonly workersMax: number | undefined;
  readonly price: SidePrice | undefined;
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

/** Returns the cost of each endpoint and the total. */
export function costsOf(planned: readonly Planned[], sources: readonly PriceSource[]): Costs {
  const holders = holdersAfter(planned);
  const endpoints = planned
    .filter(({ kind }) => kind === "endpoint")
    .map((each) => {
      const { name, urn, op, before, after } = each;
      // These endpoints leave the stack but still exist. Another resource may take them over.
      const left = before.filter(({ id, isRetained }) => isRetained && id !== after?.id && !(id && holders.has(id)));
      const costs = (sides: readonly Side[]) => summed(sides.map((side) => sideCost(endpointSide(side), sources)));
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
    .reduce((sum, side) => sum + (sideCost(side, sources).fullScale ?? 0), 0);
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

function sideCost(side: EndpointSide, sources: readonly PriceSource[]): SideCost {
  const { workersMin, workersMax } = side;
  const isOff = workersMin === 0 && workersMax === 0;
  const price = isOff ? undefined : priceOfSide(side, sources);
  const perHour = typeof price === "object" ? price.perHour : isOff ? 0 : undefined;
  const times = (workers: number | undefined) =>
    // Zero workers cost nothing, even if their price is unknown.
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
function priceOfSide(side: EndpointSide, sources: readonly PriceSource[]): SidePrice | string {
  const { gpuIds, instanceIds, gpuCount } = side;
  if (instanceIds === undefined || gpuIds === undefined || gpuCount === undefined)
    return "its GPUs or CPUs are not known before up";
  const prices = workerPrices({ gpuIds, instanceIds, gpuCount }, sources);
  if (prices.length === 0) return "it names no GPU pool and no CPU instance";
  const missing = prices.filter(({ perHour }) => perHour === undefined).map(({ tier }) => tier);
  if (missing.length > 0) return `no price is known for ${missing.join(", ")}: give --prices`;
  const [dearest] = [...prices].sort((one, other) => (other.perHour ?? 0) - (one.perHour ?? 0));
  const { tier, perHour = 0, source = "" } = dearest as WorkerPrice;
  return { perHour, of: instanceIds !== "" || gpuCount === 1 ? tier : `${tier}, ${gpuCount} GPUs`, source };
}

/** Returns the sources of prices: a file, or the catalog and the public prices. */
export function priceSources({ gpus, cpus, owner, source, readAt }: Answers, given: PriceSource | undefined) {
  if (given) return [given];
  const [types] = gpus.values();
  const read = `read at ${readAt.toISOString()}`;
  return [
    catalogPrices({ gpus: types }, `${owner}'s catalog (${source}), ${read}`),
    catalogPrices({ cpus }, `${owner}'s catalog (REST v2), ${read}`),
    PUBLIC_PRICE_SOURCE,
  ];
}

function totalOf(costs: readonly { readonly name: string; readonly cost: SideCost | undefined }[]): TotalCost {
  const sum = (field: "fullScale" | "atRest") =>
    rounded(costs.reduce((total, { cost }) => total + (cost?.[field] ?? 0), 0));
  const unknown = costs.filter(({ cost }) => cost?.problem !== undefined).map(({ name }) => name);
  return { fullScale: sum("fullScale"), atRest: sum("atRest"), unknown };
}
