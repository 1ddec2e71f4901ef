import type { Scenario } from "./scenario";
import { CRASH_LOOP, NO_CAPACITY, STARTED, waiting } from "./scenarios";
import { log, PLANTED, stockOf, worker } from "./world";

// Waits that end by themselves, two causes at once, and what looks like a cause.

const LOOPING = { logs: CRASH_LOOP };

/** A worker that takes jobs. */
const WELL = [
  "system: start container for example/llama:3: begin",
  "container: --- Starting Serverless Worker |  Version 1.7.9 ---",
  "container: Jobs in queue: 1",
  "container: Started.",
  "container: Finished.",
] as const;

/** Rows 17–21, and endpoints without a fault. */
const WAITS: readonly Scenario[] = [
  {
    name: "the first worker has just begun to start",
    state: { workers: [worker("INITIALIZING", { age: 15 })], jobs: waiting(1) },
    expect: { anyOf: [13, 17], first: [13, 17], mustNotInclude: [1, 2, 3, 4, 15, 16, 18, ...NO_CAPACITY] },
  },
  {
    name: "a rollout replaces a worker that still has a job",
    state: {
      endpoint: { max: 2 },
      workers: [worker("RUNNING", { isStale: true }), worker("INITIALIZING", { age: 30 })],
      jobs: waiting(2, 1),
    },
    expect: { mustInclude: [18], first: [18], mustNotInclude: [1, 4, 15, ...NO_CAPACITY] },
    graphql: { mustInclude: [], anyOf: [13, 17, 18], first: [13, 17, 18] },
  },
  {
    name: "a rollout replaces the only worker, which still has a job",
    state: { endpoint: { max: 1 }, workers: [worker("RUNNING", { isStale: true })], jobs: waiting(2, 1) },
    // Row 4 fits, too: as many workers as allowed run, each with a job.
    expect: { mustInclude: [18], mustNotInclude: [1, 15, ...NO_CAPACITY], mayBeCertain: [4] },
    graphql: { mustInclude: [], anyOf: [4, 18] },
  },
  {
    name: "no worker has the latest version, because there is none",
    state: { rollout: { inProgress: false, percentOnLatest: 0, workersTotal: 0 }, jobs: waiting(1) },
    expect: { anyOf: [7, 17, 20, "unknown"], mustNotInclude: [1, 4, 5, 8, 9, 15, 18] },
  },
  {
    name: "a job waits for less than the queue delay",
    state: {
      endpoint: { scalerValue: 30 },
      workers: [worker("RUNNING", { logs: STARTED })],
      jobs: waiting(1, 1),
      recentJobs: [
        { id: "job1", status: "IN_PROGRESS", delayTime: 80, workerId: "w1x7" },
        { id: "job2", status: "IN_QUEUE", delayTime: 5000 },
      ],
    },
    expect: { mustInclude: [19], first: [19], mustNotInclude: [1, 4, 12, 14, 15, 16, ...NO_CAPACITY] },
  },
  {
    name: "a job waits beside a busy worker, and the scaler counts requests",
    state: {
      endpoint: { scalerType: "REQUEST_COUNT", scalerValue: 4 },
      workers: [worker("RUNNING", { logs: STARTED })],
      jobs: waiting(1, 1),
    },
    // For two requests and four for each worker, the scaler asks for one worker.
    expect: { mustNotInclude: [1, 4, 12, 14] },
  },
  {
    name: "nothing explains why there is no worker",
    state: { jobs: waiting(2) },
    // Stock is an estimate, so a high level does not exclude that there is none.
    expect: {
      anyOf: [7, 17, 20, "unknown"],
      mustNotInclude: [1, 2, 3, 4, 5, 8, 9, 11, 12, 13, 14, 15, 16, 18, 19],
    },
    graphql: { mustNotInclude: [1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19] },
  },
  {
    name: "a job was lost, and none waits",
    state: {
      jobs: { completed: 12, failed: 1, inProgress: 0, inQueue: 0, retried: 1 },
      recentJobs: [{ id: "job1", status: "FAILED", error: "job timed out after 1 retries", retries: 1 }],
    },
    expect: {
      anyOf: [21, "nothing", "unknown"],
      mustNotInclude: [1, 4, 5, 8, 9, 12, 14, 15],
      mayBeCertain: ["nothing"],
    },
  },
  {
    name: "one throttled worker is left after the scale to zero",
    state: { workers: [worker("THROTTLED")] },
    expect: {
      anyOf: ["nothing", "unknown"],
      mayBeCertain: ["nothing"],
      mustNotInclude: [1, 4, 12, 14, 15, ...NO_CAPACITY],
    },
  },
  {
    name: "two workers are throttled for the moment, though there is stock",
    state: { workers: [worker("THROTTLED", { age: 8 }), worker("THROTTLED", { age: 8 })], jobs: waiting(2) },
    expect: { anyOf: [7, 17, "unknown"], mustNotInclude: [1, 4, 5, 8, 9, 15] },
  },
  {
    name: "nobody has sent a job, and there is no worker",
    state: {},
    expect: {
      anyOf: ["nothing", "unknown"],
      mayBeCertain: ["nothing"],
      mustNotInclude: [1, 4, 12, 14, 15, ...NO_CAPACITY],
    },
  },
  {
    name: "a worker has the only job",
    state: { workers: [worker("RUNNING", { logs: STARTED })], jobs: waiting(0, 1) },
    expect: {
      anyOf: ["nothing", "unknown"],
      mayBeCertain: ["nothing"],
      mustNotInclude: [1, 4, 12, 14, 15, 16, 18, ...NO_CAPACITY],
    },
  },
];

