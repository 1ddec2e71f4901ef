import type { Worker } from "../world";
import { container, STARTING, type State, starts, traceback, waiting } from "./state";

const worker = (id: string, status: Worker["status"], more: Partial<Worker> = {}): Worker => ({
  id,
  status,
  up: 900,
  ...more,
});
const serving = [...starts(900), container(890, STARTING), container(5, "Finished.")];
const denied = { status: 403, body: { title: "Forbidden", status: 403, detail: "access denied" } };
const odd = { status: 200, body: "{" };

/** No job waits: whether "nothing is wrong" may be said. */
export const quiet: State[] = [
  { title: "it rests at zero", world: {}, causes: ["nothing-wrong", "no-job-waits"], calm: true },
  {
    title: "a worker idles",
    world: { workers: [worker("a", "IDLE", { log: serving })] },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    title: "workers run and nothing waits",
    world: { jobs: waiting(0, 1), workers: [worker("a", "RUNNING", { log: serving })] },
    causes: ["nothing-wrong", "jobs-running", "no-job-waits"],
    calm: true,
  },
  {
    title: "few jobs have failed",
    world: { jobs: { completed: 500, failed: 3 } },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    title: "more jobs have failed than completed",
    world: { jobs: { completed: 3, failed: 50 } },
    causes: ["jobs-failing"],
  },
  { title: "all jobs have failed", world: { jobs: { completed: 0, failed: 2 } }, causes: ["jobs-failing"] },
  {
    title: "jobs fail, and a worker prints their tracebacks",
    world: {
      jobs: { completed: 3, failed: 50 },
      workers: [
        worker("a", "IDLE", {
          log: [...starts(900), container(890, STARTING), container(20, "Started."), ...traceback(10, "ValueError: x")],
        }),
      ],
    },
    causes: ["jobs-failing"],
    fine: ["no-job-waits"],
  },
  {
    title: "the last line of an idle worker is a traceback",
    world: {
      workers: [
        worker("a", "IDLE", {
          log: [...starts(900), container(890, STARTING), container(20, "Started."), ...traceback(10, "ValueError: x")],
        }),
      ],
    },
    causes: ["no-job-waits"],
    fine: ["jobs-failing"],
    graphql: "hides",
  },
  {
    title: "the queue counts an unhealthy worker that management does not list",
    world: { counted: { unhealthy: 1 } },
    causes: ["no-job-waits", "crash-loop"],
    fine: ["crash-loop"],
  },
  {
    title: "a worker is unhealthy",
    world: { workers: [worker("a", "UNHEALTHY"), worker("b", "IDLE", { log: serving })] },
    causes: ["no-job-waits", "crash-loop"],
    fine: ["image-pull"],
  },
  {
    title: "all workers are stale",
    world: { workers: [worker("a", "IDLE", { stale: true, log: serving })] },
    causes: ["rollout", "no-job-waits"],
  },
  {
    title: "one of two workers is stale",
    world: { workers: [worker("a", "IDLE", { stale: true, log: serving }), worker("b", "IDLE", { log: serving })] },
    causes: [],
    fine: ["rollout"],
  },
  {
    title: "a rollout is in progress without a worker",
    world: { rollout: { inProgress: true, onLatest: 0, total: 0 } },
    causes: ["rollout", "no-job-waits"],
    graphql: "hides",
  },
  {
    title: "a rollout is in progress",
    world: { workers: [worker("a", "IDLE", { log: serving })], rollout: { inProgress: true, onLatest: 1, total: 2 } },
    causes: ["rollout", "no-job-waits"],
    graphql: "hides",
  },
  {
    title: "0 % of no worker is on the latest release",
    world: { rollout: { inProgress: false, onLatest: 0, total: 0 } },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    title: "the queue cannot be read",
    world: { workers: [worker("a", "IDLE", { log: serving })], faults: { health: denied } },
    causes: ["no-access"],
    proven: ["no-access"],
    fine: ["no-access"],
  },
  { title: "the queue answers with half a text", world: { faults: { health: odd } }, causes: [] },
  {
    title: "the queue's counts are missing",
    world: { health: { workers: { idle: 0, running: 0 } } },
    causes: [],
  },
  { title: "the queue answers an empty object", world: { health: {} }, causes: [], fine: ["no-job-waits"] },
  {
    title: "the queue's counts are null",
    world: { health: { jobs: null, workers: null } },
    causes: [],
    fine: ["no-job-waits"],
  },
  {
    title: "the queue's counts are texts",
    world: { health: { jobs: { inQueue: "3", inProgress: "0" }, workers: {} } },
    causes: [],
  },
  {
    title: "the queue shows only the documented keys",
    world: {
      health: {
        jobs: { completed: 1, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
        workers: { idle: 0, running: 0 },
      },
    },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  { title: "it must keep a worker and has none", world: { min: 1 }, causes: [], fine: ["cold-start"] },
  {
    title: "it must keep two workers and has one",
    world: { min: 2, workers: [worker("a", "IDLE", { log: serving })] },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "it must keep a worker, which starts",
    world: { min: 1, workers: [worker("a", "INITIALIZING", { up: 20 })] },
    causes: ["cold-start", "no-job-waits"],
  },
  {
    title: "it must keep a worker, which has initialized for an hour",
    world: { min: 1, workers: [worker("a", "INITIALIZING", { up: 3600 })] },
    causes: [],
    fine: ["image-pulling"],
    graphql: "hides",
  },
  {
    title: "it must keep a worker, and the spend limit is reached",
    world: { min: 1, limits: { spend: 80, spendLimit: 80 } },
    causes: ["spend-limit"],
  },
  {
    title: "it must keep a worker, and its pool does not exist",
    world: { min: 1, pools: ["AMPERE_99"] },
    causes: ["gpu-ids"],
  },
  {
    title: "it must keep a worker, and a secret is missing",
    world: { min: 1, env: { A: "{{ RUNPOD_SECRET_a }}" } },
    causes: ["missing-secret"],
  },
  {
    title: "workers cannot be read, and one of them is unhealthy",
    world: { workers: [worker("a", "UNHEALTHY")], faults: { workers: denied } },
    causes: ["no-job-waits", "crash-loop"],
    graphql: "none",
  },
  {
    title: "releases cannot be read, during a rollout",
    world: {
      workers: [worker("a", "IDLE", { log: serving })],
      rollout: { inProgress: true, onLatest: 0, total: 1 },
      faults: { releases: denied },
    },
    causes: ["no-job-waits"],
    graphql: "none",
  },
  {
    title: "the endpoint cannot be read, and the rest is quiet",
    world: { workers: [worker("a", "IDLE", { log: serving })], faults: { endpoint: denied } },
    causes: ["no-job-waits", "no-access"],
    fine: ["no-access"],
    graphql: "none",
  },
  {
    title: "the service fails for a moment at its queue",
    world: { faults: { health: { status: 400, body: { title: "Bad Request", status: 400, detail: "x" } } } },
    causes: [],
  },
  {
    title: "a job may wait: workers start though nothing is counted",
    world: { workers: [worker("a", "INITIALIZING", { up: 15 })] },
    causes: ["cold-start", "no-job-waits"],
    fine: ["nothing-wrong"],
    calm: true,
  },
];
