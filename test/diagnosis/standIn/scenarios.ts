import type { Finding, Scenario } from "./scenario";
import { type LogLine, log, stockOf, worker } from "./world";

// One scenario or more for each row of the table.

/** What the state of an account, the catalog and the endpoint decide when there is no worker. */
export const NO_CAPACITY: readonly Finding[] = [5, 6, 7, 8, 9, 10, 11];

/** Causes that only a queue can have. */
const OF_QUEUES: readonly Finding[] = [4, 15, 16, 19];

/** Returns the counts of jobs of an endpoint that has run some before. */
export const waiting = (inQueue: number, inProgress = 0) => ({
  completed: 12,
  failed: 0,
  inProgress,
  inQueue,
  retried: 0,
});

/** A container that ends as soon as it starts, again and again. */
export const CRASH_LOOP: readonly LogLine[] = Array.from({ length: 6 }, (_, round) =>
  log(
    (6 - round) * 20,
    "system: create container example/llama:3",
    "system: start container for example/llama:3: begin",
    "container: Traceback (most recent call last):",
    'container:   File "/app/handler.py", line 3, in <module>',
    "container: ModuleNotFoundError: No module named 'vllm'",
  ),
).flat();

/** A worker that has started once and waits for jobs. */
export const STARTED: readonly LogLine[] = log(
  240,
  "system: start container for example/llama:3: begin",
  "container: --- Starting Serverless Worker |  Version 1.7.9 ---",
  "container: Jobs in queue: 0",
);

const pullError = (line: string) =>
  log(30, "system: create container example/llama:3", `system: ${line}`, `system: ${line}`);

const UNPULLED: Omit<Scenario, "name" | "state"> = {
  expect: { anyOf: [12, 13, 14, 17], mustNotInclude: [1, 2, 3, 4] },
  logs: { mustInclude: [12], first: [12], mayBeCertain: [12], mustNotInclude: [1, 2, 3, 4, 13] },
  needsLogs: true,
};

