import { log, stockOf, worker } from "../standIn/world";
import { jobs, onEachKind, type State } from "./state";

// Busy workers, waits that end by themselves, and calm.

const three = (status: "RUNNING" | "IDLE") => [worker(status), worker(status), worker(status)];
const counts = (workers: Readonly<Record<string, number>>) => ({
  idle: 0,
  ready: 0,
  running: 0,
  initializing: 0,
  throttled: 0,
  unhealthy: 0,
  ...workers,
});

const BUSY: readonly State[] = [
  {
    name: "all three workers are busy",
    world: { workers: three("RUNNING"), jobs: jobs(5, 3) },
    truth: ["workers-busy"],
  },
  {
    name: "all three CPU workers are busy",
    world: { endpoint: { isCpu: true }, workers: three("RUNNING"), jobs: jobs(5, 3) },
    truth: ["workers-busy"],
    unsaid: /gpuIds|CUDA/,
  },
  {
    name: "the only worker that is allowed is busy",
    world: { endpoint: { max: 1 }, workers: [worker("RUNNING")], jobs: jobs(5, 1) },
    truth: ["workers-busy"],
  },
  {
    name: "all three workers run four jobs each",
    world: { workers: three("RUNNING"), jobs: jobs(5, 12) },
    truth: ["workers-busy"],
  },
  {
    name: "all three workers are busy, and there is no stock for more",
    world: { workers: three("RUNNING"), stock: stockOf("NONE"), jobs: jobs(5, 3) },
    truth: ["workers-busy"],
    never: ["no-stock"],
  },
  {
    name: "two of two workers run, and an extra one is idle",
    world: { endpoint: { max: 2 }, workers: [worker("RUNNING"), worker("RUNNING"), worker("IDLE")], jobs: jobs(4, 2) },
    truth: [],
  },
  {
    name: "two workers run by the pods' view, and one is unhealthy by the queue's",
    apis: ["v2"],
    world: {
      endpoint: { max: 2 },
      workers: [worker("RUNNING"), worker("RUNNING")],
      health: { jobs: jobs(4, 2), workers: counts({ running: 1, unhealthy: 1 }) },
    },
    truth: [],
  },
  {
    name: "three workers run by the pods' view, and are idle by the queue's",
    apis: ["v2"],
    world: { workers: three("RUNNING"), health: { jobs: jobs(4, 0), workers: counts({ idle: 3, ready: 3 }) } },
    truth: [],
    never: ["workers-busy"],
  },
  {
    name: "three workers run by the pods' view, and the queue counts none",
    world: { workers: three("RUNNING"), health: { jobs: jobs(4, 0), workers: counts({}) } },
    truth: [],
    never: ["workers-busy"],
  },
  {
    name: "three workers run by the pods' view, and the queue counts none but jobs in progress",
    world: { workers: three("RUNNING"), health: { jobs: jobs(4, 3), workers: counts({}) } },
    truth: [],
    never: ["workers-busy"],
  },
];

const WAITS: readonly State[] = [
  ...onEachKind({
    name: "the first worker has just begun to start",
    world: { workers: [worker("INITIALIZING", { age: 15 })], jobs: jobs(1) },
    truth: ["cold-start"],
    never: ["no-stock", "crash-loop", "image-pull"],
  }),
  {
    name: "a worker starts beside a busy one",
    world: { workers: [worker("RUNNING"), worker("INITIALIZING", { age: 30 })], jobs: jobs(5, 1) },
    truth: ["cold-start"],
  },
  {
    name: "a worker has started in silence for a quarter of an hour",
    apis: ["v2"],
    world: { workers: [worker("INITIALIZING", { age: 900 })], jobs: jobs(1) },
    truth: [],
    never: ["cold-start", "image-pulling"],
  },
  ...onEachKind({
    name: "a rollout replaces one of two workers",
    world: {
      endpoint: { max: 2 },
      workers: [worker("RUNNING", { isStale: true }), worker("INITIALIZING", { age: 30 })],
      jobs: jobs(2, 1),
    },
    truth: ["rollout", "cold-start"],
  }),
  {
    name: "a rollout replaces the only worker",
    world: { endpoint: { max: 1 }, workers: [worker("RUNNING", { isStale: true })], jobs: jobs(2, 1) },
    truth: ["rollout", "workers-busy"],
  },
  {
    name: "a job waits for less than the queue delay",
    world: {
      endpoint: { scalerValue: 30 },
      workers: [worker("RUNNING")],
      jobs: jobs(1, 1),
      recentJobs: [{ id: "job2", status: "IN_QUEUE", delayTime: 5000 }],
    },
    truth: ["scaling-rule"],
  },
  {
    name: "a job waits beside a busy worker, nobody knows for how long",
    world: { endpoint: { scalerValue: 30 }, workers: [worker("RUNNING")], jobs: jobs(1, 1) },
    truth: [],
  },
  {
    name: "two requests need one worker by the scaling rule",
    world: {
      endpoint: { scalerType: "REQUEST_COUNT", scalerValue: 4 },
      workers: [worker("RUNNING")],
      jobs: jobs(1, 1),
    },
    truth: ["scaling-rule"],
  },
  {
    name: "three workers are idle, and jobs wait",
    world: { workers: three("IDLE"), jobs: jobs(5) },
    truth: ["handler-takes-no-jobs"],
  },
  {
    name: "one worker takes all jobs, with a library that does so",
    apis: ["v2"],
    logs: true,
    world: {
      volumes: { vol1: "EU-RO-1" },
      workers: (["RUNNING", "IDLE", "IDLE"] as const).map((status) =>
        worker(status, { logs: log(200, "container: --- Starting Serverless Worker |  Version 1.9.0 ---") }),
      ),
      jobs: jobs(4, 1),
    },
    truth: ["one-worker-takes-all"],
  },
  {
    name: "one worker takes all jobs, with a library that was repaired",
    apis: ["v2"],
    logs: true,
    world: {
      volumes: { vol1: "EU-RO-1" },
      workers: (["RUNNING", "IDLE", "IDLE"] as const).map((status) =>
        worker(status, { logs: log(200, "container: --- Starting Serverless Worker |  Version 1.10.1 ---") }),
      ),
      jobs: jobs(4, 1),
    },
    truth: [],
    never: ["one-worker-takes-all"],
  },
  {
    name: "two workers are throttled, though there is stock",
    world: { workers: [worker("THROTTLED"), worker("THROTTLED")], jobs: jobs(2) },
    truth: ["throttled"],
  },
  { name: "nothing explains why there is no worker", world: { jobs: jobs(2) }, truth: [] },
];

