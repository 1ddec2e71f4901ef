import { LOOP, type State, system, waits } from "./state";

/** Load-balancing endpoints, which have no queue. */
export const balancers: State[] = [
  {
    title: "a load balancer works",
    world: { kind: "LOAD_BALANCER", workers: [{ id: "a", status: "RUNNING", up: 60 }] },
    causes: ["no-queue"],
    proven: ["no-queue"],
    calm: true,
  },
  {
    title: "a load balancer is scaled to zero",
    world: { kind: "LOAD_BALANCER" },
    causes: ["no-queue"],
    proven: ["no-queue"],
    calm: true,
  },
  {
    title: "a load balancer that must keep a worker has none, for lack of stock",
    world: { kind: "LOAD_BALANCER", min: 1, stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
    proven: ["no-queue"],
    fine: ["no-queue"],
  },
  {
    title: "a load balancer that must keep a worker has a throttled one",
    world: { kind: "LOAD_BALANCER", min: 1, workers: [{ id: "a", status: "THROTTLED" }] },
    causes: ["throttled", "no-stock"],
    proven: ["no-queue"],
    fine: ["no-queue"],
    graphql: "hides",
  },
  {
    title: "a load balancer's worker crashes",
    world: { ...waits(LOOP), jobs: {}, kind: "LOAD_BALANCER", min: 1 },
    causes: ["crash-loop"],
    proven: ["no-queue"],
    fine: ["no-queue"],
    graphql: "hides",
  },
  {
    title: "a load balancer's worker is unhealthy",
    world: { kind: "LOAD_BALANCER", min: 1, workers: [{ id: "a", status: "UNHEALTHY", up: 900 }] },
    causes: ["crash-loop", "image-pull"],
    proven: ["no-queue"],
    fine: ["no-queue"],
  },
  {
    title: "a load balancer's image cannot be pulled",
    world: {
      kind: "LOAD_BALANCER",
      min: 1,
      workers: [{ id: "a", status: "INITIALIZING", log: [system(20, "error pulling image: manifest unknown")] }],
    },
    causes: ["image-pull"],
    proven: ["no-queue"],
    fine: ["no-queue"],
    graphql: "hides",
  },
  {
    title: "a load balancer lacks a secret",
    world: {
      kind: "LOAD_BALANCER",
      min: 1,
      env: { HF: "{{ RUNPOD_SECRET_hf }}" },
      workers: [{ id: "a", status: "INITIALIZING", up: 300 }],
    },
    causes: ["missing-secret"],
    proven: ["no-queue"],
    fine: ["no-queue", "cold-start"],
  },
  {
    title: "a load balancer is off",
    world: { kind: "LOAD_BALANCER", max: 0 },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed", "no-queue"],
    fine: ["no-queue"],
  },
  {
    title: "a load balancer is being rolled out",
    world: {
      kind: "LOAD_BALANCER",
      workers: [{ id: "a", status: "RUNNING", up: 900, stale: true }],
      rollout: { inProgress: true, onLatest: 0, total: 1 },
    },
    causes: ["rollout"],
    proven: ["no-queue"],
    fine: ["no-queue"],
  },
];
