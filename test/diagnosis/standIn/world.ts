// A service in one state, written from the published facts only. It shares no code with the client
// or the emulator, so that a misreading in either shows.

/** How much there is of a GPU type, as REST v2 spells it. */
export type Level = "HIGH" | "MEDIUM" | "LOW" | "NONE";

/** The states of a worker in REST v2. */
export type WorkerStatus = "RUNNING" | "IDLE" | "INITIALIZING" | "THROTTLED" | "UNHEALTHY";

/** One line of a worker's log. */
export interface LogLine {
  readonly source: "container" | "system";
  readonly line: string;
  /** How long ago the line was written, in seconds. */
  readonly age: number;
}

export interface Worker {
  readonly id: string;
  readonly status: WorkerStatus;
  /** Time since it started, in seconds. `null`: not shown. */
  readonly age: number | null;
  readonly isStale: boolean;
  /** `null`: its log connection stays open without a byte. */
  readonly logs: readonly LogLine[] | null;
  readonly gpuTypeId: string;
  readonly dataCenterId: string;
}

/** A route that does not answer as it should. */
export type Fault =
  | number
  | "silent"
  | "malformed"
  /** A page of a gateway in front of the service. */
  | "html401"
  | "html403"
  | "html404"
  /** GraphQL's 200 with an error and without data, for a key that may not read. */
  | "unauthorized";

/** The routes that can have a fault. */
export type Route =
  | "endpoint"
  /** The read of one endpoint, without the list. */
  | "single"
  /** The list of endpoints, without the read of one. */
  | "list"
  | "workers"
  | "logs"
  | "releases"
  | "limits"
  | "secrets"
  | "catalog"
  | "volumes"
  | "health"
  | "metrics"
  | "requests"
  | "status"
  /** All of REST v2. */
  | "v2"
  /** All of GraphQL. */
  | "graphql";