const CALM: readonly State[] = [
  { name: "nobody has sent a job", world: {}, truth: ["nothing-wrong", "no-job-waits"], calm: true },
  {
    name: "a CPU endpoint has no job",
    world: { endpoint: { isCpu: true } },
    truth: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    name: "a worker is idle, and no job waits",
    world: { workers: [worker("IDLE")] },
    truth: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    name: "all workers are busy, and no job waits",
    world: { workers: three("RUNNING"), jobs: jobs(0, 3) },
    truth: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    name: "few of many jobs have failed",
    world: { workers: [worker("IDLE")], jobs: jobs(0, 0, 500, 3) },
    truth: [],
    calm: true,
  },
  {
    name: "one throttled worker is left after the scale to zero",
    world: { workers: [worker("THROTTLED")] },
    truth: [],
    calm: true,
  },
];

const NO_CALM: readonly State[] = [
  {
    name: "the queue counts an unhealthy worker that the list does not show, and no job waits",
    world: { health: { jobs: jobs(0), workers: counts({ unhealthy: 1 }) } },
    truth: ["crash-loop"],
  },
  {
    name: "the queue counts an unhealthy and an idle worker, and no job waits",
    world: { workers: [worker("IDLE"), worker("UNHEALTHY")] },
    truth: ["crash-loop"],
  },
  {
    name: "an unhealthy worker is in the list and not in the queue's counts, and no job waits",
    apis: ["v2"],
    world: { workers: [worker("UNHEALTHY")], health: { jobs: jobs(0), workers: counts({}) } },
    truth: ["crash-loop"],
  },
  {
    name: "all ready workers are stale, and no rollout is said to be in progress",
    apis: ["v2"],
    world: {
      workers: [worker("IDLE", { isStale: true }), worker("IDLE", { isStale: true })],
      rollout: { inProgress: false, workersOnLatest: 0, workersTotal: 2 },
    },
    truth: ["rollout"],
  },
  {
    name: "all ready workers are stale, and the releases cannot be read",
    apis: ["v2"],
    world: { workers: [worker("IDLE", { isStale: true })], faults: { releases: 500 } },
    truth: ["rollout"],
  },
  {
    name: "a rollout is in progress, and no job waits",
    apis: ["v2"],
    world: { workers: [worker("IDLE"), worker("RUNNING", { isStale: true })], jobs: jobs(0, 1) },
    truth: ["rollout"],
  },
  {
    name: "a rollout has replaced no worker, the log is not read, and no job waits",
    apis: ["v2"],
    world: {
      workers: [worker("INITIALIZING", { age: 120 }), worker("IDLE", { isStale: true })],
      rollout: { inProgress: true, workersOnLatest: 0, workersTotal: 2, percentOnLatest: 0 },
    },
    truth: ["rollout", "cold-start"],
  },
  {
    name: "most jobs have failed, and none waits",
    world: { jobs: jobs(0, 0, 0, 200) },
    truth: ["jobs-failing"],
  },
  {
    name: "a worker is wanted, throttled, and no job waits",
    world: { endpoint: { min: 1 }, workers: [worker("THROTTLED", { age: 400 })] },
    truth: ["throttled"],
  },
  {
    name: "a worker is wanted, has started in silence for a quarter of an hour, and no job waits",
    apis: ["v2"],
    world: { endpoint: { min: 1 }, workers: [worker("INITIALIZING", { age: 900 })] },
    truth: [],
  },
  ...([500, "silent", "malformed", "html403"] as const).map(
    (fault): State => ({
      name: `a worker is idle, and the queue answers ${fault}`,
      world: { workers: [worker("IDLE")], faults: { health: fault, metrics: fault } },
      truth: [],
    }),
  ),
  {
    name: "a load-balancing endpoint has an idle worker",
    world: { endpoint: { type: "LOAD_BALANCER" }, workers: [worker("IDLE")] },
    truth: ["no-queue"],
  },
  {
    name: "a load-balancing endpoint has no worker",
    world: { endpoint: { type: "LOAD_BALANCER" } },
    truth: ["no-queue"],
  },
  {
    name: "a load-balancing endpoint has an unhealthy worker",
    world: { endpoint: { type: "LOAD_BALANCER" }, workers: [worker("UNHEALTHY")] },
    truth: ["crash-loop"],
    certain: ["no-queue"],
  },
  {
    name: "management says queue, and the queue host says load balancer",
    world: { workers: [worker("IDLE")], faults: { health: 400, metrics: 400 } },
    truth: [],
    never: ["no-queue"],
  },
];

/** States of busy workers, of waits, and of calm. */
export const WORK: readonly State[] = [...BUSY, ...WAITS, ...CALM, ...NO_CALM];