/** Two causes: the first is the one without whose end nothing else helps. */
const TWO: readonly Scenario[] = [
  {
    name: "there are two causes: the maximum is 0, and there is no stock",
    state: { endpoint: { max: 0 }, stock: stockOf("NONE"), jobs: waiting(2) },
    expect: { mustInclude: [1], first: [1], mayBeCertain: [1] },
  },
  {
    name: "there are two causes: the maximum is 0, and an unhealthy worker is left",
    state: { endpoint: { max: 0 }, workers: [worker("UNHEALTHY", LOOPING)], jobs: waiting(2) },
    expect: { mustInclude: [1], first: [1], mayBeCertain: [1] },
    logs: { mayBeCertain: [1, 14] },
  },
  {
    name: "there are two causes: the container crashes, and the quota is used",
    state: { others: [27], workers: [worker("UNHEALTHY", LOOPING)], jobs: waiting(2) },
    expect: { mustInclude: [14], first: [12, 14], mustNotInclude: [1, 4, 15] },
    logs: { first: [14], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "there are two causes: the spend limit is reached, and there is no stock",
    state: { account: { currentSpend: 81, spendLimit: 80 }, stock: stockOf("NONE"), jobs: waiting(2) },
    expect: { mustInclude: [6, 7], first: [6], mustNotInclude: [1, 4, 5, 8, 9] },
  },
  {
    name: "there are two causes: the quota is used, and no host has the CUDA version",
    state: { endpoint: { minCudaVersion: "13.0" }, others: [27], jobs: waiting(2) },
    // The quota is checked when an endpoint is saved, so only the second keeps workers away.
    expect: { mustInclude: [8], first: [5, 8], mustNotInclude: [1, 4, 9] },
  },
  {
    name: "there are two causes: the image cannot be pulled, and a worker is throttled",
    state: {
      workers: [
        worker("THROTTLED"),
        worker("INITIALIZING", {
          age: 200,
          logs: log(20, "system: error pulling image: manifest for example/llama:3 not found: manifest unknown"),
        }),
      ],
      jobs: waiting(4),
    },
    expect: { anyOf: [12, 13, 14, 17], mustNotInclude: [1, 4, 15] },
    logs: { mustInclude: [12], first: [12], mayBeCertain: [12] },
    needsLogs: true,
  },
  {
    name: "there are two causes: the workers are busy, and the spend limit is reached",
    state: {
      account: { currentSpend: 80, spendLimit: 80 },
      workers: [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")],
      jobs: waiting(5, 3),
    },
    expect: { mustInclude: [4], first: [4], mayBeCertain: [4] },
  },
  {
    name: "there are two causes: a rollout is in progress, and the new container crashes",
    state: {
      workers: [worker("RUNNING", { isStale: true, logs: STARTED }), worker("UNHEALTHY", LOOPING)],
      jobs: waiting(3, 1),
    },
    expect: { mustInclude: [14], mustNotInclude: [1, 4] },
    logs: { first: [14], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "one worker is idle and well, and the second crashes",
    state: { workers: [worker("RUNNING", { logs: STARTED }), worker("UNHEALTHY", LOOPING)], jobs: waiting(3, 1) },
    expect: { mustInclude: [14], mustNotInclude: [1, 4, ...NO_CAPACITY] },
    logs: { first: [14], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "twelve workers crash",
    state: {
      endpoint: { max: 12 },
      workers: Array.from({ length: 12 }, () => worker("UNHEALTHY", LOOPING)),
      jobs: waiting(40),
    },
    expect: { mustInclude: [14], mustNotInclude: [1, 4, 15] },
    logs: { first: [14], mayBeCertain: [14] },
    needsLogs: true,
  },
  {
    name: "a container that crashes prints secrets",
    state: {
      workers: [
        worker("UNHEALTHY", {
          logs: [
            ...CRASH_LOOP,
            ...log(
              2,
              `container: HF_TOKEN=${PLANTED.variable} AWS_SECRET_ACCESS_KEY=${PLANTED.printed}`,
              `container: RUNPOD_AI_API_KEY=${PLANTED.workerKey}`,
              "container: authorization: Bearer rpa_key",
            ),
          ],
        }),
      ],
      jobs: waiting(2),
    },
    expect: { mustInclude: [14] },
    logs: { first: [14], mayBeCertain: [14] },
  },
];

/** States that look like a cause and are not. */
const TRAPS: readonly Scenario[] = [
  {
    name: "all workers are busy, but no job waits",
    state: { workers: [worker("RUNNING"), worker("RUNNING"), worker("RUNNING")], jobs: waiting(0, 3) },
    expect: {
      anyOf: ["nothing", "unknown"],
      mayBeCertain: ["nothing"],
      mustNotInclude: [1, 4, 15, 16, ...NO_CAPACITY],
    },
  },
  {
    name: "the program in the container prints the words of a failed pull and of starts",
    state: {
      workers: [
        worker("IDLE", {
          logs: [
            ...STARTED,
            ...log(
              9,
              ...Array.from({ length: 6 }, () => "container: start container for example/llama:3: begin" as const),
              "container: error pulling image: manifest for example/model:1 not found: manifest unknown",
              "container: Jobs in queue: 0",
            ),
          ],
        }),
      ],
      jobs: waiting(2),
    },
    expect: { anyOf: [15, "unknown"], mustNotInclude: [1, 4, ...NO_CAPACITY] },
  },
  {
    name: "a container crashed for a while, and has been well for an hour",
    state: {
      workers: [
        worker("RUNNING", {
          age: 4000,
          logs: [...CRASH_LOOP.map((each) => ({ ...each, age: each.age + 3700 })), ...log(3600, ...WELL)],
        }),
      ],
      jobs: waiting(0, 1),
    },
    expect: { notFirst: [14], mustNotInclude: [1, 4, 12, ...NO_CAPACITY], mayBeCertain: ["nothing"] },
  },
  {
    name: "the first pull failed, and the second makes progress",
    state: {
      workers: [
        worker("INITIALIZING", {
          age: 150,
          logs: [
            ...log(140, "system: error pulling image: net/http: TLS handshake timeout"),
            ...log(
              2,
              "system: 3 Pulling from example/llama",
              "system: a3ed95caeb02 Downloading [=====>      ] 4.1GB/19.8GB",
              "system: a3ed95caeb02 Downloading [======>     ] 4.6GB/19.8GB",
            ),
          ],
        }),
      ],
      jobs: waiting(2),
    },
    expect: { anyOf: [12, 13, 14, 17], mustNotInclude: [1, 4] },
    logs: { anyOf: [13], first: [13], mayBeCertain: [13] },
    needsLogs: true,
  },
  {
    name: "a job is in progress on a worker that the list of workers does not show yet",
    state: { health: { jobs: waiting(0, 1), workers: { idle: 0, running: 1, initializing: 0 } } },
    expect: { anyOf: ["nothing", "unknown"], mustNotInclude: [1, 4, 14, 15], mayBeCertain: ["nothing"] },
  },
];

/** The scenarios of rows 17–21, of two causes, and of what looks like a cause. */
export const WAITS_AND_MIXTURES: readonly Scenario[] = [...WAITS, ...TWO, ...TRAPS];
