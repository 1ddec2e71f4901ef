import type { Worker } from "../world";
import { container, FULL_GPU_ADVICE, LOOP, STARTING, type State, starts, system, waiting } from "./state";

const worker = (id: string, status: Worker["status"], more: Partial<Worker> = {}): Worker => ({
  id,
  status,
  up: 900,
  ...more,
});
const serving = [...starts(900), container(890, STARTING), container(5, "Finished.")];
const inRollout = (onLatest: number, total: number) => ({ inProgress: true, onLatest, total });
const down = { status: 500, body: { title: "Internal Server Error", status: 500, detail: "x" } };
const pullFails = [system(40, "error pulling image: manifest unknown")];

/** Old and contradicting evidence, schedules, rollouts, and workers that end. */
export const further: State[] = [
  {
    title: "the waiting jobs' time to live has run out, and the workers are still throttled",
    world: { jobs: { completed: 12 }, workers: [worker("a", "THROTTLED"), worker("b", "THROTTLED")] },
    causes: [],
    fine: ["throttled", "no-job-waits"],
  },
  {
    title: "the jobs' time to live has run out while the container crashed",
    world: { jobs: {}, workers: [worker("a", "INITIALIZING", { up: 100, log: LOOP })] },
    causes: ["crash-loop"],
    graphql: "hides",
  },
  {
    title: "a schedule set workersMax 0 a minute ago: two workers end, and jobs wait",
    world: { jobs: waiting(5, 1), max: 0, workers: [worker("a", "RUNNING", { log: serving }), worker("b", "IDLE")] },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "a schedule set workersMax 0 a minute ago: two workers end without a job, and jobs wait",
    world: { jobs: waiting(5), max: 0, workers: [worker("a", "IDLE", { log: serving }), worker("b", "IDLE")] },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "a schedule set workersMax 0 while a worker was throttled, and jobs wait",
    world: { jobs: waiting(5), max: 0, workers: [worker("a", "THROTTLED")] },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "a schedule set workersMax 0 during a rollout whose new worker crashes",
    world: {
      jobs: waiting(5),
      max: 0,
      workers: [worker("a", "INITIALIZING", { up: 90, log: LOOP })],
      rollout: inRollout(1, 2),
    },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
    fine: ["crash-loop", "rollout", "cold-start"],
  },
  {
    title: "a rollout: the old worker is busy, and the new one is throttled",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [worker("a", "RUNNING", { stale: true, log: serving }), worker("b", "THROTTLED")],
      rollout: inRollout(0, 2),
    },
    causes: ["rollout", "throttled"],
  },
  {
    title: "a rollout: the new worker is busy, the old one idles until it ends, and jobs wait",
    world: {
      jobs: waiting(4, 1),
      max: 2,
      workers: [worker("a", "RUNNING", { log: serving }), worker("b", "IDLE", { stale: true })],
      rollout: inRollout(1, 2),
    },
    causes: ["rollout"],
    graphql: "hides",
  },
  {
    title: "a rollout to variables that name a missing secret, while the old workers serve",
    world: {
      jobs: waiting(4, 2),
      env: { HF: "{{ RUNPOD_SECRET_hf }}" },
      workers: [
        worker("a", "RUNNING", { stale: true, log: serving }),
        worker("b", "RUNNING", { stale: true, log: serving }),
        worker("c", "INITIALIZING", { up: 40 }),
      ],
      rollout: inRollout(0, 3),
    },
    causes: ["missing-secret"],
    fine: ["rollout", "cold-start", "workers-busy"],
  },
  {
    title: "the list of releases says that a rollout is over, and all workers are stale and busy",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING", { stale: true }), worker("b", "RUNNING", { stale: true })],
      rollout: { inProgress: false, onLatest: 2, total: 2 },
    },
    causes: ["rollout", "workers-busy"],
  },
  {
    title: "a load balancer's rollout: the new image cannot be pulled, and the old worker serves",
    world: {
      kind: "LOAD_BALANCER",
      workers: [
        worker("a", "RUNNING", { stale: true, log: serving }),
        worker("b", "INITIALIZING", { up: 100, log: pullFails }),
      ],
      rollout: inRollout(0, 2),
    },
    causes: ["image-pull"],
    proven: ["no-queue"],
    fine: ["no-queue", "rollout"],
    graphql: "hides",
  },
  {
    title: "a load balancer that must keep a worker has one that has initialized for twenty minutes",
    world: { kind: "LOAD_BALANCER", min: 1, workers: [worker("a", "INITIALIZING", { up: 1200 })] },
    causes: [],
    proven: ["no-queue"],
    fine: ["no-queue"],
    graphql: "hides",
  },
  {
    title: "a CPU endpoint is rolled out to an image of another architecture",
    world: {
      cpu: true,
      jobs: waiting(2),
      max: 1,
      workers: [
        worker("b", "INITIALIZING", {
          up: 100,
          log: [90, 60, 30].flatMap((ago) => [...starts(ago), container(ago - 1, "exec /bin/sh: exec format error")]),
        }),
      ],
      rollout: inRollout(1, 1),
    },
    causes: ["crash-loop"],
    fine: ["rollout"],
    graphql: "hides",
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a pull error of three hours ago in the log of a worker that is busy",
    world: {
      jobs: waiting(6, 1),
      max: 1,
      workers: [
        worker("a", "RUNNING", {
          up: 9000,
          log: [
            system(10_800, "error pulling image: toomanyrequests: rate limit"),
            ...starts(8990),
            ...serving.slice(1),
          ],
        }),
      ],
    },
    causes: ["workers-busy"],
  },
  {
    title: "an image is pulled for a worker that must be kept, beside one that is idle",
    world: {
      min: 2,
      workers: [
        worker("a", "IDLE", { log: serving }),
        worker("b", "INITIALIZING", { up: 60, log: [system(10, "3f4a: Downloading [==>  ] 1.2GB/9.8GB")] }),
      ],
    },
    causes: ["image-pulling", "cold-start"],
  },
  {
    title: "one worker is throttled, and another starts",
    world: { jobs: waiting(3), workers: [worker("a", "THROTTLED"), worker("b", "INITIALIZING", { up: 10 })] },
    causes: ["cold-start", "throttled"],
  },
  {
    title: "the queue cannot be read, and the only worker is throttled",
    world: { faults: { health: down }, workers: [worker("a", "THROTTLED")] },
    causes: [],
    fine: ["throttled"],
  },
  {
    title: "management fails, and the queue counts throttled workers and waiting jobs",
    world: {
      jobs: waiting(4),
      workers: [worker("a", "THROTTLED"), worker("b", "THROTTLED")],
      faults: { management: down },
    },
    causes: ["throttled"],
    graphql: "none",
  },
  {
    title: "the list of workers is empty, the queue counts an idle one, and a job waits",
    world: { jobs: waiting(1), counted: { idle: 1, ready: 1 } },
    causes: [],
    fine: ["handler-takes-no-jobs", "cold-start"],
  },
  {
    title: "its rule counts twenty requests for one worker, which works",
    world: {
      jobs: waiting(10, 1),
      scaler: ["REQUEST_COUNT", 20],
      workers: [worker("a", "RUNNING", { log: serving })],
    },
    causes: ["scaling-rule"],
  },
  {
    title: "each job kills its container by memory, and the queue tries it again",
    world: {
      jobs: { ...waiting(1, 1), retried: 9, completed: 0 },
      max: 1,
      workers: [
        worker("a", "RUNNING", {
          up: 200,
          log: [180, 120, 60].flatMap((ago) => [
            ...starts(ago),
            container(ago - 5, STARTING),
            container(ago - 10, "Started."),
            system(ago - 30, "container exited with code 137 (OOMKilled)"),
          ]),
        }),
      ],
    },
    causes: ["crash-loop", "workers-busy"],
  },
  {
    title: "the log shows an old version of the library, and a new one since the last start",
    world: {
      jobs: waiting(4, 1),
      workers: [
        worker("a", "RUNNING", {
          log: [
            ...starts(7000),
            container(6990, STARTING),
            ...starts(900),
            container(890, "--- Starting Serverless Worker |  Version 1.11.0 ---"),
            container(5, "Finished."),
          ],
        }),
        worker("b", "IDLE"),
      ],
    },
    causes: [],
    fine: ["scaling-rule"],
  },
  {
    title: "a worker that has served is given a wrong tag, and its log shows both",
    world: {
      jobs: waiting(2),
      workers: [
        worker("a", "INITIALIZING", { up: 60, log: [...starts(7000), container(6990, STARTING), ...pullFails] }),
      ],
    },
    causes: ["image-pull"],
    graphql: "hides",
  },
  {
    title: "an idle worker takes no job, and a throttled one of an old version remains",
    world: {
      jobs: waiting(3),
      workers: [
        worker("a", "IDLE", { log: [...starts(900), container(800, "Listening on port 8000")] }),
        worker("b", "THROTTLED", { stale: true }),
      ],
    },
    causes: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "one old worker takes all jobs while others idle, and an unhealthy one of an old version remains",
    world: {
      jobs: waiting(5, 1),
      workers: [
        worker("a", "RUNNING", { log: serving }),
        worker("b", "IDLE", { log: serving }),
        worker("c", "UNHEALTHY", { stale: true }),
      ],
    },
    causes: ["one-worker-takes-all"],
    fine: ["crash-loop"],
    graphql: "hides",
  },
  {
    title: "a worker lost its machine and is unhealthy, another one starts, and jobs wait",
    world: { jobs: waiting(2), workers: [worker("a", "UNHEALTHY"), worker("b", "INITIALIZING", { up: 10 })] },
    causes: ["cold-start", "crash-loop", "image-pull"],
  },
  {
    title: "a pull error of one worker, while the container of its sibling loads",
    world: {
      jobs: waiting(2),
      workers: [
        worker("a", "INITIALIZING", { up: 60, log: pullFails }),
        worker("b", "INITIALIZING", {
          up: 60,
          log: [...starts(50), container(5, "Loading checkpoint shards: 80%")],
        }),
      ],
    },
    causes: [],
    fine: ["cold-start"],
    graphql: "hides",
  },
  {
    title: "a worker became unhealthy because the pull of its image takes more than seven minutes",
    world: {
      jobs: waiting(2),
      workers: [worker("a", "UNHEALTHY", { up: 480, log: [system(10, "3f4a: Downloading [==>  ] 21.2GB/49.8GB")] })],
    },
    causes: [],
    fine: ["image-pulling", "image-pull"],
    graphql: "hides",
  },
  {
    title: "management shows two running workers, and the queue one running and one unhealthy",
    world: {
      jobs: waiting(4, 2),
      max: 2,
      workers: [worker("a", "RUNNING"), worker("b", "RUNNING")],
      counted: { running: 1, unhealthy: 1 },
    },
    causes: ["crash-loop", "image-pull"],
  },
  {
    title: "a worker counts as idle while its program still loads",
    world: {
      jobs: waiting(2),
      workers: [worker("a", "IDLE", { up: 60, log: [...starts(50), container(3, "Loading weights: 4 of 9")] })],
    },
    causes: [],
    fine: ["cold-start"],
    graphql: "hides",
  },
];
