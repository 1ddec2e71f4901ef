import { WAITS_AND_MIXTURES } from "./mixedScenarios";
import type { Scenario } from "./scenario";
import { CRASH_LOOP, NO_CAPACITY, OF_ROWS, waiting } from "./scenarios";
import { stockOf, type World, worker, world } from "./world";

// Services that show less than they should, and the list of all scenarios.

const LOOPING = { logs: CRASH_LOOP };

/** All settings that can keep an endpoint from a worker. */
const NARROW = {
  pools: ["ADA_24", "AMPERE_24", "AMPERE_48", "AMPERE_80"],
  minCudaVersion: "12.4",
  compliance: ["GDPR"],
};
const HIDDEN_ACCOUNT: World["account"] = {
  quota: null,
  spendLimit: null,
  currentSpend: null,
  balance: null,
  underBalance: null,
  limits: { spendRate: {}, serverlessWorkers: {} },
};

/** Services that do not say all. */
const ODD: readonly Scenario[] = [
  {
    name: "all counters are 0, and neither the catalog nor the account answers",
    state: {
      endpoint: NARROW,
      volumes: { vol1: "EU-RO-1" },
      account: HIDDEN_ACCOUNT,
      jobs: waiting(2),
      faults: { catalog: 500, limits: 500 },
    },
    expect: { mustInclude: [5, 6, 7], mustNotInclude: [1, 4, 12, 14, 15] },
  },
  {
    name: "all counters are 0, and the account's limits have no known fields",
    state: {
      account: { ...HIDDEN_ACCOUNT, limits: { spendRate: { a: { b: 1 } }, serverlessWorkers: { c: "n/a" } } },
      jobs: waiting(2),
    },
    expect: { mustInclude: [5, 6], mustNotInclude: [1, 4, 8, 9, 15] },
  },
  ...([500, "silent", "malformed"] as const).map(
    (catalog): Scenario => ({
      name: `all counters are 0, and the catalog ${typeof catalog === "number" ? "fails" : `is ${catalog}`}`,
      state: { jobs: waiting(2), faults: { catalog } },
      expect: { mustInclude: [7], mustNotInclude: [1, 4, 5, 8, 9, 15] },
    }),
  ),
  {
    name: "the endpoint's workers are shown without the queue's view",
    state: {
      endpoint: { max: 2 },
      workers: [worker("RUNNING"), worker("RUNNING")],
      health: {
        jobs: waiting(5),
        workers: { idle: 0, initializing: 2, ready: 0, running: 0, throttled: 0, unhealthy: 0 },
      },
    },
    expect: { anyOf: [12, 13, 14, 15, 17, "unknown"], mustNotInclude: [1, 4, ...NO_CAPACITY] },
  },
  {
    name: "as many workers as allowed run, and the queue does not answer",
    state: {
      workers: [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")],
      faults: { health: 500, metrics: 500, requests: 500, status: 500 },
    },
    expect: { mustNotInclude: [1, 2, 3, 5, 8, 9] },
  },
  ...[
    ["counts only idle and running workers", { jobs: { inQueue: 2 }, workers: { idle: 0, running: 0 } }],
    ["has no workers", { jobs: { inQueue: 2 } }],
    ["is empty", {}],
  ].map(
    ([what, health]): Scenario => ({
      name: `the health record ${what}`,
      state: { health },
      expect: { mustNotInclude: [1, 4, 5, 8, 9, 12, 14, 15] },
      ...(what !== "is empty" && { graphql: { anyOf: [7, 17, 20, "unknown"] }, v2: { anyOf: [7, 17, 20, "unknown"] } }),
    }),
  ),
  ...([403, 404] as const).map(
    (workers): Scenario => ({
      name: `the list of workers answers ${workers}, and the queue counts an unhealthy one`,
      state: { workers: [worker("UNHEALTHY", LOOPING)], jobs: waiting(2), faults: { workers } },
      expect: { mustInclude: [14], mustNotInclude: [1, 2, 3, 4, 5, 8, 9, 15] },
    }),
  ),
  {
    name: "the logs answer 403, and a worker is unhealthy",
    state: { workers: [worker("UNHEALTHY", LOOPING)], jobs: waiting(2), faults: { logs: 403 } },
    expect: { mustInclude: [14], mustNotInclude: [1, 2, 3, 4, 5, 8, 9, 15] },
  },
  {
    name: "a worker shows neither its age nor its place",
    state: { workers: [worker("INITIALIZING", { age: null })], jobs: waiting(2) },
    expect: { anyOf: [12, 13, 14, 17, "unknown"], mustNotInclude: [1, 4, 5, 8, 9, 15] },
  },
];

/** Services with one interface. */
const ONE_INTERFACE: readonly Scenario[] = [
  {
    name: "there is only GraphQL: the container crashes, and no worker is unhealthy",
    apis: ["graphql"],
    state: { workers: [worker("RUNNING", LOOPING)], jobs: waiting(2), faults: { v2: 404 } },
    expect: { anyOf: [14, 15, 16, "unknown"], mustNotInclude: [1, 2, 4, ...NO_CAPACITY] },
  },
  {
    name: "there is only GraphQL: a worker is unhealthy",
    apis: ["graphql"],
    state: { workers: [worker("UNHEALTHY", LOOPING)], jobs: waiting(2), faults: { v2: 404 } },
    expect: { mustInclude: [14], mustNotInclude: [1, 2, 4, 5, 8, 9, 15] },
  },
  {
    name: "there is only REST v2: the container crashes",
    apis: ["v2"],
    state: { workers: [worker("RUNNING", LOOPING)], jobs: waiting(2), faults: { graphql: 410 } },
    expect: { anyOf: [14, 15, 16, "unknown"], mustNotInclude: [1, 2, 4, ...NO_CAPACITY] },
    logs: { mustInclude: [14], first: [14], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "there is only REST v2: there is no stock",
    apis: ["v2"],
    state: { stock: stockOf("NONE"), jobs: waiting(2), faults: { graphql: 410 } },
    expect: { mustInclude: [7], mustNotInclude: [1, 2, 4, 5, 8, 9, 15] },
  },
  ...[
    ["the maximum is 0", { endpoint: { max: 0 } }],
    ["all counters are 0", {}],
  ].map(
    ([what, state]): Scenario => ({
      name: `the service has the documented fields only: ${what}`,
      apis: ["graphql"],
      state: {
        ...(state as Scenario["state"]),
        isContractOnly: true,
        faults: { v2: 404 },
        health: { jobs: waiting(2), workers: { idle: 0, running: 0 } },
      },
      expect:
        what === "the maximum is 0"
          ? { mustInclude: [1], first: [1], mayBeCertain: [1] }
          : { mustInclude: [5, 6, 7], mustNotInclude: [1, 2, 3, 4, 15] },
    }),
  ),
];

/** All scenarios. */
export const SCENARIOS: readonly Scenario[] = [...OF_ROWS, ...WAITS_AND_MIXTURES, ...ODD, ...ONE_INTERFACE];

/** Returns the state of a scenario, with an id and a key that no other run has. */
export function stateOf({ state }: Scenario, run: number): World {
  const own = { ...world(state), endpointId: `ep${run}run`, apiKey: `rpa_run${run}key0123456789` };
  const rename = (line: string) => line.replace("Bearer rpa_key", `Bearer ${own.apiKey}`);
  const workers = own.workers.map((each) => ({
    ...each,
    logs: each.logs?.map((one) => ({ ...one, line: rename(one.line) })) ?? null,
  }));
  return { ...own, workers };
}
