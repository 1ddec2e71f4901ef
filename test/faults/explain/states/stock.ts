import type { World } from "../world";
import { FULL_GPU_ADVICE, type State, waiting } from "./state";

const idle: World = { jobs: waiting(3) };
const one = { id: "a", status: "RUNNING", up: 900 } as const;
const two = { id: "b", status: "RUNNING", up: 900 } as const;
const throttled = (id: string) => ({ id, status: "THROTTLED" }) as const;

/** Stock, places, CUDA versions and pools. */
export const stock: State[] = [
  { title: "all pools are sold out", world: { ...idle, stock: { ADA_24: "NONE" } }, causes: ["no-stock"] },
  {
    title: "all of several pools are sold out",
    world: { ...idle, pools: ["ADA_24", "AMPERE_48"], stock: { ADA_24: "NONE", AMPERE_48: "NONE" } },
    causes: ["no-stock"],
  },
  {
    title: "one of two pools is sold out",
    world: { ...idle, pools: ["ADA_24", "AMPERE_48"], stock: { ADA_24: "NONE" } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "the pools are sold out in the allowed places, not elsewhere",
    world: { ...idle, places: ["EU-RO-1"], stock: { ADA_24: { "US-KS-2": "HIGH" } } },
    causes: ["no-stock"],
  },
  {
    title: "the pools are free in one allowed place",
    world: { ...idle, places: ["EU-RO-1", "US-KS-2"], stock: { ADA_24: { "US-KS-2": "LOW" } } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "the only type that is free is excluded",
    world: {
      ...idle,
      pools: ["AMPERE_24"],
      excluded: ["NVIDIA L4"],
      stock: { AMPERE_24: "NONE", "NVIDIA L4": "HIGH" },
    },
    causes: ["no-stock"],
  },
  {
    title: "the excluded type is sold out, and the other is free",
    world: { ...idle, pools: ["AMPERE_24"], excluded: ["NVIDIA L4"], stock: { "NVIDIA L4": "NONE" } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "no machine has as many GPUs free",
    world: { ...idle, gpuCount: 4, largestFree: 2 },
    causes: ["no-stock"],
    graphql: "hides",
  },
  {
    title: "the catalog's total is NONE while a place is LOW",
    world: { ...idle, topLevel: "NONE", stock: { ADA_24: { "US-KS-2": "LOW" } } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "the level is a word that is not known",
    world: { ...idle, stock: { ADA_24: "SCARCE" } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "a worker runs, the next one finds no stock",
    world: { jobs: waiting(8, 1), workers: [one], scaler: ["REQUEST_COUNT", 1], stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
  },
  {
    title: "the stock cannot be read",
    world: {
      ...idle,
      faults: { gpus: { status: 403, body: { title: "Forbidden", status: 403, detail: "access denied" } } },
    },
    causes: [],
    fine: ["cold-start"],
    graphql: "none",
  },
  {
    title: "all workers are throttled",
    world: { ...idle, workers: [throttled("a"), throttled("b")] },
    causes: ["throttled"],
    fine: ["no-stock"],
    graphql: "hides",
  },
  {
    title: "all workers are throttled, and the stock is gone",
    world: { ...idle, workers: [throttled("a")], stock: { ADA_24: "NONE" } },
    causes: ["throttled", "no-stock"],
    graphql: "hides",
  },
  {
    title: "some workers run and the rest is throttled",
    world: { jobs: waiting(8, 1), workers: [one, throttled("b"), throttled("c")] },
    causes: ["throttled"],
    graphql: "hides",
  },
  {
    title: "only the queue counts throttled workers",
    world: { ...idle, counted: { throttled: 2 } },
    causes: ["throttled"],
    fine: ["no-stock"],
  },
  {
    title: "a throttled one remains, and nothing waits",
    world: { workers: [throttled("a")] },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    title: "its volume's place has none of its GPUs",
    world: { ...idle, volumes: ["volro"], stock: { ADA_24: { "US-KS-2": "HIGH" } } },
    causes: ["volume-place"],
    fine: ["no-stock"],
  },
  {
    title: "one of its volumes' places has its GPUs",
    world: { ...idle, volumes: ["volro", "volks"], stock: { ADA_24: { "US-KS-2": "HIGH" } } },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "its volume is outside of its locations",
    world: { ...idle, volumes: ["volro"], places: ["US-KS-2"] },
    causes: ["volume-place"],
  },
  {
    title: "its volume is outside of its locations, and the stock is gone",
    world: { ...idle, volumes: ["volro"], places: ["US-KS-2"], stock: { ADA_24: "NONE" } },
    causes: ["volume-place"],
    fine: ["no-stock"],
  },
  {
    title: "its volume is outside of its locations, which differ only in case",
    world: { ...idle, volumes: ["volro"], places: ["eu-ro-1"] },
    causes: [],
    fine: ["cold-start"],
    graphql: "none",
  },
  {
    title: "one of two volumes is in its locations",
    world: { ...idle, volumes: ["volro", "volks"], places: ["US-KS-2"] },
    causes: [],
    fine: ["cold-start"],
  },
  {
    title: "its volume is gone",
    world: { ...idle, volumes: ["volgone"] },
    causes: [],
    fine: ["volume-place", "cold-start"],
  },
  {
    title: "the volumes cannot be read",
    world: {
      ...idle,
      volumes: ["volro"],
      stock: { ADA_24: { "US-KS-2": "HIGH" } },
      faults: { volumes: { status: 403, body: { title: "Forbidden", status: 403, detail: "access denied" } } },
    },
    causes: [],
    fine: ["cold-start"],
    graphql: "none",
  },
  {
    title: "a volume's place is sold out while a worker there is busy",
    world: {
      jobs: waiting(8, 1),
      scaler: ["REQUEST_COUNT", 1],
      workers: [one],
      volumes: ["volro"],
      stock: { ADA_24: { "US-KS-2": "HIGH" } },
    },
    causes: ["volume-place"],
    fine: ["no-stock"],
  },
  {
    title: "no free machine has its minimal CUDA version",
    world: { ...idle, minCuda: "13.0" },
    causes: ["cuda-version"],
  },
  {
    title: "no free machine has one of its CUDA versions",
    world: { ...idle, cudas: ["11.8"] },
    causes: ["cuda-version"],
  },
  {
    title: "its CUDA version is free: 12.10 is above 12.8",
    world: { ...idle, minCuda: "12.8", cudaHosts: { "12.10": true } },
    causes: [],
    fine: ["cold-start"],
    graphql: "none",
  },
  {
    title: "its CUDA versions are offered, and the stock is gone",
    world: { ...idle, minCuda: "12.4", stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
    fine: ["cuda-version"],
  },
  { title: "its only pool does not exist", world: { ...idle, pools: ["AMPERE_99"] }, causes: ["gpu-ids"] },
  {
    title: "one of its pools does not exist, the other is free",
    world: { ...idle, pools: ["AMPERE_99", "ADA_24"] },
    causes: [],
    fine: ["cold-start", "gpu-ids"],
  },
  {
    title: "one of its pools does not exist, the other is sold out",
    world: { ...idle, pools: ["AMPERE_99", "ADA_24"], stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
    fine: ["gpu-ids"],
  },
  {
    title: "all types of its pool are excluded",
    world: { ...idle, pools: ["AMPERE_24"], excluded: ["NVIDIA L4", "NVIDIA RTX A5000"] },
    causes: ["gpu-ids"],
  },
  {
    title: "all types of its pool are excluded, and a worker from before is busy",
    world: {
      jobs: waiting(9, 1),
      scaler: ["REQUEST_COUNT", 1],
      workers: [one],
      pools: ["ADA_24"],
      excluded: ["NVIDIA GeForce RTX 4090"],
    },
    causes: ["gpu-ids"],
  },
  {
    title: "the pools are sold out, and nothing waits",
    world: { stock: { ADA_24: "NONE" } },
    causes: ["nothing-wrong", "no-job-waits"],
    calm: true,
  },
  {
    title: "the pools are sold out while a worker must be kept",
    world: { min: 1, stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
  },
  {
    title: "a CPU endpoint has no worker",
    world: { ...idle, cpu: true },
    causes: [],
    fine: ["cold-start"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint has no worker while every GPU is sold out",
    world: { ...idle, cpu: true, stock: { ADA_24: "NONE" } },
    causes: [],
    fine: ["cold-start"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint is throttled",
    world: { ...idle, cpu: true, workers: [throttled("a")] },
    causes: ["throttled"],
    graphql: "hides",
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint is busy",
    world: { cpu: true, max: 2, workers: [one, two], jobs: waiting(9, 2) },
    causes: ["workers-busy"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint reached the spend limit",
    world: { ...idle, cpu: true, limits: { spend: 80, spendLimit: 80 } },
    causes: ["spend-limit"],
    never: FULL_GPU_ADVICE,
  },
  {
    title: "a CPU endpoint's volume is outside of its locations",
    world: { ...idle, cpu: true, volumes: ["volro"], places: ["US-KS-2"] },
    causes: ["volume-place"],
    never: /gpuIds|GPU/,
  },
  { title: "a CPU endpoint rests", world: { cpu: true }, causes: ["nothing-wrong", "no-job-waits"], calm: true },
];
