import fc from "fast-check";
import type { CatalogGpu, StockLevel } from "../../../sdk/catalog/record";
import { CAUSES, type CauseId } from "../../../sdk/diagnosis/causes";
import { CONTRADICTIONS } from "../../../sdk/diagnosis/contradictions";
import { decide } from "../../../sdk/diagnosis/decide";
import type {
  EndpointFacts,
  Evidence,
  LimitFacts,
  NotSeen,
  Part,
  QueueFacts,
  Refusal,
  RolloutFacts,
  StockFacts,
  WorkerFacts,
} from "../../../sdk/diagnosis/evidence";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const refusal = (is: Refusal["is"], isPage = false): Refusal => ({
  ...{ is, isPage, readAt: NOW - 1000, source: "REST v2" },
});
const MINUTE = 60_000;
const NONE: NotSeen = { why: undefined };

const part = <T>(value: T): Part<T> => ({ value, readAt: NOW - 1000, source: "REST v2" });

const ENDPOINT: EndpointFacts = {
  ...{ name: "llama", isLoadBalancer: false, workersMin: 0, workersMax: 3, scalerType: "QUEUE_DELAY", scalerValue: 4 },
  ...{ gpuIds: "ADA_24", gpuCount: 1, locations: "", minCudaVersion: "", allowedCudaVersions: "" },
  ...{ volumeIds: [], compliance: [] },
};

function workers(counts: Partial<WorkerFacts> = {}): WorkerFacts {
  const states = { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, ...counts };
  const total = states.running + states.idle + states.initializing + states.throttled + states.unhealthy;
  return { ...states, total, stale: 0, startingMs: undefined, isListed: true, ...counts };
}

const queue = (inQueue: number, inProgress = 0, counts: Partial<WorkerFacts> = {}): QueueFacts => ({
  ...{ inQueue, inProgress, completed: 0, failed: 0, workers: { ...workers(counts), isListed: false } },
});

const gpu = (stock: StockLevel, more: Partial<CatalogGpu> = {}): CatalogGpu => ({
  ...{ id: "NVIDIA GeForce RTX 4090", name: "4090", pool: "ADA_24", stock },
  dataCenters: [{ id: "EU-RO-1", stock }],
  ...more,
});
const stock = (gpus: readonly CatalogGpu[], more: Partial<StockFacts> = {}): StockFacts => ({
  ...{ gpus, dataCenters: undefined, volumeDataCenters: [], ...more },
});
const LIMITS: LimitFacts = {
  ...{ workerQuota: 10, workersUsed: 3, spendLimit: 80, spend: 1, isUnderBalance: false },
};

/** Evidence of an endpoint with a waiting job and no worker, with changes. */
function evidence(changes: Partial<Evidence> & { readonly settings?: Partial<EndpointFacts> } = {}): Evidence {
  const { settings, ...others } = changes;
  return {
    ...{ awaited: "jobs", waitedMs: undefined, now: NOW, endpoint: part({ ...ENDPOINT, ...settings }) },
    ...{ listed: part(false), workers: part(workers()), rollout: NONE, queue: part(queue(1)), stock: NONE },
    ...{ volumes: NONE, limits: NONE, logs: NONE },
    ...others,
  };
}

const log = (...lines: readonly (readonly [source: string, line: string, second?: number])[]) =>
  part([
    {
      workerId: "w1",
      lines: lines.map(([source, line, second = 0]) => ({
        ...{ workerId: "w1", source, line, ts: new Date(NOW - MINUTE + second * 1000).toISOString() },
      })),
    },
  ]);

function decided(given: Evidence) {
  const { causes, certainty, others } = decide(given);
  return { causes: causes.map(({ id }) => id), certainty, others: others.map(({ id }) => id) };
}

const starting = part(workers({ initializing: 1, startingMs: MINUTE }));
const START = "start container for app:1: begin";
const rollout: RolloutFacts = {
  ...{ inProgress: true, workersOnLatest: 0, workersTotal: 1, changed: [], releasedAt: undefined },
};
const CLEAN = { stock: part(stock([gpu("High")])), limits: part(LIMITS) };

