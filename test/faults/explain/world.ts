/**
 * What a stand-in of the service shows of one endpoint and its account. Written from the service's
 * facts, without the code that it judges. Times are seconds before the moment of the request.
 */
export interface World {
  /** "QUEUE" if unset. */
  readonly kind?: "QUEUE" | "LOAD_BALANCER";
  readonly cpu?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly pools?: readonly string[];
  readonly excluded?: readonly string[];
  readonly gpuCount?: number;
  readonly scaler?: readonly ["QUEUE_DELAY" | "REQUEST_COUNT", number];
  readonly places?: readonly string[];
  /** The ids of the endpoint's volumes. */
  readonly volumes?: readonly string[];
  readonly minCuda?: string;
  readonly cudas?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly version?: number;
  readonly rollout?: { readonly inProgress: boolean; readonly onLatest: number; readonly total: number };
  readonly workers?: readonly Worker[];
  /** Replaces the counts that follow from `workers`, in `/workers`. */
  readonly summary?: Readonly<Record<string, number>>;
  readonly jobs?: Readonly<Record<string, number>>;
  /** Replaces the counts of workers in `/health` that follow from `workers`. */
  readonly counted?: Readonly<Record<string, number>>;
  /** Replaces the whole answer of `/health`. */
  readonly health?: unknown;
  /** The level of a pool or GPU type, everywhere or by data center. "HIGH" if unset. */
  readonly stock?: Readonly<Record<string, Level | Readonly<Record<string, Level>>>>;
  /** The level that the catalog shows for a type as a whole, instead of its best place. */
  readonly topLevel?: Level;
  /** More GPUs than this on one machine are nowhere free. */
  readonly largestFree?: number;
  /** The CUDA versions of the machines that are free, and of those that are not. */
  readonly cudaHosts?: Readonly<Record<string, boolean>>;
  readonly limits?: Limits;
  /** Other endpoints' workersMax. */
  readonly others?: readonly number[];
  /** The number of endpoints that the list shows besides. */
  readonly crowd?: number;
  /** The names of the account's secrets. */
  readonly secrets?: readonly string[];
  /** "everywhere": it does not exist. "single": only the read of one endpoint misses it. */
  readonly absent?: "everywhere" | "single" | "management" | "list";
  readonly faults?: Partial<Record<Route, Fault>>;
  /** The service's clock minus this machine's, in seconds. */
  readonly clockAhead?: number;
  /** The log's stream stays open, as the service's does. */
  readonly openStream?: boolean;
}

export type Level = "NONE" | "LOW" | "MEDIUM" | "HIGH" | "SCARCE";

export type Line = readonly [secondsAgo: number, source: "container" | "system", text: string];

export interface Worker {
  readonly id: string;
  readonly status: "RUNNING" | "IDLE" | "INITIALIZING" | "THROTTLED" | "UNHEALTHY";
  readonly stale?: boolean;
  /** Seconds. Unset: the service does not say. */
  readonly up?: number;
  readonly place?: string;
  readonly log?: readonly Line[];
}

export interface Limits {
  readonly spend?: number;
  readonly spendLimit?: number;
  readonly balance?: number;
  readonly underBalance?: boolean;
  readonly quota?: number;
}

export type Route =
  | "endpoint"
  | "list"
  | "workers"
  | "releases"
  | "logs"
  | "health"
  | "limits"
  | "secrets"
  | "gpus"
  | "cpus"
  | "volumes"
  | "graphql"
  /** All of management. */
  | "management";

export interface Fault {
  readonly status: number;
  readonly body?: unknown;
  readonly html?: string;
}

export const ID = "q7w2e9r4t1";
export const KEY = "canary-key-of-the-second-stand-in";
/** A value of a variable, which nothing may print. */
export const PRIVATE = "hunter2-hunter2-hunter2";

/** The GPU types of each pool. */
export const POOLS: Readonly<Record<string, readonly string[]>> = {
  AMPERE_16: ["NVIDIA RTX A4000"],
  AMPERE_24: ["NVIDIA RTX A5000", "NVIDIA L4"],
  ADA_24: ["NVIDIA GeForce RTX 4090"],
  AMPERE_48: ["NVIDIA A40", "NVIDIA RTX A6000"],
  ADA_80_PRO: ["NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3"],
};

export const PLACES = ["EU-RO-1", "EU-CZ-1", "US-KS-2", "US-TX-3"];
export const VOLUMES = [
  { id: "volro", name: "ro", size: 50, dataCenterId: "EU-RO-1" },
  { id: "volks", name: "ks", size: 50, dataCenterId: "US-KS-2" },
];

const RANK: readonly Level[] = ["NONE", "SCARCE", "LOW", "MEDIUM", "HIGH"];

/** What the catalog says of a type in a place, for a machine that satisfies a CUDA rule. */
export function levelIn(
  world: World,
  type: string,
  place: string,
  gpus = 1,
  fits: (v: string) => boolean = () => true,
): Level {
  if (gpus > (world.largestFree ?? 8)) return "NONE";
  if (!Object.entries(cudaHosts(world)).some(([version, free]) => free && fits(version))) return "NONE";
  const pool = Object.keys(POOLS).find((name) => POOLS[name]?.includes(type)) ?? "";
  const level = world.stock?.[type] ?? world.stock?.[pool] ?? "HIGH";
  return typeof level === "string" ? level : (level[place] ?? "NONE");
}

export function best(levels: readonly Level[]): Level {
  return [...levels].sort((a, b) => RANK.indexOf(b) - RANK.indexOf(a))[0] ?? "NONE";
}

export function cudaHosts(world: World): Readonly<Record<string, boolean>> {
  return world.cudaHosts ?? { "12.4": true, "12.8": true, "13.0": false };
}

/** The counts of workers by status, under `/health`'s names or those of `/workers`. */
export function counts(world: World): Record<string, number> {
  const count = (status: Worker["status"]) => (world.workers ?? []).filter((worker) => worker.status === status).length;
  return {
    idle: count("IDLE"),
    initializing: count("INITIALIZING"),
    running: count("RUNNING"),
    throttled: count("THROTTLED"),
    unhealthy: count("UNHEALTHY"),
  };
}