/** What a client may do, and what the endpoint allows: rows 1–4. */
const ALLOWED: readonly Scenario[] = [
  {
    name: "the maximum is 0",
    state: { endpoint: { max: 0 }, jobs: waiting(3) },
    expect: { mustInclude: [1], first: [1], mustNotInclude: [2, 3, 4, 15], mayBeCertain: [1] },
  },
  {
    name: "the maximum is 0 after idle days, and nobody has sent a job",
    state: { endpoint: { max: 0 } },
    expect: { mustInclude: [1], first: [1], mayBeCertain: [1] },
  },
  {
    name: "the endpoint is deleted",
    state: { exists: false },
    expect: { mustInclude: [2], first: [2], mayBeCertain: [2] },
  },
  {
    name: "the endpoint is load-balancing",
    state: { endpoint: { type: "LOAD_BALANCER" }, workers: [worker("INITIALIZING", { age: 20 })], jobs: waiting(0) },
    expect: { anyOf: [2, 13, 17, "unknown"], mustNotInclude: OF_QUEUES, mayBeCertain: [2] },
  },
  {
    name: "the key has no right to the queue",
    state: { jobs: waiting(1), faults: { health: 403, metrics: 403, requests: 403, status: 403 } },
    expect: { mustInclude: [3], mayBeCertain: [3] },
  },
  {
    name: "the key is wrong",
    state: { faults: { v2: 401, graphql: 401, health: 401, metrics: 401, requests: 401, status: 401 } },
    expect: { mustInclude: [3], first: [3], mayBeCertain: [3] },
  },
  {
    name: "all workers are busy",
    state: { workers: [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")], jobs: waiting(5, 3) },
    expect: {
      mustInclude: [4],
      first: [4],
      mayBeCertain: [4],
      mustNotInclude: [1, 2, 3, ...NO_CAPACITY, 15, 16, 18],
    },
  },
  {
    name: "both workers run three jobs, so their concurrency is not known",
    state: { endpoint: { max: 2 }, workers: [worker("RUNNING"), worker("RUNNING")], jobs: waiting(4, 3) },
    expect: { anyOf: [4, 15, 16, "unknown"], mustNotInclude: NO_CAPACITY },
  },
  {
    name: "as many workers as allowed run, but only one has a job",
    state: { workers: [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")], jobs: waiting(5, 1) },
    expect: { anyOf: [14, 15, 16, "unknown"], mustNotInclude: [4, ...NO_CAPACITY] },
  },
  {
    name: "two of three workers are busy, and the third is throttled",
    state: { workers: [worker("RUNNING"), worker("RUNNING"), worker("THROTTLED")], jobs: waiting(5, 2) },
    expect: { anyOf: [4, 7, 19, "unknown"], mustNotInclude: [1, 5, 8, 9, 15, 16] },
  },
];

/** What keeps the service from giving the endpoint a worker: rows 5–11. */
const CAPACITY: readonly Scenario[] = [
  {
    name: "other endpoints use the quota of workers",
    state: { others: [25, 2], jobs: waiting(2) },
    // The quota is checked when an endpoint is saved, so an account may allot all of it.
    expect: { mustInclude: [5], mustNotInclude: [1, 4, 8, 9, 15] },
  },
  {
    name: "the balance is used up",
    state: { account: { balance: -2, underBalance: true }, jobs: waiting(2) },
    // REST v2 does not show the balance, so it cannot exclude this.
    expect: { mustInclude: [6], mustNotInclude: [1, 4, 5, 8, 9] },
    graphql: { mustInclude: [6], first: [6], mustNotInclude: [1, 4, 5, 8, 9], mayBeCertain: [6] },
  },
  {
    name: "the account spends its limit",
    state: { account: { currentSpend: 80, spendLimit: 80 }, jobs: waiting(2) },
    expect: { mustInclude: [6], first: [6], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "no type of the pools has stock anywhere",
    state: {
      endpoint: { pools: ["ADA_24", "AMPERE_48"] },
      stock: stockOf("NONE", ["ADA_24", "AMPERE_48"]),
      jobs: waiting(2),
    },
    expect: { mustInclude: [7], first: [7], mustNotInclude: [1, 4, 5, 8, 9, 12, 14, 15] },
  },
  {
    name: "there is no stock, and the workers are throttled",
    state: { workers: [worker("THROTTLED"), worker("THROTTLED")], stock: stockOf("NONE"), jobs: waiting(4) },
    expect: { mustInclude: [7], mustNotInclude: [1, 4, 8, 9, 15] },
  },
  {
    name: "there is stock, but not in the places of the endpoint",
    state: {
      endpoint: { dataCenterIds: ["EU-RO-1"] },
      stock: { "NVIDIA GeForce RTX 4090": { "EU-RO-1": "NONE", "EU-CZ-1": "HIGH", "US-KS-2": "HIGH" } },
      jobs: waiting(2),
    },
    expect: { mustInclude: [7], first: [7], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "there is stock for one GPU, but workers have two",
    state: { endpoint: { gpuCount: 2 }, freeTogether: 1, jobs: waiting(2) },
    expect: { mustInclude: [7], first: [7], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "the only type with stock is excluded",
    state: {
      endpoint: { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4"] },
      stock: { "NVIDIA L4": { "EU-RO-1": "HIGH" }, "NVIDIA RTX A5000": { "EU-RO-1": "NONE" } },
      jobs: waiting(2),
    },
    expect: { mustInclude: [7], first: [7], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "no host has the CUDA version",
    state: { endpoint: { minCudaVersion: "13.0" }, jobs: waiting(2) },
    expect: { mustInclude: [8], first: [8], mustNotInclude: [1, 4, 5, 9] },
  },
  {
    name: "the hosts with the CUDA version are full",
    state: { endpoint: { allowedCudaVersions: ["12.8"] }, cuda: { "12.4": true, "12.8": false }, jobs: waiting(2) },
    expect: { mustInclude: [8], first: [8], mustNotInclude: [1, 4, 5, 9] },
  },
  {
    name: "a host has CUDA 12.11, which is newer than 12.2",
    state: { endpoint: { minCudaVersion: "12.2" }, cuda: { "12.11": true }, jobs: waiting(2) },
    expect: { notFirst: [8], mustNotInclude: [1, 4, 5, 9] },
  },
  {
    name: "the data center of the volume has no such GPU",
    state: {
      endpoint: { pools: ["AMPERE_80"] },
      volumes: { vol1: "US-KS-2" },
      stock: { "NVIDIA A100 80GB PCIe": { "EU-RO-1": "HIGH", "EU-CZ-1": "HIGH", "US-KS-2": "NONE" } },
      jobs: waiting(2),
    },
    expect: { mustInclude: [9], first: [7, 9], mustNotInclude: [1, 4, 5, 8] },
  },
  {
    name: "no data center has the compliance",
    state: { endpoint: { compliance: ["HIPAA"] }, jobs: waiting(2) },
    // REST v2 does not show the compliance of an endpoint.
    expect: { anyOf: [7, 10, 17, "unknown"], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "the endpoint has four pools, and its worker starts for a quarter of an hour in silence",
    state: {
      endpoint: { pools: ["ADA_24", "AMPERE_24", "AMPERE_48", "AMPERE_80"] },
      workers: [worker("INITIALIZING", { age: 900 })],
      jobs: waiting(2),
    },
    expect: { anyOf: [12, 13, 14, 17, "unknown"], mustNotInclude: [1, 4, 5, 15] },
  },
];

/** What happens on a worker: rows 12–16. */
const ON_WORKERS: readonly Scenario[] = [
  ...[
    ["has no such tag", "error pulling image: manifest for example/llama:3 not found: manifest unknown"],
    [
      "is private",
      "error pulling image: Error response from daemon: pull access denied for example/llama, repository does not " +
        "exist or may require 'docker login': denied: requested access to the resource is denied",
    ],
    [
      "is for another processor",
      "error pulling image: no matching manifest for linux/amd64 in the manifest list entries",
    ],
  ].map(
    ([what, line = ""]): Scenario => ({
      name: `the image ${what}`,
      state: { workers: [worker("INITIALIZING", { age: 240, logs: pullError(line) })], jobs: waiting(2) },
      ...UNPULLED,
    }),
  ),
  {
    name: "the image could not be pulled yesterday, and its worker runs today",
    state: {
      workers: [worker("IDLE", { logs: [...log(86_400, "system: error pulling image: i/o timeout"), ...STARTED] })],
    },
    expect: { notFirst: [12, 14], mustNotInclude: NO_CAPACITY, mayBeCertain: ["nothing"] },
  },
  {
    name: "the image is large",
    state: {
      workers: [
        worker("INITIALIZING", {
          age: 200,
          logs: log(
            2,
            "system: create container example/llama:3",
            "system: 3 Pulling from example/llama",
            "system: a3ed95caeb02 Pulling fs layer",
            "system: a3ed95caeb02 Downloading [=====>      ] 4.1GB/19.8GB",
            "system: a3ed95caeb02 Downloading [======>     ] 4.6GB/19.8GB",
          ),
        }),
      ],
      jobs: waiting(2),
    },
    expect: { anyOf: [12, 13, 14, 17], mustNotInclude: [1, 2, 3, 4, 5, 8, 9] },
    logs: { mustInclude: [13], first: [13], mustNotInclude: [4, 12, 14, ...NO_CAPACITY], mayBeCertain: [13] },
    needsLogs: true,
  },
  {
    name: "the container crashes, and the worker is unhealthy",
    state: { workers: [worker("UNHEALTHY", { logs: CRASH_LOOP })], jobs: waiting(2) },
    expect: { mustInclude: [14], mustNotInclude: [1, 4, 5, 8, 9, 15] },
    logs: { first: [14], mustNotInclude: [1, 4, 12, 13, ...NO_CAPACITY], mayBeCertain: [14] },
    needsLogs: true,
  },
  ...(["RUNNING", "INITIALIZING", "THROTTLED"] as const).map(
    (status): Scenario => ({
      name: `the container crashes, no worker is unhealthy, and one is ${status}`,
      state: { workers: [worker(status, { logs: CRASH_LOOP })], jobs: waiting(2) },
      expect: { anyOf: [7, 11, 12, 13, 14, 15, 16, 17, "unknown"], mustNotInclude: [1, 4] },
      logs: { mustInclude: [14], first: [14], mustNotInclude: [1, 4, 12, 13, ...NO_CAPACITY], mayBeCertain: [14] },
      needsLogs: true,
    }),
  ),
  {
    name: "the container crashes, and its own lines are already gone",
    state: {
      workers: [worker("INITIALIZING", { logs: CRASH_LOOP.filter(({ source }) => source === "system") })],
      jobs: waiting(2),
    },
    expect: { anyOf: [11, 12, 13, 14, 17, "unknown"], mustNotInclude: [1, 4] },
    logs: { mustInclude: [14], first: [14], mustNotInclude: [1, 4, ...NO_CAPACITY], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "a worker is unhealthy, and its log is silent",
    state: { workers: [worker("UNHEALTHY")], jobs: waiting(2) },
    expect: { mustInclude: [14], anyOf: [12, 13, 14], mustNotInclude: [1, 4, 5, 8, 9, 15] },
  },
  {
    name: "a container has started twice in a day and is well",
    state: {
      workers: [
        worker("IDLE", {
          age: 90_000,
          logs: [...STARTED.map((each) => ({ ...each, age: each.age + 86_000 })), ...STARTED],
        }),
      ],
    },
    expect: { notFirst: [12, 14], mustNotInclude: NO_CAPACITY, mayBeCertain: ["nothing"] },
  },
  {
    name: "the handler takes no jobs",
    state: {
      workers: [
        worker("IDLE", {
          logs: log(200, "system: start container for example/llama:3: begin", "container: model loaded in 41 s"),
        }),
      ],
      jobs: waiting(3),
    },
    expect: { mustInclude: [15], mustNotInclude: [1, 4, 19, ...NO_CAPACITY] },
    logs: { first: [15], mustNotInclude: [1, 4, 12, 13, 14, 19, ...NO_CAPACITY] },
  },
  ...[
    ["1.9.0", "sends all jobs to one worker", { mustInclude: [16] }],
    ["1.10.1", "is repaired, though one worker has all jobs", { mustNotInclude: [16, ...NO_CAPACITY] }],
  ].map(
    ([version, what, logs]): Scenario => ({
      name: `the worker package ${version} ${what}`,
      state: {
        volumes: { vol1: "EU-RO-1" },
        workers: (["RUNNING", "IDLE", "IDLE"] as const).map((status) =>
          worker(status, {
            logs: log(
              200,
              "system: start container for example/llama:3: begin",
              `container: --- Starting Serverless Worker |  Version ${version} ---`,
            ),
          }),
        ),
        jobs: waiting(4, 1),
      },
      expect: { anyOf: [15, 16, "unknown"], mustNotInclude: [1, 4, ...NO_CAPACITY] },
      logs: logs as Scenario["logs"],
    }),
  ),
];

/** The scenarios of rows 1–16. */
export const OF_ROWS: readonly Scenario[] = [...ALLOWED, ...CAPACITY, ...ON_WORKERS];