/** Each row of the sheet's table: the evidence, what is said, and how sure. */
const ROWS: readonly (readonly [title: string, Evidence, readonly CauseId[], string])[] = [
  ["workersMax is 0", evidence({ settings: { workersMax: 0 } }), ["no-workers-allowed"], "certain"],
  [
    "the endpoint and its queue are unknown",
    evidence({
      endpoint: { why: "404", failure: refusal("absent") },
      queue: { why: "404", failure: refusal("absent") },
    }),
    ["not-found"],
    "certain",
  ],
  [
    "only the endpoint is unknown",
    evidence({ endpoint: { why: "404", failure: refusal("absent") } }),
    ["not-found"],
    "likely",
  ],
  [
    "the key is refused by both",
    evidence({
      endpoint: { why: "401", failure: refusal("refused") },
      workers: NONE,
      queue: { why: "401", failure: refusal("refused") },
    }),
    ["no-access"],
    "certain",
  ],
  [
    "the key is refused by the queue",
    evidence({ queue: { why: "403", failure: refusal("refused") } }),
    ["no-access"],
    "likely",
  ],
  [
    "the endpoint is unknown, and the queue refuses the key",
    evidence({
      endpoint: { why: "404", failure: refusal("absent") },
      queue: { why: "401", failure: refusal("refused") },
    }),
    ["not-found", "no-access"],
    "likely",
  ],
  [
    "a load balancer's queue",
    evidence({ settings: { isLoadBalancer: true }, queue: { why: "400", failure: refusal("no queue") } }),
    ["no-queue"],
    "certain",
  ],
  [
    "all workers are busy",
    evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 3)) }),
    ["workers-busy"],
    "certain",
  ],
  [
    "all workers are busy with several jobs each",
    evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 6)) }),
    ["workers-busy"],
    "certain",
  ],
  [
    "the queue alone says that all workers are busy",
    evidence({ workers: NONE, queue: part(queue(5, 3, { running: 3 })) }),
    ["workers-busy"],
    "likely",
  ],
  [
    "the quota is exceeded",
    evidence({ limits: part({ ...LIMITS, workersUsed: 11 }), stock: part(stock([gpu("High")])) }),
    ["worker-quota"],
    "likely",
  ],
  ["the spend limit is reached", evidence({ limits: part({ ...LIMITS, spend: 80 }) }), ["spend-limit"], "likely"],
  [
    "the balance is too low",
    evidence({ limits: part({ ...LIMITS, isUnderBalance: true }) }),
    ["spend-limit"],
    "likely",
  ],
  ["nothing is in stock", evidence({ ...CLEAN, stock: part(stock([gpu("None")])) }), ["no-stock"], "likely"],
  [
    "nothing is in stock for the workers that always run, and no job waits",
    evidence({ ...CLEAN, settings: { workersMin: 1 }, queue: part(queue(0)), stock: part(stock([gpu("None")])) }),
    ["no-stock"],
    "likely",
  ],
  [
    "nothing is in stock, and a worker is throttled",
    evidence({ ...CLEAN, workers: part(workers({ throttled: 1 })), stock: part(stock([gpu("None")])) }),
    ["no-stock"],
    "likely",
  ],
  [
    "the whole says none, but a place has some",
    evidence({ ...CLEAN, stock: part(stock([gpu("None", { dataCenters: [{ id: "EU-RO-1", stock: "Low" }] })])) }),
    ["cold-start", "no-stock"],
    "possible",
  ],
  [
    "no free machine has the CUDA version",
    evidence({
      ...CLEAN,
      settings: { minCudaVersion: "12.8" },
      stock: part(stock([gpu("Low", { cudaVersions: [{ version: "12.8", isAvailable: false }] })])),
    }),
    ["cuda-version"],
    "likely",
  ],
  [
    "the place of the volume has no such GPU",
    evidence({
      ...CLEAN,
      settings: { volumeIds: ["v"] },
      stock: part(stock([gpu("High")], { volumeDataCenters: ["US-KS-2"] })),
    }),
    ["volume-place"],
    "likely",
  ],
  [
    "no place in stock has the labels",
    evidence({
      ...CLEAN,
      settings: { compliance: ["HIPAA"] },
      stock: part(
        stock([gpu("High")], {
          dataCenters: [{ id: "EU-RO-1", name: "", isListed: true, compliance: ["GDPR"], gpus: [] }],
        }),
      ),
    }),
    ["compliance"],
    "possible",
  ],
  [
    "more than three pools, starting for more than ten minutes",
    evidence({
      settings: { gpuIds: "ADA_24,AMPERE_16,AMPERE_24,AMPERE_48" },
      workers: part(workers({ initializing: 1, startingMs: 11 * MINUTE })),
    }),
    ["crash-loop", "image-pull", "image-pulling", "many-pools"],
    "possible",
  ],
  [
    "the log shows that the image cannot be pulled",
    evidence({ workers: starting, logs: log(["system", "error pulling image: manifest unknown"]) }),
    ["image-pull"],
    "certain",
  ],
  [
    "the log shows a pull",
    evidence({
      workers: starting,
      logs: log(["system", "create container"], ["system", "Downloading [===>  ] 3GB/20GB"]),
    }),
    ["image-pulling"],
    "certain",
  ],
  [
    "the log shows a pull that works after one that failed",
    evidence({
      workers: starting,
      logs: log(["system", "failed to pull image: timeout"], ["system", "a1b2: Pull complete"]),
    }),
    ["image-pulling"],
    "likely",
  ],
  [
    "the log shows start after start without output",
    evidence({ workers: starting, logs: log(["system", START, 0], ["system", START, 10], ["system", START, 20]) }),
    ["crash-loop"],
    "certain",
  ],
  [
    "a running worker's log shows two starts and a traceback",
    evidence({
      workers: part(workers({ running: 1 })),
      logs: log(["system", START], ["container", "ModuleNotFoundError: No module named 'torch'"], ["system", START, 9]),
    }),
    ["crash-loop"],
    "certain",
  ],
  [
    "starts one after the other beside jobs in progress are not certain to be crashes",
    evidence({
      ...{ workers: part(workers({ running: 1 })), queue: part(queue(1, 1)), settings: { workersMax: 3 } },
      logs: log(["system", START, 0], ["system", START, 10], ["system", START, 20]),
    }),
    ["crash-loop"],
    "likely",
  ],
  [
    "a running worker's log ends with a pull whose end is not shown",
    evidence({
      ...{ workers: part(workers({ running: 1 })), queue: part(queue(0, 1)), waitedMs: 1000 },
      logs: log(["system", "Pulling app:1"]),
    }),
    ["jobs-running"],
    "likely",
  ],
  [
    "two starts hours apart are no loop",
    evidence({
      workers: part(workers({ idle: 1 })),
      logs: log(["system", START, -7200], ["container", "Jobs in queue: 0"], ["system", START, 0]),
    }),
    ["handler-takes-no-jobs", "stale-binding"],
    "possible",
  ],
  [
    "unhealthy workers without a log",
    evidence({ workers: part(workers({ unhealthy: 1 })) }),
    ["crash-loop", "image-pull"],
    "likely",
  ],
  [
    "workers take no jobs, and the log has no line of the library",
    evidence({ workers: part(workers({ idle: 1 })), logs: log(["system", START]) }),
    ["handler-takes-no-jobs"],
    "likely",
  ],
  [
    "workers take no jobs, and no log was read",
    evidence({ workers: part(workers({ running: 1 })) }),
    ["handler-takes-no-jobs", "crash-loop"],
    "possible",
  ],
  [
    "one worker takes all jobs with a version that does so",
    evidence({
      workers: part(workers({ running: 1, idle: 2 })),
      queue: part(queue(3, 1)),
      logs: log(["container", "runpod 1.9.0 Jobs in queue: 1"]),
    }),
    ["one-worker-takes-all"],
    "likely",
  ],
  [
    "a worker has just begun to start",
    evidence({ workers: starting }),
    ["cold-start", "image-pulling", "crash-loop", "image-pull"],
    "likely",
  ],
  [
    "a worker starts, and its log shows nothing wrong",
    evidence({ workers: starting, logs: log(["system", START]) }),
    ["cold-start"],
    "likely",
  ],
  [
    "a roll-out replaces the only worker",
    evidence({ workers: part(workers({ running: 1, stale: 1 })), queue: part(queue(1, 1)), rollout: part(rollout) }),
    ["roll-out"],
    "likely",
  ],
  [
    "the delay has not passed",
    evidence({ workers: part(workers({ running: 1 })), queue: part(queue(1, 1)), waitedMs: 1000 }),
    ["scaling-rule"],
    "likely",
  ],
  [
    "a worker is throttled",
    evidence({ ...CLEAN, workers: part(workers({ throttled: 1 })) }),
    ["throttled", "crash-loop"],
    "likely",
  ],
  [
    "a lone throttled worker, and nothing waits",
    evidence({ workers: part(workers({ throttled: 1 })), queue: part(queue(0)) }),
    ["nothing-wrong"],
    "likely",
  ],
  [
    "everything is zero and the account is fine",
    evidence({ ...CLEAN, waitedMs: 5 * MINUTE }),
    ["no-stock", "stale-binding"],
    "possible",
  ],
  [
    "everything is zero and nothing else could be read",
    evidence({ settings: { volumeIds: ["v"], minCudaVersion: "12.8" } }),
    ["cold-start", "no-stock", "worker-quota", "spend-limit", "cuda-version", "volume-place"],
    "possible",
  ],
  [
    "nothing could be read",
    evidence({ endpoint: { why: "timeout" }, workers: NONE, queue: { why: "timeout" } }),
    ["unknown"],
    "unknown",
  ],
  [
    "a drain with jobs",
    evidence({ awaited: "stop", workers: part(workers({ running: 1 })), queue: part(queue(0, 1)) }),
    ["jobs-running"],
    "likely",
  ],
  [
    "a drain without jobs",
    evidence({ awaited: "stop", workers: part(workers({ idle: 1 })), queue: part(queue(0)) }),
    ["workers-stopping"],
    "likely",
  ],
  [
    "workers are awaited, and one of two cannot start",
    evidence({
      ...CLEAN,
      awaited: "workers",
      settings: { workersMin: 2 },
      workers: part(workers({ idle: 1 })),
      stock: part(stock([gpu("None")])),
    }),
    ["no-stock"],
    "possible",
  ],
];

