import { stockOf, worker } from "../standIn/world";
import { idle, jobs, onEachKind, type State } from "./state";

// The maximum, the endpoint, the key, the account, and reads that fail.

const RUNNING = [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")];
const OFF = { truth: ["no-workers-allowed"], certain: ["no-queue"], never: ["workers-busy"] };

const MAXIMUM: readonly State[] = [
  ...onEachKind({ name: "the maximum is 0", world: { endpoint: { max: 0 }, jobs: jobs(3) }, ...OFF }),
  { name: "the maximum is 0, and no job waits", world: { endpoint: { max: 0 } }, ...OFF },
  {
    name: "the maximum is 0, and two workers finish their jobs",
    world: { endpoint: { max: 0 }, workers: RUNNING.slice(1), jobs: jobs(2, 2) },
    ...OFF,
  },
  {
    name: "the maximum is 0, and the queue does not answer",
    world: { endpoint: { max: 0 }, faults: { health: 500, metrics: 500 } },
    ...OFF,
  },
  {
    name: "the maximum is 0, and a gateway refuses the queue",
    world: { endpoint: { max: 0 }, faults: { health: "html403" } },
    ...OFF,
  },
  {
    name: "the maximum is 0, there is no stock, and the quota is used",
    world: { endpoint: { max: 0 }, others: [30], stock: stockOf("NONE"), ...idle },
    ...OFF,
  },
];

const GATEWAYS = { truth: [], never: ["not-found", "no-access"] };
const REFUSED = { truth: ["no-access"] };

const KEY: readonly State[] = [
  { name: "the endpoint is deleted", world: { exists: false }, truth: ["not-found"] },
  {
    name: "the endpoint is deleted, and so are all others",
    world: { exists: false, others: [] },
    truth: ["not-found"],
  },
  {
    name: "a wrong address answers a page for everything",
    world: { faults: { v2: "html404", graphql: "html404", health: "html404", metrics: "html404" } },
    ...GATEWAYS,
  },
  {
    name: "the read of one endpoint lags behind the list",
    world: { ...idle, faults: { single: 404 } },
    truth: [],
    never: ["not-found"],
  },
  {
    name: "the read of one endpoint finds nothing, and the list and the queue fail",
    world: { exists: false, faults: { list: 500, health: 500, metrics: 500 } },
    truth: ["not-found"],
  },
  {
    name: "the queue does not know the endpoint yet, and management does",
    world: { faults: { health: 404, metrics: 404 } },
    truth: [],
    never: ["not-found"],
  },
  {
    name: "the key is wrong",
    world: { faults: { v2: 401, graphql: 401, health: 401, metrics: 401 } },
    ...REFUSED,
  },
  {
    name: "management and queue refuse the key's permissions",
    world: { faults: { v2: 403, graphql: 403, health: 403, metrics: 403 } },
    ...REFUSED,
  },
  {
    name: "management refuses the key's permissions, and jobs wait",
    world: { ...idle, faults: { v2: 403, graphql: 403 } },
    ...REFUSED,
  },
  {
    name: "management refuses the key's permissions, and no job waits",
    world: { faults: { v2: 403, graphql: 403 } },
    ...REFUSED,
  },
  {
    name: "management refuses the key's permissions, and the queue does not answer",
    world: { faults: { v2: 403, graphql: 403, health: 500, metrics: 500 } },
    ...REFUSED,
  },
  {
    name: "GraphQL answers the refusal with 200",
    apis: ["graphql"],
    world: { faults: { graphql: "unauthorized", v2: 401, health: 401, metrics: 401 } },
    ...REFUSED,
  },
  { name: "the queue refuses the key", world: { faults: { health: 403, metrics: 403 } }, ...REFUSED },
  { name: "the queue does not know the key", world: { faults: { health: 401, metrics: 401 } }, ...REFUSED },
  ...(["html401", "html403"] as const).flatMap((page): State[] => [
    {
      name: `a gateway answers everything with ${page}`,
      world: { faults: { v2: page, graphql: page, health: page, metrics: page } },
      ...GATEWAYS,
    },
    {
      name: `a gateway answers management with ${page}, and jobs wait`,
      world: { ...idle, faults: { v2: page, graphql: page } },
      ...GATEWAYS,
    },
    {
      name: `a gateway answers management with ${page}, and no job waits`,
      world: { faults: { v2: page, graphql: page } },
      ...GATEWAYS,
    },
    {
      name: `a gateway answers the queue with ${page}`,
      world: { faults: { health: page, metrics: page } },
      ...GATEWAYS,
    },
  ]),
  {
    name: "the key may not read the account, and there is no worker",
    world: { ...idle, faults: { limits: 403 } },
    truth: [],
    never: ["no-access"],
  },
  {
    name: "the key may not read workers, and there is one that starts",
    apis: ["v2"],
    world: { workers: [worker("INITIALIZING", { age: 20 })], jobs: jobs(1), faults: { workers: 403, releases: 403 } },
    truth: ["cold-start"],
    never: ["no-access"],
  },
];

const POOR = { currentSpend: 80, spendLimit: 80 };

const ACCOUNT: readonly State[] = [
  ...onEachKind({
    name: "the account spends its limit",
    world: { account: POOR, ...idle },
    truth: ["spend-limit"],
  }).filter(({ name }) => !name.includes("load")),
  {
    name: "the balance is used up",
    apis: ["graphql"],
    world: { account: { balance: -2, underBalance: true }, ...idle },
    truth: ["spend-limit"],
  },
  {
    name: "the balance is used up, and one worker runs",
    apis: ["graphql"],
    world: { account: { balance: -2, underBalance: true }, workers: RUNNING.slice(2), jobs: jobs(4, 1) },
    truth: ["spend-limit"],
  },
  {
    name: "the account spends its limit, and one of three workers runs",
    world: { account: POOR, workers: RUNNING.slice(2), jobs: jobs(14, 1) },
    truth: ["spend-limit"],
  },
  {
    name: "the account spends its limit, and all workers are busy",
    world: { account: POOR, workers: RUNNING, jobs: jobs(5, 3) },
    truth: ["workers-busy"],
    certain: ["spend-limit"],
  },
  {
    name: "the account spends almost its limit",
    world: { account: { currentSpend: 60, spendLimit: 80 }, ...idle },
    truth: [],
    never: ["spend-limit"],
  },
  {
    name: "the account spends its limit, and there is no stock",
    world: { account: POOR, stock: stockOf("NONE"), ...idle },
    truth: ["spend-limit"],
  },
  { name: "other endpoints use more than the quota", world: { others: [25, 8], ...idle }, truth: ["worker-quota"] },
  {
    name: "other endpoints use more than the quota, and one of three workers runs",
    world: { others: [25, 8], workers: RUNNING.slice(2), jobs: jobs(14, 1) },
    truth: ["worker-quota"],
  },
  {
    name: "the limits name a capacity that is no quota",
    apis: ["v2"],
    world: { account: { limits: { spendRate: {}, serverlessWorkers: { total: 30, availableCapacity: 3 } } }, ...idle },
    truth: [],
    never: ["worker-quota"],
  },
  {
    name: "the account may start 30 workers, all allotted, and a worker is about to start",
    world: { others: [27], ...idle },
    truth: [],
  },
  {
    name: "all workers are busy, and the quota has no room",
    world: { others: [27], workers: RUNNING, jobs: jobs(5, 3) },
    truth: ["workers-busy"],
    unsaid: /^Raise workersMax, or/,
  },
];

const ALL_DOWN = ["v2", "graphql", "health", "metrics", "requests", "status"];
const down = (fault: 500 | 429 | "silent" | "malformed") => Object.fromEntries(ALL_DOWN.map((each) => [each, fault]));

const BROKEN: readonly State[] = [
  ...([500, 429, "silent", "malformed"] as const).flatMap((fault): State[] => [
    {
      name: `everything answers ${fault}`,
      world: { faults: down(fault) },
      truth: [],
      never: ["not-found", "no-access"],
    },
    {
      name: `management answers ${fault}, and a worker is unhealthy`,
      world: { workers: [worker("UNHEALTHY")], jobs: jobs(2), faults: { v2: fault, graphql: fault } },
      truth: ["crash-loop"],
      never: ["not-found", "no-access"],
    },
    {
      name: `the queue answers ${fault}, and there is no worker`,
      world: { faults: { health: fault, metrics: fault } },
      truth: [],
      never: ["cold-start", "no-stock", "spend-limit"],
    },
  ]),
  ...[
    ["is empty", {}],
    ["counts no jobs", { workers: { idle: 0, running: 0 } }],
  ].map(([what, health]): State => ({ name: `the health record ${what}`, world: { health }, truth: [] })),
  {
    // The service leaves out counts that are 0.
    name: "the health record does not count waiting jobs",
    world: { health: { jobs: { completed: 3, inProgress: 0 }, workers: { idle: 0, running: 0 } } },
    truth: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
];

/** States of the maximum, the endpoint, the key and the account, and of reads that fail. */
export const ACCESS: readonly State[] = [...MAXIMUM, ...KEY, ...ACCOUNT, ...BROKEN];
