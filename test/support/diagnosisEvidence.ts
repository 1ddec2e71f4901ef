import type { CatalogGpu, StockLevel } from "../../sdk/catalog/record";
import { decideCauses } from "../../sdk/diagnosis/decide";
import {
  type Evidence,
  type LimitFacts,
  type NotSeen,
  ONLY_V2,
  type Part,
  type QueueFacts,
  type RolloutFacts,
  type ServiceRefusal,
  type WorkerFacts,
} from "../../sdk/diagnosis/evidence";

import type { EndpointFacts } from "../../sdk/diagnosis/facts";
import { judgeStock } from "../../sdk/diagnosis/stock";

export const NOW = Date.parse("2026-11-22T12:00:00Z");
export const refusal = (is: ServiceRefusal["is"], isOwn = true): ServiceRefusal => ({
  is,
  isOwn,
  readAt: NOW - 1000,
  source: "REST v2",
});
export const MINUTE = 60_000;
export const NONE: NotSeen = { why: undefined };

export const part = <T>(value: T): Part<T> => ({ value, readAt: NOW - 1000, source: "REST v2" });

export const ENDPOINT: EndpointFacts = {
  name: "llama",
  isLoadBalancer: false,
  workersMin: 0,
  workersMax: 3,
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  gpuIds: "ADA_24",
  gpuCount: 1,
  locations: "",
  minCudaVersion: "",
  allowedCudaVersions: "",
  volumeIds: [],
};

export function workers(counts: Partial<WorkerFacts> = {}): WorkerFacts {
  const states = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, ...counts };
  const total = states.running + states.idle + states.initializing + states.throttled + states.unhealthy;
  return { ...states, total, stale: 0, startingMs: undefined, ...counts };
}

export const queue = (inQueue: number, inProgress = 0, counts: Partial<WorkerFacts> = {}): QueueFacts => ({
  inQueue,
  inProgress,
  completed: 0,
  failed: 0,
  workers: workers(counts),
});

export const gpu = (stock: StockLevel, more: Partial<CatalogGpu> = {}): CatalogGpu => ({
  id: "NVIDIA GeForce RTX 4090",
  name: "4090",
  pool: "ADA_24",
  stock,
  dataCenters: [{ id: "EU-RO-1", stock }],
  ...more,
});
/** Returns what the catalog shows about an endpoint, by default `ENDPOINT`. */
export const stock = (
  gpus: readonly CatalogGpu[],
  settings: Partial<EndpointFacts> = {},
  volumes?: readonly string[],
) => judgeStock({ ...ENDPOINT, ...settings }, gpus, volumes);
export const LIMITS: LimitFacts = {
  workerQuota: 10,
  workersUsed: 3,
  spendLimit: 80,
  spend: 1,
  isUnderBalance: false,
};

/** Evidence of an endpoint with a waiting job and no worker, with changes. */
export function evidence(changes: Partial<Evidence> & { readonly settings?: Partial<EndpointFacts> } = {}): Evidence {
  const { settings, ...others } = changes;
  return {
    awaited: "jobs",
    waitedMs: undefined,
    now: NOW,
    endpoint: part({ ...ENDPOINT, ...settings }),
    listed: part(false),
    workers: part(workers()),
    rollout: ONLY_V2,
    queue: part(queue(1)),
    stock: NONE,
    volumes: NONE,
    limits: NONE,
    secrets: NONE,
    logs: NONE,
    ...others,
  };
}

export const log = (...lines: readonly (readonly [source: string, line: string, second?: number])[]) =>
  part([
    {
      workerId: "w1",
      lines: lines.map(([source, line, second = 0]) => ({
        workerId: "w1",
        source,
        line,
        ts: new Date(NOW - MINUTE + second * 1000).toISOString(),
      })),
    },
  ]);

export function decided(given: Evidence) {
  const { causes, certainty, others } = decideCauses(given);
  return { causes: causes.map(({ id }) => id), certainty, others: others.map(({ id }) => id) };
}

export const starting = part(workers({ initializing: 1, startingMs: MINUTE }));
export const START = "start container for app:1: begin";
export const rollout: RolloutFacts = {
  inProgress: true,
  workersOnLatest: 0,
  workersTotal: 1,
  changed: [],
  releasedAt: undefined,
};
export const CLEAN = { stock: part(stock([gpu("High")])), limits: part(LIMITS) };

export const gone = { why: "404", failure: refusal("absent") };
export const refused = { why: "401", failure: refusal("refused") };
export const aged = <T>(given: Part<T>, ms: number): Part<T> =>
  "value" in given
    ? { ...given, readAt: NOW - ms }
    : { ...given, ...(given.failure && { failure: { ...given.failure, readAt: NOW - ms } }) };