test.each(ROWS)("%s", (_title, given, causes, certainty) => {
  expect(decided(given)).toMatchObject({ causes, certainty });
});

test("the cause that must be fixed first comes first", () => {
  const isSoldOut = part(stock([gpu("None")]));
  expect(decided(evidence({ stock: isSoldOut, limits: part({ ...LIMITS, spend: 80, workersUsed: 11 }) }))).toEqual({
    ...{ causes: ["worker-quota"], certainty: "likely", others: ["spend-limit", "no-stock"] },
  });
  const crashes = log(["system", START], ["system", START, 5], ["system", START, 10]);
  const off = evidence({ settings: { workersMax: 0 }, workers: part(workers({ initializing: 1 })), logs: crashes });
  expect(decided(off)).toEqual({ causes: ["crash-loop"], certainty: "certain", others: ["no-workers-allowed"] });
  const rolling = { workers: part(workers({ initializing: 1, running: 1, stale: 1 })), rollout: part(rollout) };
  expect(decided(evidence({ ...rolling, queue: part(queue(1, 1)), logs: crashes }))).toMatchObject({
    ...{ causes: ["crash-loop"], certainty: "likely", others: ["roll-out"] },
  });
});

/** What the service itself must show before a cause may be certain. */
const SHOWN: Partial<Record<CauseId, (given: Evidence) => boolean>> = {
  "not-found": ({ endpoint, queue: of }) => "why" in endpoint && "why" in of,
  "no-access": ({ endpoint, queue: of }) => "why" in endpoint && "why" in of,
  "no-queue": ({ queue: of }) => "why" in of,
  "no-workers-allowed": ({ endpoint }) => "value" in endpoint && endpoint.value.workersMax === 0,
  "workers-busy": ({ workers: of, endpoint }) =>
    "value" in of && of.value.isListed && "value" in endpoint && of.value.running === endpoint.value.workersMax,
  "crash-loop": ({ logs }) => "value" in logs,
  "image-pull": ({ logs }) => "value" in logs,
  "image-pulling": ({ logs }) => "value" in logs,
};

