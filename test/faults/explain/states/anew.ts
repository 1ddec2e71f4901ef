import type { Worker } from "../world";
import { container, FULL_GPU_ADVICE, LOOP, STARTING, type State, starts, system, traceback, waiting } from "./state";

const worker = (id: string, status: Worker["status"], more: Partial<Worker> = {}): Worker => ({
  id,
  status,
  up: 900,
  ...more,
});
const serving = [...starts(900), container(890, STARTING), container(5, "Finished.")];
const inRollout = (onLatest: number, total: number) => ({ inProgress: true, onLatest, total });
const down = { status: 500, body: { title: "Internal Server Error", status: 500, detail: "x" } };

/** States made up by somebody who first read the rules, to find what they overlook. */
export const anew: State[] = [
  {
    title: "a rollout: the old worker is busy, the new one starts",
    world: {
      jobs: waiting(2, 1),
      max: 2,
      workers: [worker("a", "RUNNING", { stale: true, log: serving }), worker("b", "INITIALIZING", { up: 30 })],
      rollout: inRollout(0, 2),
    },
    causes: ["rollout", "cold-start"],
  },
  {
    title: "a rollout, half done, and nothing waits",
    world: { workers: [worker("a", "IDLE", { stale: true }), worker("b", "IDLE")], rollout: inRollout(1, 2) },
    causes: ["rollout", "no-job-waits"],
    graphql: "hides",
  },
  {
    title: "the registry credential is missing, and the pull backs off",
    world: {
      jobs: waiting(1),
      workers: [
        worker("a", "INITIALIZING", {
          up: 300,
          log: [
            system(200, "create pod: begin"),
            system(190, "failed to pull image: unauthorized: authentication required"),
            system(20, "Back-off pulling image me/private:1"),
          ],
        }),
      ],
    },
    causes: ["image-pull"],
    graphql: "hides",
  },
  {
    title: "the registry credential is missing on a CPU endpoint, and a worker must be kept",
    world: {
      cpu: true,
      min: 1,
      workers: [
        worker("a", "INITIALIZING", {
          up: 200,
          log: [system(100, "error pulling image: pull access denied for me/x")],
        }),
      ],
    },
    causes: ["image-pull"],
    graphql: "hides",
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint's program misses CUDA and crashes",
    world: {
      cpu: true,
      jobs: waiting(2),
      workers: [
        worker("a", "INITIALIZING", {
          up: 100,
          log: [90, 60, 30].flatMap((ago) => [
            ...starts(ago),
            ...traceback(ago - 10, "RuntimeError: Found no NVIDIA driver"),
          ]),
        }),
      ],
    },
    causes: ["crash-loop"],
    graphql: "hides",
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a load balancer that must keep a worker has none, and the balance is too low",
    world: { kind: "LOAD_BALANCER", min: 1, limits: { underBalance: true, balance: -2, spend: 0, spendLimit: 80 } },
    causes: ["spend-limit"],
    proven: ["no-queue", "spend-limit"],
    fine: ["no-queue"],
    // REST v2 does not show a balance.
    v2: "hides",
  },
  {
    title: "a load balancer's only worker is throttled, and none must be kept",
    world: { kind: "LOAD_BALANCER", workers: [worker("a", "THROTTLED")] },
    causes: ["throttled"],
    proven: ["no-queue"],
    fine: ["no-queue", "no-stock"],
  },
  {
    title: "a load balancer serves, while one of its workers is unhealthy",
    world: { kind: "LOAD_BALANCER", workers: [worker("a", "RUNNING", { log: serving }), worker("b", "UNHEALTHY")] },
    causes: ["crash-loop", "image-pull"],
    proven: ["no-queue"],
    fine: ["no-queue"],
  },
  {
    title: "a CPU load balancer lacks a secret",
    world: {
      cpu: true,
      kind: "LOAD_BALANCER",
      min: 1,
      env: { HF: "{{ RUNPOD_SECRET_hf }}" },
      workers: [worker("a", "INITIALIZING", { up: 100 })],
    },
    causes: ["missing-secret"],
    proven: ["no-queue"],
    fine: ["no-queue", "cold-start"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a pull error twenty minutes ago is the last line of a worker that initializes",
    world: {
      jobs: waiting(1),
      workers: [
        worker("a", "INITIALIZING", { up: 1300, log: [system(1200, "error pulling image: manifest unknown")] }),
      ],
    },
    causes: ["image-pull"],
    graphql: "hides",
  },
  {
    title: "a crash loop three hours ago, and a start ten seconds ago",
    world: {
      jobs: waiting(1),
      workers: [
        worker("a", "INITIALIZING", {
          up: 12,
          log: [...LOOP.map(([ago, from, text]) => [ago + 10_800, from, text] as const), ...starts(10)],
        }),
      ],
    },
    causes: ["cold-start"],
    graphql: "hides",
  },
  {
    title: "the kernel killed a job an hour ago, and the worker serves again",
    world: {
      jobs: waiting(4, 1),
      max: 1,
      workers: [
        worker("a", "RUNNING", {
          up: 3500,
          log: [system(3600, "container killed: OOMKilled (exit code 137)"), ...starts(3590), ...serving.slice(1)],
        }),
      ],
    },
    causes: ["workers-busy"],
  },
  {
    title: "four GPUs on one machine are nowhere free, though single ones are",
    world: { jobs: waiting(2), gpuCount: 4, largestFree: 2 },
    causes: ["no-stock"],
    graphql: "hides",
  },
  {
    title: "its only pool does not exist, and it asks for a CUDA version that no machine has",
    world: { jobs: waiting(1), pools: ["AMPERE_99"], minCuda: "13.0" },
    causes: ["gpu-ids"],
  },
  {
    title: "the variable names a secret whose name only begins like an existing one",
    world: {
      jobs: waiting(1),
      env: { HF: "{{ RUNPOD_SECRET_hf_token }}" },
      secrets: ["hf"],
      workers: [worker("a", "INITIALIZING", { up: 60 })],
    },
    causes: ["missing-secret"],
    fine: ["cold-start"],
  },
  {
    title: "a variable holds the words of a reference, but is none",
    world: {
      jobs: waiting(1),
      env: { NOTE: "see RUNPOD_SECRET_hf" },
      workers: [worker("a", "INITIALIZING", { up: 20 })],
    },
    causes: ["cold-start"],
  },
  {
    title: "one value names two secrets that are missing, and the container crashes",
    world: {
      jobs: waiting(1),
      env: { DSN: "pg://{{ RUNPOD_SECRET_user }}:{{ RUNPOD_SECRET_word }}@db" },
      workers: [worker("a", "INITIALIZING", { up: 100, log: LOOP })],
    },
    causes: ["missing-secret"],
    fine: ["crash-loop", "cold-start"],
  },
  {
    title: "the queue counts no workers at all, management fails, and jobs wait",
    world: { jobs: waiting(3), health: { jobs: waiting(3), workers: {} }, faults: { management: down } },
    causes: [],
  },
  {
    title: "it is off, and the balance is too low, and jobs wait",
    world: { jobs: waiting(3), max: 0, limits: { underBalance: true, balance: -1, spend: 0, spendLimit: 80 } },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed", "spend-limit"],
    fine: ["spend-limit"],
  },
  {
    title: "a rule keeps it off at night: nothing waits, and two jobs were done today",
    world: { max: 0, jobs: { completed: 2, failed: 0 } },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed"],
  },
  {
    title: "its budget lets it have one worker, which is busy",
    world: { jobs: waiting(9, 1), max: 1, workers: [worker("a", "RUNNING", { log: serving })] },
    causes: ["workers-busy"],
  },
  {
    title: "the only worker is busy and stale during a rollout",
    world: {
      jobs: waiting(2, 1),
      max: 1,
      workers: [worker("a", "RUNNING", { stale: true, log: serving })],
      rollout: inRollout(0, 1),
    },
    causes: ["rollout", "workers-busy"],
  },
  {
    title: "an idle worker whose library has waited for hours, and one job is counted",
    world: {
      jobs: waiting(1),
      workers: [worker("a", "IDLE", { up: 18_000, log: [...starts(18_000), container(17_990, STARTING)] })],
    },
    causes: [],
    fine: ["handler-takes-no-jobs"],
    graphql: "hides",
  },
  {
    title: "the progress of a pull on a service whose clock is two hours ahead",
    world: {
      jobs: waiting(1),
      clockAhead: 7200,
      workers: [worker("a", "INITIALIZING", { up: 60, log: [system(20, "3f4a: Downloading [==>  ] 1.2GB/9.8GB")] })],
    },
    causes: ["image-pulling", "cold-start"],
  },
  {
    title: "a CPU endpoint's volume is outside of its locations, and the volumes cannot be read",
    world: { cpu: true, jobs: waiting(1), places: ["US-TX-3"], volumes: ["volro"], faults: { volumes: down } },
    causes: [],
    fine: ["cold-start"],
    never: FULL_GPU_ADVICE,
    // The fault is one of REST v2.
    graphql: "none",
  },
  {
    title: "its volume is outside of its locations, while a worker must be kept and nothing waits",
    world: { min: 1, places: ["US-TX-3"], volumes: ["volro"] },
    causes: ["volume-place"],
  },
  {
    title: "an unhealthy worker remains, a healthy one works, and nothing waits",
    world: { workers: [worker("a", "UNHEALTHY"), worker("b", "RUNNING", { log: serving })], jobs: waiting(0, 1) },
    causes: ["crash-loop", "image-pull", "no-job-waits"],
  },
  {
    title: "all workers are busy with jobs and the log of one has an old traceback of a job",
    world: {
      jobs: waiting(8, 2),
      max: 2,
      workers: [
        worker("a", "RUNNING", {
          log: [
            ...starts(900),
            container(890, STARTING),
            ...traceback(300, "ValueError: bad prompt"),
            container(5, "Started."),
          ],
        }),
        worker("b", "RUNNING", { log: serving }),
      ],
    },
    causes: ["workers-busy"],
  },
  {
    title: "the releases and the log cannot be read, and nothing waits",
    world: { workers: [worker("a", "IDLE")], faults: { releases: down, logs: down } },
    causes: ["no-job-waits"],
    graphql: "hides",
  },
  {
    title: "the quota is used up, the stock is gone, and no worker is there",
    world: { jobs: waiting(2), stock: { ADA_24: "NONE" }, limits: { quota: 5, spend: 0, spendLimit: 80 }, others: [9] },
    causes: ["no-stock", "worker-quota"],
  },
];
