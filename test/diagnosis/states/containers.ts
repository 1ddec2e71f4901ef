import { type LogLine, log, type WorkerStatus, worker } from "../standIn/world";
import { jobs, onEachKind, type State } from "./state";

// What the log of a worker shows: images, crashes, and what looks like one.

const START = "system: start container for example/llama:3: begin";
const CREATE = "system: create container example/llama:3";
const BANNER = "container: --- Starting Serverless Worker |  Version 1.7.9 ---";
const TRACEBACK = "container: Traceback (most recent call last):";
const NO_MODULE = "container: ModuleNotFoundError: No module named 'vllm'";
const NO_TAG = "system: error pulling image: manifest for example/llama:3 not found: manifest unknown";

const starts = (ages: readonly number[], ...lines: readonly `${"system" | "container"}: ${string}`[]): LogLine[] =>
  ages.flatMap((age) => log(age, CREATE, START, ...lines));

const LOOP = starts([105, 85, 65, 45, 25, 5], TRACEBACK, NO_MODULE);
const WELL = log(240, START, BANNER, "container: Jobs in queue: 0");

const one = (status: WorkerStatus, age: number, logs: readonly LogLine[], inQueue = 2) => ({
  workers: [worker(status, { age, logs })],
  jobs: jobs(inQueue),
});

/** A loop that shows only its starts, and no longer what its container printed. */
const SILENT_LOOP = starts([100, 80, 60, 40, 20, 4]);

const CRASHES: readonly State[] = [
  ...(["RUNNING", "INITIALIZING", "UNHEALTHY", "THROTTLED"] as const).flatMap((status) =>
    onEachKind({
      name: `the container crashes while its worker is ${status}`,
      world: one(status, 130, LOOP),
      truth: ["crash-loop"],
      never: ["image-pull", "image-pulling"],
    }),
  ),
  {
    name: "the container crashes, and its lines are gone",
    world: one("INITIALIZING", 120, SILENT_LOOP),
    truth: ["crash-loop"],
  },
  {
    name: "the container crashes, and no job waits",
    world: { ...one("RUNNING", 100, LOOP.slice(-15), 0), jobs: jobs(0, 0, 0, 200) },
    truth: ["crash-loop"],
  },
  {
    name: "the container crashes, no job waits, and none has failed",
    world: one("INITIALIZING", 100, LOOP, 0),
    truth: ["crash-loop"],
  },
  {
    name: "the container crashes, and the endpoint cannot be read",
    world: { ...one("INITIALIZING", 100, LOOP), faults: { single: 500, list: 500 } },
    truth: ["crash-loop"],
  },
  {
    name: "the container crashes, and neither the endpoint nor the queue can be read",
    world: { ...one("INITIALIZING", 100, LOOP), faults: { single: 500, list: 500, health: 500, metrics: 500 } },
    truth: ["crash-loop"],
  },
  {
    name: "a container crashes beside a healthy worker",
    world: {
      workers: [worker("RUNNING", { logs: WELL }), worker("INITIALIZING", { age: 120, logs: LOOP })],
      jobs: jobs(3, 1),
    },
    truth: ["crash-loop"],
  },
  {
    name: "the container has crashed twice in twenty seconds",
    world: one("INITIALIZING", 25, starts([22, 4], TRACEBACK, NO_MODULE)),
    truth: ["crash-loop"],
  },
  {
    name: "each start loads for four minutes and ends out of memory",
    world: one(
      "INITIALIZING",
      760,
      starts(
        [700, 460, 220, 4],
        "container: Loading checkpoint shards: 80%",
        "container: torch.OutOfMemoryError: CUDA out of memory",
      ),
    ),
    truth: ["crash-loop"],
    never: ["cold-start", "image-pulling"],
  },
  {
    name: "one start loaded for nine minutes and ended out of memory",
    world: one("INITIALIZING", 560, [
      ...log(540, CREATE, START),
      ...log(300, "container: Loading checkpoint shards: 40%"),
      ...log(3, "container: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB"),
    ]),
    truth: ["crash-loop"],
    never: ["cold-start", "image-pulling"],
  },
  {
    name: "the container is built for another processor",
    world: one("INITIALIZING", 100, starts([90, 60, 30, 5], "container: exec /start.sh: exec format error")),
    truth: ["crash-loop", "image-pull"],
  },
  {
    name: "a container crashed on a stale worker, and the new one is well",
    world: {
      workers: [
        worker("UNHEALTHY", { isStale: true, logs: LOOP.map((each) => ({ ...each, age: each.age + 900 })) }),
        worker("IDLE", { logs: WELL }),
      ],
      jobs: jobs(0),
    },
    truth: [],
  },
];