const busyEvidence = evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 3, { running: 3 })) });
const gone = { why: "404", failure: refusal("absent") };
const refused = { why: "401", failure: refusal("refused") };
const aged = <T>(given: Part<T>, ms: number): Part<T> =>
  "value" in given
    ? { ...given, readAt: NOW - ms }
    : { ...given, ...(given.failure && { failure: { ...given.failure, readAt: NOW - ms } }) };

/** Evidence with which each cause is certain. */
const CERTAIN: Partial<Record<CauseId, Evidence>> = {
  "not-found": evidence({ endpoint: gone, queue: gone, workers: NONE }),
  "no-access": evidence({ endpoint: refused, queue: refused, workers: NONE }),
  "no-queue": evidence({ settings: { isLoadBalancer: true }, queue: { why: "400", failure: refusal("no queue") } }),
  "no-workers-allowed": evidence({ settings: { workersMax: 0 } }),
  "crash-loop": evidence({
    workers: starting,
    logs: log(["system", START], ["system", START, 5], ["system", START, 9]),
  }),
  "image-pull": evidence({ workers: starting, logs: log(["system", "error pulling image: manifest unknown"]) }),
  "image-pulling": evidence({ workers: starting, logs: log(["system", "Pulling app:1"]) }),
  "workers-busy": busyEvidence,
};

