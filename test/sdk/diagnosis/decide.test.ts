import type { CauseId } from "../../../sdk/diagnosis/causes";
import type { Evidence } from "../../../sdk/diagnosis/evidence";
import {
  CLEAN,
  decided,
  evidence,
  gpu,
  LIMITS,
  log,
  MINUTE,
  NONE,
  part,
  queue,
  refusal,
  rollout,
  START,
  starting,
  stock,
  workers,
} from "../../support/diagnosisEvidence";

/** Each row of the sheet's table: the evidence, what is said, and how sure. */
const ROWS: readonly (readonly [title: string, Evidence, readonly CauseId[], string])[] = [
  ["workersMax is 0", evidence({ settings: { workersMax: 0 } }), ["no-workers-allowed"], "certain"],
  [
    "gpuIds leave no type",
    evidence({ ...CLEAN, stock: part(stock([gpu("High")], { gpuIds: "ADA_99" })) }),
    ["gpu-ids"],
    "likely",
  ],
  [
    "a secret of a variable is missing while a worker starts",
    evidence({ workers: starting, secrets: part({ missing: ["token"] }) }),
    ["missing-secret", "crash-loop", "image-pull"],
    "likely",
  ],
  [
    "the endpoint and its queue are unknown",
    evidence({
      workers: NONE,
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
    "certain",
  ],
  [
    "the endpoint is unknown, and the queue refuses the key",
    evidence({
      endpoint: { why: "404", failure: refusal("absent") },
      queue: { why: "401", failure: refusal("refused") },
    }),
    ["not-found"],
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
    evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 3, { running: 3 })) }),
    ["workers-busy"],
    "likely",
  ],
  [
    "all workers are busy with several jobs each",
    evidence({ workers: part(workers({ running: 3 })), queue: part(queue(5, 6, { running: 3 })) }),
    ["workers-busy"],
    "likely",
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
    "certain",
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
    ["no-stock", "crash-loop"],
    "likely",
  ],
  [
    "the whole says none, but a place has some",
    evidence({ ...CLEAN, stock: part(stock([gpu("None", { dataCenters: [{ id: "EU-RO-1", stock: "Low" }] })])) }),
    ["no-stock", "cold-start"],
    "possible",
  ],
  [
    "no free machine has the CUDA version",
    evidence({
      ...CLEAN,
      settings: { minCudaVersion: "12.8" },
      stock: part(
        stock([gpu("Low", { cudaVersions: [{ version: "12.8", isAvailable: false }] })], { minCudaVersion: "12.8" }),
      ),
    }),
    ["cuda-version"],
    "likely",
  ],
  [
    "the place of the volume has no such GPU",
    evidence({
      ...CLEAN,
      settings: { volumeIds: ["v"] },
      stock: part(stock([gpu("High")], {}, ["US-KS-2"])),
    }),
    ["volume-place"],
    "likely",
  ],
  [
    "the log shows that the image cannot be pulled",
    evidence({ workers: starting, logs: log(["system", "error pulling image: manifest unknown"]) }),
    ["image-pull"],
    "likely",
  ],
  [
    "the log shows a pull",
    evidence({
      workers: starting,
      logs: log(["system", "create container"], ["system", "Downloading [===>  ] 3GB/20GB"]),
    }),
    ["image-pulling"],
    "likely",
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
    "likely",
  ],
  [
    "a running worker's log shows two starts and a traceback",
    evidence({
      workers: part(workers({ running: 1 })),
      logs: log(["system", START], ["container", "ModuleNotFoundError: No module named 'torch'"], ["system", START, 9]),
    }),
    ["crash-loop"],
    "likely",
  ],
  [
    "starts one after the other beside jobs in progress are not certain to be crashes",
    evidence({
      workers: part(workers({ running: 1 })),
      queue: part(queue(1, 1)),
      settings: { workersMax: 3 },
      logs: log(["system", START, 0], ["system", START, 10], ["system", START, 20]),
    }),
    ["crash-loop"],
    "likely",
  ],
  [
    "a running worker's log ends with a pull whose end is not shown",
    evidence({
      workers: part(workers({ running: 1 })),
      queue: part(queue(0, 1)),
      waitedMs: 1000,
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
    ["handler-takes-no-jobs"],
    "likely",
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
    ["crash-loop", "handler-takes-no-jobs"],
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
    ["cold-start", "crash-loop", "image-pull", "image-pulling"],
    "likely",
  ],
  [
    "a worker starts, and its log shows nothing wrong",
    evidence({ workers: starting, logs: log(["system", START]) }),
    ["cold-start"],
    "likely",
  ],
  [
    "a rollout replaces the only worker",
    evidence({ workers: part(workers({ running: 1, stale: 1 })), queue: part(queue(1, 1)), rollout: part(rollout) }),
    ["rollout", "scaling-rule"],
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
    evidence({
      workers: part(workers({ throttled: 1 })),
      queue: part(queue(0)),
      logs: part([]),
      rollout: part({ ...rollout, inProgress: false }),
    }),
    ["nothing-wrong"],
    "likely",
  ],
  [
    "everything is zero and the account is fine",
    evidence({ ...CLEAN, waitedMs: 5 * MINUTE }),
    ["no-stock"],
    "possible",
  ],
  [
    "everything is zero and nothing else could be read",
    evidence({ settings: { volumeIds: ["v"], minCudaVersion: "12.8" } }),
    ["worker-quota", "spend-limit", "no-stock", "cold-start"],
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
    "likely",
  ],
];

test.each(ROWS)("%s", (_title, given, causes, certainty) => {
  expect(decided(given)).toMatchObject({ causes, certainty });
});