const LOOKALIKES: readonly State[] = [
  {
    name: "the first start crashed, and the second loads its model",
    world: one("INITIALIZING", 90, [
      ...log(80, START, TRACEBACK, "container: ConnectionError: could not reach the hub"),
      ...log(30, START),
      ...log(4, "container: Loading checkpoint shards: 60%", "container: Loading checkpoint shards: 80%"),
    ]),
    truth: ["cold-start", "image-pulling"],
    never: ["crash-loop"],
  },
  {
    name: "two starts crashed, and the third serves",
    world: one("IDLE", 400, [...starts([380, 350], TRACEBACK, NO_MODULE), ...WELL], 0),
    truth: [],
    calm: true,
    never: ["crash-loop"],
  },
  {
    name: "a worker started in silence three times, four minutes apart",
    world: one("IDLE", 700, starts([490, 250, 10]), 1),
    truth: [],
  },
  {
    name: "a worker was stopped and started three times",
    world: one(
      "IDLE",
      20,
      [490, 250, 10].flatMap((age) => [
        ...log(age, START, BANNER),
        ...(age > 10 ? log(age - 60, "system: stop container", "system: remove container") : []),
      ]),
      1,
    ),
    truth: [],
    never: ["crash-loop"],
  },
  {
    name: "a worker is refreshed after each job, and its jobs print tracebacks",
    world: {
      ...one(
        "RUNNING",
        300,
        [100, 70, 40, 10].flatMap((age) =>
          log(
            age,
            START,
            BANNER,
            "container: Started.",
            TRACEBACK,
            "container: ValueError: bad prompt",
            "container: Finished.",
          ),
        ),
        3,
      ),
      jobs: jobs(3, 1),
    },
    truth: [],
    never: ["crash-loop"],
  },
  {
    name: "a worker started twice in a minute, and one job had a bad prompt",
    world: one("IDLE", 90, [
      ...log(70, START, BANNER, "container: job 1 ok"),
      ...log(20, START, BANNER, "container: ValueError: bad prompt", "container: job 2 ok"),
    ]),
    truth: [],
    never: ["crash-loop"],
  },
  {
    name: "jobs print tracebacks on a healthy worker, and no job waits",
    world: {
      ...one(
        "IDLE",
        400,
        [...WELL, ...log(9, "container: Started.", TRACEBACK, "container: ValueError: bad", "container: Finished.")],
        0,
      ),
      jobs: jobs(0, 0, 12, 5),
    },
    truth: [],
    never: ["crash-loop"],
  },
  {
    name: "one start printed a traceback half a minute ago, and nothing since",
    world: one("INITIALIZING", 40, log(30, START, TRACEBACK, NO_MODULE)),
    truth: [],
  },
  {
    name: "a container crashed an hour ago and has served since",
    world: {
      workers: [
        worker("RUNNING", { age: 4000, logs: [...LOOP.map((each) => ({ ...each, age: each.age + 3700 })), ...WELL] }),
      ],
      jobs: jobs(0, 1),
    },
    truth: [],
    calm: true,
    never: ["crash-loop"],
  },
];