/** How each contradiction can be seen beside other evidence. */
const SEEN: Readonly<Record<string, (given: Evidence, count: number) => Partial<Evidence>>> = {
  "part of the evidence is old": (given, count) => ({
    endpoint: aged(given.endpoint, 30_000 + count * 1000),
    workers: aged(given.workers, 30_000 + count * 1000),
    queue: aged(given.queue, 30_000 + count * 1000),
  }),
  "the list of endpoints contains it": () => ({ listed: part(true) }),
  "the list of endpoints could not be read": () => ({ listed: { why: "no response" } }),
  "its workers are shown": (_, count) => ({ workers: part(workers({ running: count })) }),
  "the service has accepted the same key for another read": (_, count) => ({ workers: part(workers({ idle: count })) }),
  "its settings show a queue": () => ({ endpoint: part(ENDPOINT) }),
  "a worker starts": (_, count) => ({ workers: part(workers({ initializing: count })) }),
  "a job is in progress": (_, count) => ({ queue: part(queue(1, count)) }),
  "a worker is idle, so it has started": (_, count) => ({ queue: part(queue(1, 0, { idle: count })) }),
  "a worker is idle, so it has the image": (_, count) => ({ queue: part(queue(1, 0, { idle: count })) }),
  "a worker is idle": (_, count) => ({ queue: part(queue(5, 3, { running: 3, idle: count })) }),
  "a worker is unhealthy": (_, count) => ({ workers: part(workers({ initializing: 1, unhealthy: count })) }),
  "the queue counts fewer running workers": (_, count) => ({ queue: part(queue(5, 3, { running: 3 - count })) }),
  "a worker starts, or does not work": (_, count) => ({
    queue: part(queue(5, 3, { running: 3, unhealthy: count, throttled: 0 })),
  }),
};

test("every cause that can be certain is so with its evidence, and names what contradicts it", () => {
  const surest = (Object.keys(CAUSES) as CauseId[]).filter((id) => CAUSES[id].atMost === "certain");
  expect(Object.keys(CERTAIN).sort()).toEqual([...surest].sort());
  for (const id of surest) {
    expect([id, decided(CERTAIN[id] as Evidence)]).toMatchObject([id, { causes: [id], certainty: "certain" }]);
    expect([id, CONTRADICTIONS[id]?.length ?? 0]).not.toEqual([id, 0]);
  }
});