export interface Job {
  readonly id: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

export interface World {
  readonly endpointId: string;
  readonly apiKey: string;
  /** `false`: there is no endpoint of this id. */
  readonly exists: boolean;
  readonly endpoint: {
    readonly type: "QUEUE" | "LOAD_BALANCER";
    readonly min: number;
    readonly max: number;
    readonly pools: readonly string[];
    readonly excludedTypes: readonly string[];
    readonly gpuCount: number;
    readonly dataCenterIds: readonly string[];
    readonly allowedCudaVersions: readonly string[];
    readonly minCudaVersion: string | null;
    readonly compliance: readonly string[];
    readonly scalerType: "QUEUE_DELAY" | "REQUEST_COUNT";
    readonly scalerValue: number;
    readonly version: number;
    readonly env: Readonly<Record<string, string>>;
    readonly image: string;
    readonly isCpu: boolean;
  };
  /** The names of the account's secrets. */
  readonly secrets: readonly string[];
  /** The volumes of the endpoint: the data center of each id. */
  readonly volumes: Readonly<Record<string, string>>;
  /** `workersMax` of the account's other endpoints. */
  readonly others: readonly number[];
  readonly workers: readonly Worker[];
  /** Overrides what `/releases` says of the rollout. */
  readonly rollout: Readonly<Record<string, unknown>>;
  /** The counts of jobs in `/health`. */
  readonly jobs: Readonly<Record<string, number>>;
  /** Overrides the whole response of `/health`. */
  readonly health: unknown;
  /** What `/requests` and `/status` know. */
  readonly recentJobs: readonly Job[];
  readonly account: {
    readonly quota: number | null;
    readonly spendLimit: number | null;
    readonly currentSpend: number | null;
    readonly balance: number | null;
    readonly underBalance: boolean | null;
    /** Overrides `/account/limits`, whose inner fields are not published. */
    readonly limits: unknown;
  };
  /** The stock of each GPU type in each data center, for one GPU. */
  readonly stock: Readonly<Record<string, Readonly<Record<string, Level>>>>;
  /** The most GPUs of one host that are free. A question about more finds nothing. */
  readonly freeTogether: number;
  /** The CUDA versions that the catalog offers, and whether a host with each is free. */
  readonly cuda: Readonly<Record<string, boolean>>;
  readonly faults: Readonly<Partial<Record<Route, Fault>>>;
  /** Only what the contract names: no single read, no worker states, no catalog, no account. */
  readonly isContractOnly: boolean;
}

/** Values that no output may hold, by where they are planted. */
export const PLANTED = {
  variable: "hf_PlantedVariable0123456789abcdef",
  oldVariable: "hf_PlantedRelease0123456789abcdef",
  printed: "PlantedPrinted0123456789abcdef",
  workerKey: "rpa_PlantedWorkerKey0123",
} as const;

/** The pool of each GPU type, `null` for a type that workers cannot use. */
export const POOL_OF: Readonly<Record<string, string | null>> = {
  "NVIDIA RTX A5000": "AMPERE_24",
  "NVIDIA L4": "AMPERE_24",
  "NVIDIA GeForce RTX 4090": "ADA_24",
  "NVIDIA A40": "AMPERE_48",
  "NVIDIA L40S": "ADA_48_PRO",
  "NVIDIA A100 80GB PCIe": "AMPERE_80",
  "NVIDIA B300": null,
};

/** The data centers, with the compliance of each. */
export const COMPLIANCE_OF: Readonly<Record<string, readonly string[]>> = {
  "EU-RO-1": ["GDPR"],
  "EU-CZ-1": ["GDPR", "ISO_IEC_27001"],
  "US-KS-2": ["SOC_2_TYPE_2"],
};

export const GPU_TYPES = Object.keys(POOL_OF);
export const PLACES = Object.keys(COMPLIANCE_OF);

/** Returns the same level everywhere, for every type or for the types of some pools. */
export function stockOf(level: Level, pools?: readonly string[]): World["stock"] {
  const types = GPU_TYPES.filter((type) => pools === undefined || pools.includes(POOL_OF[type] ?? ""));
  return Object.fromEntries(types.map((type) => [type, Object.fromEntries(PLACES.map((place) => [place, level]))]));
}

/** An endpoint in service without a job, in an account with stock, money and quota. */
export const QUIET: World = {
  endpointId: "ep1",
  apiKey: "rpa_key",
  exists: true,
  endpoint: {
    type: "QUEUE",
    min: 0,
    max: 3,
    pools: ["ADA_24"],
    excludedTypes: [],
    gpuCount: 1,
    dataCenterIds: [],
    allowedCudaVersions: [],
    minCudaVersion: null,
    compliance: [],
    scalerType: "QUEUE_DELAY",
    scalerValue: 4,
    version: 7,
    env: { HF_TOKEN: PLANTED.variable, MODEL: "llama" },
    image: "example/llama:3",
    isCpu: false,
  },
  secrets: ["other"],
  volumes: {},
  others: [1],
  workers: [],
  rollout: {},
  jobs: { completed: 12, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
  health: undefined,
  recentJobs: [],
  account: {
    quota: 30,
    spendLimit: 80,
    currentSpend: 1.5,
    balance: 200,
    underBalance: false,
    limits: undefined,
  },
  stock: stockOf("HIGH"),
  freeTogether: 8,
  cuda: { "12.4": true, "12.8": true },
  faults: {},
  isContractOnly: false,
};

/** Changes to a state. Records are merged, lists are replaced. */
export type Changes = {
  readonly [K in keyof World]?: World[K] extends readonly unknown[] ? World[K] : Change<World[K]>;
};
type Change<T> = T extends object ? Partial<T> : T;

/** Returns a quiet endpoint with changes. */
export function world(changes: Changes = {}): World {
  return {
    ...QUIET,
    ...changes,
    endpoint: { ...QUIET.endpoint, ...changes.endpoint },
    jobs: { ...QUIET.jobs, ...changes.jobs } as World["jobs"],
    account: { ...QUIET.account, ...changes.account },
  } as World;
}

let workers = 0;

/** Returns a worker that has run for five minutes. Its log is empty and silent. */
export function worker(status: WorkerStatus, changes: Partial<Worker> = {}): Worker {
  workers += 1;
  return {
    id: `w${workers}x7`,
    status,
    age: 300,
    isStale: false,
    logs: null,
    gpuTypeId: "NVIDIA GeForce RTX 4090",
    dataCenterId: "EU-RO-1",
    ...changes,
  };
}

/** Returns log lines, a second apart, of which the last was written `age` seconds ago. */
export function log(age: number, ...lines: readonly `${"system" | "container"}: ${string}`[]): LogLine[] {
  return lines.map((text, index) => {
    const [source, line] = [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 2)];
    return { source: source === "system" ? "system" : "container", line, age: age + lines.length - 1 - index };
  });
}