const IMAGES: readonly State[] = [
  ...onEachKind({
    name: "the tag does not exist",
    world: one("INITIALIZING", 120, log(20, CREATE, NO_TAG, NO_TAG)),
    truth: ["image-pull"],
    never: ["crash-loop", "image-pulling", "cold-start"],
  }),
  ...onEachKind({
    name: "a rollout to a tag that does not exist has replaced no worker, and no job waits",
    world: {
      workers: [
        worker("IDLE", { isStale: true, logs: WELL }),
        worker("INITIALIZING", { age: 120, logs: log(15, NO_TAG) }),
      ],
      rollout: { inProgress: true, workersOnLatest: 0, workersTotal: 2, percentOnLatest: 0 },
      jobs: jobs(0),
    },
    truth: ["image-pull"],
  }),
  {
    name: "a rollout to a tag that does not exist has replaced no worker, and jobs wait",
    world: {
      workers: [worker("RUNNING", { isStale: true }), worker("INITIALIZING", { age: 120, logs: log(15, NO_TAG) })],
      rollout: { inProgress: true, workersOnLatest: 0, workersTotal: 2, percentOnLatest: 0 },
      jobs: jobs(4, 1),
    },
    truth: ["image-pull"],
  },
  ...[
    ["is private", "pull access denied for example/llama, repository does not exist or may require 'docker login'"],
    ["is not built for the processor", "no matching manifest for linux/amd64 in the manifest list entries"],
    ["needs a password", "unauthorized: authentication required"],
    ["is limited", "toomanyrequests: You have reached your pull rate limit"],
  ].map(
    ([what, line]): State => ({
      name: `the image ${what}`,
      world: one("INITIALIZING", 120, log(20, CREATE, `system: error pulling image: ${line}`)),
      truth: ["image-pull"],
      never: ["crash-loop", "image-pulling"],
    }),
  ),
  {
    name: "an unhealthy worker could not pull its image",
    world: one("UNHEALTHY", 500, log(60, CREATE, NO_TAG)),
    truth: ["image-pull"],
    never: ["image-pulling"],
  },
  {
    name: "a pull failed five minutes ago, and nothing was printed since",
    world: one("INITIALIZING", 400, log(300, CREATE, NO_TAG)),
    truth: ["image-pull"],
    never: ["image-pulling"],
  },
  {
    name: "a pull failed nine minutes ago, before the container printed",
    world: one("INITIALIZING", 600, [
      ...log(540, "system: error pulling image: i/o timeout"),
      ...log(60, CREATE, START, "container: Loading checkpoint shards: 10%"),
      ...log(5, "container: Loading checkpoint shards: 80%"),
    ]),
    truth: ["cold-start", "image-pulling"],
    never: ["image-pull"],
  },
  {
    name: "a pull failed three quarters of an hour ago, and the image arrived after it",
    world: one("INITIALIZING", 2900, [
      ...log(2880, "system: error pulling image: toomanyrequests: You have reached your pull rate limit"),
      ...log(200, "system: retrying", "system: Status: Image is up to date for example/llama:3"),
      ...log(110, CREATE),
    ]),
    truth: [],
    never: ["image-pull"],
  },
  {
    name: "a pull failed on one host, and a sibling runs the same image",
    world: {
      workers: [
        worker("RUNNING", { logs: WELL }),
        worker("INITIALIZING", { age: 100, logs: log(30, CREATE, "system: error pulling image: i/o timeout") }),
      ],
      jobs: jobs(3, 1),
    },
    truth: [],
  },
  {
    name: "a pull has printed nothing for three hours",
    world: one("INITIALIZING", 10_800, log(10_790, CREATE, "system: pulling image example/llama:3")),
    truth: [],
    never: ["image-pulling", "cold-start"],
  },
  {
    name: "the image is large, and the pull makes progress",
    world: one(
      "INITIALIZING",
      200,
      log(2, CREATE, "system: 3 Pulling from example/llama", "system: a3ed Downloading 4.6GB/19.8GB"),
    ),
    truth: ["image-pulling"],
    never: ["image-pull", "crash-loop"],
  },
  {
    name: "a pull failed, and the next makes progress",
    world: one("INITIALIZING", 200, [
      ...log(150, "system: error pulling image: TLS handshake timeout"),
      ...log(3, "system: 3 Pulling from example/llama", "system: a3ed Downloading 4.6GB/19.8GB"),
    ]),
    truth: ["image-pulling"],
    never: ["image-pull"],
  },
  {
    name: "the container itself prints the words of a failed pull",
    world: {
      ...one(
        "IDLE",
        400,
        [...WELL, ...log(9, "container: error pulling image: manifest unknown", "container: Jobs in queue: 0")],
        0,
      ),
    },
    truth: [],
    calm: true,
    never: ["image-pull", "crash-loop"],
  },
];

/** States that only the log of a worker explains, or seems to. */
export const CONTAINERS: readonly State[] = [...CRASHES, ...LOOKALIKES, ...IMAGES].map((each) => ({
  ...each,
  logs: true,
}));