test("no cause stays certain beside evidence that contradicts it", () => {
  const cases = (Object.keys(CERTAIN) as CauseId[]).flatMap((id) =>
    (CONTRADICTIONS[id] ?? []).map(({ says }) => ({ id, says })),
  );
  fc.assert(
    fc.property(fc.constantFrom(...cases), fc.integer({ min: 1, max: 2 }), ({ id, says }, amount) => {
      const given = CERTAIN[id] as Evidence;
      const { causes, others } = decide({ ...given, ...(SEEN[says] as (typeof SEEN)[string])(given, amount) });
      const sure = [...causes, ...others].find((each) => each.id === id)?.certainty;
      expect([id, says, sure]).not.toEqual([id, says, "certain"]);
    }),
    { numRuns: 500 },
  );
});

describe("explain does not say too much", () => {
  const page = (is: Refusal["is"]) => ({ why: "an HTML page", failure: refusal(is, true) });
  test.each<[string, Evidence, string, string]>([
    [
      "a gateway's 401 and 403",
      evidence({ endpoint: page("refused"), queue: page("refused") }),
      "no-access",
      "possible",
    ],
    [
      "a web server's 404",
      evidence({ endpoint: page("absent"), queue: page("absent"), workers: NONE }),
      "unknown",
      "unknown",
    ],
    [
      "a 404 by id while the list contains it",
      evidence({ endpoint: gone, queue: gone, workers: NONE, listed: part(true) }),
      ...(["not-found", "likely"] as const),
    ],
    [
      "busy workers beside an idle one",
      evidence({
        settings: { workersMax: 2 },
        workers: part(workers({ running: 2, idle: 1 })),
        queue: part(queue(4, 2)),
      }),
      ...(["workers-busy", "possible"] as const),
    ],
    [
      "three running workers that the queue calls idle",
      evidence({ workers: part(workers({ running: 3 })), queue: part(queue(4, 3, { idle: 3 })) }),
      ...(["workers-busy", "possible"] as const),
    ],
    [
      "a worker that was stopped and started three times",
      evidence({
        workers: starting,
        logs: log(
          ...[0, 10, 20].flatMap((at) => [
            ["system", START, at] as const,
            ["system", "stop container", at + 3] as const,
            ["system", "remove container", at + 4] as const,
          ]),
        ),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "one error of a job between two starts",
      evidence({
        workers: starting,
        logs: log(
          ["system", START],
          ["container", "job 1 ok", 1],
          ["container", "ValueError: bad prompt", 2],
          ["container", "job 2 ok", 3],
          ["container", "job 3 ok", 4],
          ["system", START, 50],
        ),
      }),
      ...(["crash-loop", "likely"] as const),
    ],
    [
      "a pull that began three hours ago",
      evidence({
        workers: part(workers({ initializing: 1, startingMs: 180 * MINUTE })),
        logs: log(["system", "pulling image app:1", -3 * 3600]),
      }),
      ...(["crash-loop", "possible"] as const),
    ],
    [
      "a pull error before the image was there",
      evidence({
        workers: starting,
        logs: log(
          ["system", "error pulling image: toomanyrequests", -2880],
          ["system", "retrying", -2870],
          ["system", "Status: Image is up to date for app:1", -60],
          ["system", "create container", -55],
        ),
      }),
      ...(["cold-start", "likely"] as const),
    ],
    [
      "a quota that is allotted in whole",
      evidence({ ...CLEAN, limits: part({ ...LIMITS, workersUsed: 10 }), waitedMs: 3000 }),
      ...(["cold-start", "possible"] as const),
    ],
    [
      "a queue that is said to be missing although the settings show one",
      evidence({ queue: { why: "400", failure: refusal("no queue") } }),
      ...(["no-queue", "likely"] as const),
    ],
    [
      "an empty queue with 200 failed jobs",
      evidence({ queue: part({ ...queue(0), failed: 200 }) }),
      ...(["jobs-failing", "possible"] as const),
    ],
    [
      "an empty queue, failed jobs, and a log of crashes",
      evidence({
        queue: part({ ...queue(0), failed: 200 }),
        workers: starting,
        logs: log(
          ...[0, 30, 60].flatMap((at) => [
            ["system", START, at] as const,
            ["container", "Traceback (most recent call last):", at + 1] as const,
          ]),
        ),
      }),
      ...(["crash-loop", "certain"] as const),
    ],
  ])("%s", (_, given, id, certainty) => {
    expect(decided(given)).toMatchObject({ causes: expect.arrayContaining([id]), certainty });
  });

  test("a queue that cannot be read does not show that anything waits", () => {
    const { causes } = decided(evidence({ ...CLEAN, queue: { why: "503" } }));
    expect(causes).toContain("nothing-wrong");
  });
});

const count = fc.integer({ min: 0, max: 3 });
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<Part<T>> =>
  fc.oneof(
    value.map((each) => part(each)),
    fc.record({
      why: fc.constant("no"),
      failure: fc.constantFrom(undefined, refusal("absent"), refusal("refused"), refusal("no queue")),
    }),
  );
const anyWorkers = fc
  .record({ running: count, idle: count, initializing: count, throttled: count, unhealthy: count, stale: count })
  .chain((counts) =>
    fc
      .record({
        startingMs: fc.option(fc.integer({ min: 0, max: 20 * MINUTE }), { nil: undefined }),
        isListed: fc.boolean(),
      })
      .map((more) => workers({ ...counts, ...more })),
  );
const LINES = [
  START,
  "error pulling image: manifest unknown",
  "Downloading",
  "Traceback (most recent call last):",
  "Finished.",
  "hello",
];
const anyLog = fc
  .array(
    fc.tuple(fc.constantFrom("system", "container"), fc.constantFrom(...LINES), fc.integer({ min: 0, max: 9000 })),
    { maxLength: 8 },
  )
  .map((lines) => log(...lines));
const level = fc.constantFrom<StockLevel>("High", "Low", "None");
const anyEvidence: fc.Arbitrary<Evidence> = fc.record({
  awaited: fc.constantFrom("jobs" as const, "workers" as const, "stop" as const),
  waitedMs: fc.option(fc.integer({ min: 0, max: 20 * MINUTE }), { nil: undefined }),
  now: fc.constant(NOW),
  endpoint: optional(
    fc
      .record({ workersMin: count, workersMax: count, isLoadBalancer: fc.boolean() })
      .map((each) => ({ ...ENDPOINT, ...each })),
  ),
  listed: optional(fc.boolean()),
  volumes: fc.constant(NONE),
  workers: optional(anyWorkers),
  rollout: optional(fc.boolean().map((inProgress) => ({ ...rollout, inProgress }))),
  queue: optional(
    fc
      .tuple(count, count, anyWorkers)
      .map(([inQueue, inProgress, of]) => ({ ...queue(inQueue, inProgress), workers: { ...of, isListed: false } })),
  ),
  stock: optional(level.map((each) => stock([gpu(each)]))),
  limits: optional(count.map((spend) => ({ ...LIMITS, spend, spendLimit: 2, workersUsed: 8 + spend }))),
  logs: fc.oneof(fc.constant<Part<never>>(NONE), anyLog),
});

test("whatever the evidence is, nothing is surer than its row allows, and certain only with what shows it", () => {
  const order = ["certain", "likely", "possible", "unknown"];
  fc.assert(
    fc.property(anyEvidence, (given) => {
      const { causes, others, certainty } = decide(given);
      expect(causes.length).toBeGreaterThan(0);
      expect(certainty).toBe(causes[0]?.certainty);
      for (const { id, certainty: sure } of [...causes, ...others]) {
        expect(order.indexOf(sure)).toBeGreaterThanOrEqual(order.indexOf(CAUSES[id].atMost));
        if (sure === "certain") expect([id, SHOWN[id]?.(given)]).toEqual([id, true]);
      }
      const ids = [...causes, ...others].map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }),
    { numRuns: 2000 },
  );
});
