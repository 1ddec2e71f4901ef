import type { Worker } from "../world";
import { container, FULL_GPU_ADVICE, STARTING, type State, starts, system, traceback, waiting } from "./state";

const worker = (id: string, status: Worker["status"], more: Partial<Worker> = {}): Worker => ({
  id,
  status,
  up: 900,
  ...more,
});
const serving = [...starts(900), container(890, STARTING), container(5, "Finished.")];
const denied = { status: 403, body: { title: "Forbidden", status: 403, detail: "access denied" } };
const odd = { status: 200, body: "{" };

/** Jobs wait, and the workers or the rule for scaling tell why. */
export const loaded: State[] = [
  {
    title: "running workers take no job",
    world: {
      jobs: waiting(5),
      max: 2,
      workers: [
        worker("a", "RUNNING", { log: [...starts(900), container(890, "server is up")] }),
        worker("b", "RUNNING", { log: [...starts(900), container(890, "server is up")] }),
      ],
    },
    causes: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "idle workers take no job",
    world: { jobs: waiting(5), workers: [worker("a", "IDLE", { log: [...starts(900), container(890, "hello")] })] },
    causes: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "a worker became ready a second ago",
    world: {
      jobs: waiting(1),
      max: 1,
      workers: [worker("a", "RUNNING", { up: 1, log: [...starts(30), container(1, STARTING)] })],
    },
    causes: [],
    fine: ["cold-start", "scaling-rule", "workers-busy"],
    graphql: "hides",
  },
  {
    title: "running workers take no job, and their library runs",
    world: {
      jobs: waiting(5),
      max: 1,
      workers: [worker("a", "RUNNING", { log: [...starts(900), container(890, STARTING)] })],
    },
    causes: [],
    fine: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "one old worker takes all jobs while others idle",
    world: {
      jobs: waiting(9, 1),
      max: 3,
      workers: [
        worker("a", "RUNNING", {
          log: [
            ...starts(900),
            container(890, "--- Starting Serverless Worker |  Version 1.9.0 ---"),
            container(3, "Started."),
          ],
        }),
        worker("b", "IDLE"),
        worker("c", "IDLE"),
      ],
    },
    causes: ["one-worker-takes-all"],
    graphql: "hides",
  },
  {
    title: "one new worker takes all jobs while others idle",
    world: {
      jobs: waiting(9, 1),
      max: 3,
      workers: [
        worker("a", "RUNNING", {
          log: [
            ...starts(900),
            container(890, "--- Starting Serverless Worker |  Version 1.12.0 ---"),
            container(3, "Started."),
          ],
        }),
        worker("b", "IDLE"),
        worker("c", "IDLE"),
      ],
    },
    causes: [],
    fine: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "the delay of the rule is not over",
    world: { jobs: waiting(1, 1), scaler: ["QUEUE_DELAY", 600], workers: [worker("a", "RUNNING", { log: serving })] },
    causes: ["scaling-rule"],
  },
  {
    title: "the rule wants one worker for ten jobs",
    world: { jobs: waiting(3, 1), scaler: ["REQUEST_COUNT", 10], workers: [worker("a", "RUNNING", { log: serving })] },
    causes: ["scaling-rule"],
  },
  {
    title: "the rule wants more workers, and there is stock",
    world: { jobs: waiting(30, 1), scaler: ["REQUEST_COUNT", 1], workers: [worker("a", "RUNNING", { log: serving })] },
    causes: [],
    fine: ["workers-busy", "cold-start"],
    graphql: "hides",
  },
  {
    title: "the first job after zero waits, and a worker starts",
    world: { jobs: waiting(1), workers: [worker("a", "INITIALIZING", { up: 12 })] },
    causes: ["cold-start"],
  },
  {
    title: "the first job after zero waits, and no worker is there yet",
    world: { jobs: waiting(1) },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "one works, and one starts",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [worker("a", "RUNNING", { log: serving }), worker("b", "INITIALIZING", { up: 12 })],
    },
    causes: ["cold-start"],
    fine: ["workers-busy"],
  },
  {
    title: "a worker has initialized for an hour",
    world: { jobs: waiting(1), workers: [worker("a", "INITIALIZING", { up: 3600 })] },
    causes: [],
    fine: ["image-pulling"],
    graphql: "hides",
  },
  {
    title: "unhealthy workers, and no log",
    world: { jobs: waiting(4), max: 2, workers: [worker("a", "UNHEALTHY"), worker("b", "UNHEALTHY")] },
    causes: ["crash-loop", "image-pull"],
  },
  {
    title: "the queue counts unhealthy workers, and management cannot show them",
    world: {
      jobs: waiting(4),
      max: 2,
      workers: [worker("a", "UNHEALTHY"), worker("b", "UNHEALTHY")],
      faults: { workers: denied },
    },
    causes: ["crash-loop", "image-pull"],
    graphql: "none",
  },
  {
    title: "management shows none unhealthy, and the queue counts one",
    world: { jobs: waiting(4), counted: { unhealthy: 1 } },
    causes: ["crash-loop", "image-pull"],
  },
  {
    title: "management's workers are all running, and the queue counts none",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING"), worker("b", "RUNNING")],
      counted: { running: 0 },
    },
    causes: [],
  },
  {
    title: "management lists none, and the queue counts busy ones",
    world: { jobs: waiting(4, 3), counted: { running: 3 } },
    causes: [],
    fine: ["workers-busy"],
  },
  {
    title: "the summary and the list of workers differ",
    world: { jobs: waiting(4), summary: { running: 3, total: 3 } },
    causes: [],
    fine: ["workers-busy", "handler-takes-no-jobs", "cold-start"],
    graphql: "none",
  },
  {
    title: "a rollout replaces the only worker",
    world: {
      jobs: waiting(4, 1),
      max: 1,
      workers: [worker("a", "RUNNING", { stale: true, log: serving })],
      rollout: { inProgress: true, onLatest: 0, total: 1 },
    },
    causes: ["rollout"],
    fine: ["workers-busy"],
  },
  {
    title: "a rollout has ended its workers, and the new ones start",
    world: {
      jobs: waiting(4),
      max: 1,
      workers: [worker("b", "INITIALIZING", { up: 20 })],
      rollout: { inProgress: true, onLatest: 1, total: 1 },
    },
    causes: ["rollout", "cold-start"],
  },
  {
    title: "a rollout, and the new worker crashes",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [
        worker("a", "RUNNING", { stale: true, log: serving }),
        worker("b", "INITIALIZING", {
          up: 100,
          log: [...starts(90), ...traceback(80), ...starts(60), ...traceback(50), ...starts(30), ...traceback(20)],
        }),
      ],
      rollout: { inProgress: true, onLatest: 1, total: 2 },
    },
    causes: ["crash-loop"],
    fine: ["rollout"],
    graphql: "hides",
  },
  {
    title: "a rollout in progress whose workers are all on the latest release",
    world: {
      jobs: waiting(4, 1),
      max: 1,
      workers: [worker("a", "RUNNING", { log: serving })],
      rollout: { inProgress: true, onLatest: 1, total: 1 },
    },
    causes: ["workers-busy", "rollout"],
    fine: ["workers-busy", "rollout"],
  },
  {
    title: "a rollout is over, and a stale worker remains busy",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING", { stale: true, log: serving }), worker("b", "RUNNING", { log: serving })],
    },
    causes: ["workers-busy", "rollout"],
  },
  {
    title: "workers cannot be read, and the queue counts as many as allowed",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING"), worker("b", "RUNNING")],
      faults: { workers: denied },
    },
    causes: ["workers-busy"],
    graphql: "none",
  },
  {
    title: "workers answer half a text",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING"), worker("b", "RUNNING")],
      faults: { workers: odd },
    },
    causes: ["workers-busy"],
    graphql: "none",
  },
  {
    title: "management fails, and jobs wait",
    world: {
      jobs: waiting(4),
      faults: { management: { status: 400, body: { title: "Bad Request", status: 400, detail: "x" } } },
    },
    causes: [],
    graphql: "none",
  },
  {
    title: "more jobs are in progress than workers run, because they are concurrent",
    world: {
      jobs: waiting(4, 12),
      max: 2,
      workers: [worker("a", "RUNNING", { log: serving }), worker("b", "RUNNING", { log: serving })],
    },
    causes: ["workers-busy"],
  },
  {
    title: "fewer jobs are in progress than workers run",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [worker("a", "RUNNING", { log: serving }), worker("b", "RUNNING", { log: serving })],
    },
    causes: [],
    fine: ["workers-busy", "one-worker-takes-all", "handler-takes-no-jobs"],
  },
  {
    title: "jobs wait, and all those before have failed",
    world: {
      jobs: { inQueue: 3, inProgress: 1, completed: 0, failed: 40 },
      max: 1,
      workers: [worker("a", "RUNNING", { log: serving })],
    },
    causes: ["workers-busy"],
    fine: ["jobs-failing"],
  },
  {
    title: "the workers' log streams end without a line",
    world: { jobs: waiting(5), max: 1, workers: [worker("a", "RUNNING", { log: [] })], openStream: true },
    causes: [],
    graphql: "hides",
    fine: ["handler-takes-no-jobs"],
  },
  {
    title: "the log ends with a removed container, which is not its only one",
    world: {
      jobs: waiting(2, 1),
      max: 1,
      workers: [
        worker("a", "RUNNING", {
          log: [system(400, "remove container"), ...starts(390), container(380, STARTING), container(5, "Started.")],
        }),
      ],
    },
    causes: ["workers-busy"],
  },
];

/** The same world as a CPU endpoint, of whose stock nothing is read. */
export const asCpu = (state: State): State => ({
  ...state,
  title: `CPU: ${state.title}`,
  world: { ...state.world, cpu: true },
  causes: state.causes.filter((id) => id !== "scaling-rule"),
  fine: [...(state.fine ?? []), ...state.causes],
  never: FULL_GPU_ADVICE,
});
