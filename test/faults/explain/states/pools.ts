import type { Worker } from "../world";
import { container, FULL_GPU_ADVICE, STARTING, type State, starts, waiting } from "./state";

const worker = (id: string, status: Worker["status"], more: Partial<Worker> = {}): Worker => ({
  id,
  status,
  up: 900,
  ...more,
});
const serving = [...starts(900), container(890, STARTING), container(5, "Finished.")];
const inRollout = (onLatest: number, total: number) => ({ inProgress: true, onLatest, total });
const twoPools = ["AMPERE_48", "ADA_24"];

/** Pools, places, volumes and limits together. */
export const pools: State[] = [
  {
    title: "two pools: the first is sold out, the second is free only where it may not run",
    world: {
      jobs: waiting(2),
      pools: twoPools,
      places: ["EU-RO-1"],
      stock: { AMPERE_48: "NONE", ADA_24: { "US-KS-2": "HIGH" } },
    },
    causes: ["no-stock"],
  },
  {
    title: "two pools: the first is sold out, the second is scarce",
    world: { jobs: waiting(2), pools: twoPools, stock: { AMPERE_48: "NONE", ADA_24: "SCARCE" } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "two pools: one is sold out, and all types of the other are excluded",
    world: {
      jobs: waiting(2),
      pools: twoPools,
      excluded: ["NVIDIA GeForce RTX 4090"],
      stock: { AMPERE_48: "NONE" },
    },
    causes: ["no-stock"],
  },
  {
    title: "two pools: one does not exist, and all types of the other are excluded",
    world: { jobs: waiting(2), pools: ["AMPERE_99", "ADA_24"], excluded: ["NVIDIA GeForce RTX 4090"] },
    causes: ["gpu-ids"],
  },
  {
    title: "two pools: only the second is free at its volume, and the workers are throttled",
    world: {
      jobs: waiting(3),
      pools: twoPools,
      volumes: ["volro"],
      stock: { AMPERE_48: { "US-KS-2": "HIGH" }, ADA_24: { "EU-RO-1": "LOW" } },
      workers: [worker("a", "THROTTLED"), worker("b", "THROTTLED")],
    },
    causes: ["throttled"],
  },
  {
    title: "the machines at its volume are busy with its own workers, all that it may have",
    world: {
      jobs: waiting(9, 2),
      max: 2,
      volumes: ["volks"],
      stock: { ADA_24: { "EU-RO-1": "HIGH" } },
      workers: [worker("a", "RUNNING", { log: serving }), worker("b", "RUNNING", { log: serving })],
    },
    causes: ["workers-busy"],
  },
  {
    title: "a load balancer must keep a worker, and its volume is where none may run",
    world: { kind: "LOAD_BALANCER", min: 1, places: ["US-TX-3"], volumes: ["volro"] },
    causes: ["volume-place"],
    proven: ["no-queue"],
    fine: ["no-queue"],
  },
  {
    title: "the place that it allows does not exist",
    world: { jobs: waiting(1), places: ["EU-XX-9"] },
    causes: ["no-stock"],
  },
  {
    title: "a CPU load balancer that must keep a worker has none, and the spend limit is reached",
    world: { cpu: true, kind: "LOAD_BALANCER", min: 1, limits: { spend: 80, spendLimit: 80 } },
    causes: ["spend-limit"],
    proven: ["no-queue"],
    fine: ["no-queue"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "the quota is allotted to the last worker, and the first job after zero waits",
    world: { jobs: waiting(1), limits: { quota: 5 }, others: [2] },
    causes: [],
    fine: ["cold-start"],
    never: /Lower workersMax/,
  },
  {
    title: "a CPU endpoint has no worker, because the quota is exceeded",
    world: { cpu: true, jobs: waiting(2), limits: { quota: 5 }, others: [9] },
    causes: ["worker-quota"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a rollout whose new workers find no stock, while an old one idles",
    world: {
      jobs: waiting(2),
      stock: { ADA_24: "NONE" },
      workers: [worker("a", "IDLE", { stale: true })],
      rollout: inRollout(0, 1),
    },
    causes: ["rollout", "no-stock"],
  },
];
