import { stockOf, type WorkerStatus, worker } from "../standIn/world";
import { idle, jobs, onEachKind, type State } from "./state";

// Stock, places, and the settings that leave no machine.

const RUNNING = worker("RUNNING");
const BUSY_ONE = { workers: [RUNNING], jobs: jobs(14, 1) };

const NO_STOCK: readonly State[] = [
  { name: "nothing has stock", world: { stock: stockOf("NONE"), ...idle }, truth: ["no-stock"] },
  {
    name: "nothing has stock, and one of three workers runs",
    world: { stock: stockOf("NONE"), ...BUSY_ONE },
    truth: ["no-stock"],
  },
  {
    name: "nothing has stock, and two workers are throttled",
    world: { stock: stockOf("NONE"), workers: [worker("THROTTLED"), worker("THROTTLED")], jobs: jobs(4) },
    truth: ["no-stock", "throttled"],
  },
  {
    name: "nothing has stock, and a worker is wanted without a job",
    world: { stock: stockOf("NONE"), endpoint: { min: 1 } },
    truth: ["no-stock"],
  },
  {
    name: "nothing has stock, and a load-balancing endpoint wants a worker",
    world: { stock: stockOf("NONE"), endpoint: { min: 1, type: "LOAD_BALANCER" } },
    truth: ["no-stock"],
    certain: ["no-queue"],
  },
  {
    name: "nothing has stock, and a load-balancing endpoint has one throttled worker",
    world: { stock: stockOf("NONE"), endpoint: { min: 2, type: "LOAD_BALANCER" }, workers: [worker("THROTTLED")] },
    truth: ["no-stock", "throttled"],
    certain: ["no-queue"],
  },
  {
    name: "nothing has stock, and a CPU endpoint has no worker",
    world: { stock: stockOf("NONE"), endpoint: { isCpu: true }, ...idle },
    truth: [],
    never: ["no-stock", "cuda-version", "volume-place"],
    unsaid: /gpuIds|CUDA/,
  },
  {
    name: "no CUDA version is offered, and a CPU endpoint has no worker",
    world: { cuda: {}, endpoint: { isCpu: true, minCudaVersion: "13.0" }, ...idle },
    truth: [],
    never: ["no-stock", "cuda-version"],
    unsaid: /gpuIds|CUDA/,
  },
  {
    name: "a CPU endpoint's workers are throttled",
    world: { endpoint: { isCpu: true }, workers: [worker("THROTTLED"), worker("THROTTLED")], jobs: jobs(4) },
    truth: ["throttled"],
    unsaid: /gpuIds|CUDA/,
  },
  { name: "there is little stock", world: { stock: stockOf("LOW"), ...idle }, truth: [] },
  {
    name: "only other data centers have stock",
    world: {
      endpoint: { dataCenterIds: ["EU-RO-1"] },
      stock: { "NVIDIA GeForce RTX 4090": { "EU-RO-1": "NONE", "EU-CZ-1": "HIGH" } },
      ...idle,
    },
    truth: ["no-stock"],
  },
  {
    name: "only other data centers have stock, and one of three workers runs",
    world: {
      endpoint: { dataCenterIds: ["EU-RO-1"] },
      stock: { "NVIDIA GeForce RTX 4090": { "EU-RO-1": "NONE", "EU-CZ-1": "HIGH" } },
      ...BUSY_ONE,
    },
    truth: ["no-stock"],
  },
  {
    name: "there is stock for one GPU, and workers have two",
    world: { endpoint: { gpuCount: 2 }, freeTogether: 1, ...idle },
    truth: ["no-stock"],
  },
  {
    name: "all types of the pool are excluded",
    world: { endpoint: { pools: ["AMPERE_24"], excludedTypes: ["NVIDIA L4", "NVIDIA RTX A5000"] }, ...idle },
    truth: ["gpu-ids", "no-stock"],
  },
  {
    name: "the pool does not exist",
    world: { endpoint: { pools: ["ADA_99"] }, ...idle },
    truth: ["gpu-ids", "no-stock"],
  },
  {
    name: "the pool does not exist, and the endpoint counts one unhealthy start",
    world: { endpoint: { pools: ["ADA_99", "ADA_98"] }, ...idle, jobs: jobs(7) },
    truth: ["gpu-ids", "no-stock"],
  },
  {
    name: "one of two pools does not exist, and the other has stock",
    world: { endpoint: { pools: ["ADA_24", "ADA_99"] }, ...idle },
    truth: [],
    never: ["gpu-ids", "no-stock"],
  },
  {
    name: "the catalog fails, and there is no worker",
    world: { ...idle, faults: { catalog: 500 } },
    truth: [],
    never: ["no-stock", "gpu-ids"],
  },
];

const PLACES: readonly State[] = [
  {
    name: "the volume is outside the endpoint's data centers",
    world: { endpoint: { dataCenterIds: ["EU-RO-1"] }, volumes: { vol1: "US-KS-2" }, ...idle },
    truth: ["volume-place"],
  },
  {
    name: "the volume's data center has no stock",
    world: {
      volumes: { vol1: "US-KS-2" },
      stock: { "NVIDIA GeForce RTX 4090": { "EU-RO-1": "HIGH", "US-KS-2": "NONE" } },
      ...idle,
    },
    truth: ["volume-place", "no-stock"],
  },
  {
    name: "the volume's data center has no stock, and one of three workers runs",
    world: {
      volumes: { vol1: "US-KS-2" },
      stock: { "NVIDIA GeForce RTX 4090": { "EU-RO-1": "HIGH", "US-KS-2": "NONE" } },
      ...BUSY_ONE,
    },
    truth: ["volume-place", "no-stock"],
  },
  {
    name: "the volume's data center has stock",
    world: { volumes: { vol1: "EU-RO-1" }, ...idle },
    truth: [],
    never: ["volume-place", "no-stock"],
  },
  {
    name: "the volume cannot be read",
    world: { volumes: { vol1: "EU-RO-1" }, ...idle, faults: { volumes: 500 } },
    truth: [],
    never: ["volume-place"],
  },
  {
    name: "no host has the CUDA version",
    world: { endpoint: { minCudaVersion: "13.0" }, ...idle },
    truth: ["cuda-version"],
  },
  {
    name: "no host has the CUDA version, and one of three workers runs",
    world: { endpoint: { minCudaVersion: "13.0" }, ...BUSY_ONE },
    truth: ["cuda-version"],
  },
  {
    name: "the hosts with the CUDA version are full",
    world: { endpoint: { allowedCudaVersions: ["12.8"] }, cuda: { "12.4": true, "12.8": false }, ...idle },
    truth: ["cuda-version"],
  },
  {
    name: "a host has the CUDA version",
    world: { endpoint: { minCudaVersion: "12.2" }, cuda: { "12.11": true }, ...idle },
    truth: [],
    never: ["cuda-version"],
  },
];

const secretEnv = (value: string) => ({ endpoint: { env: { HF_TOKEN: value } } });
const STARTING = { workers: [worker("INITIALIZING", { age: 60 })], jobs: jobs(2) };

const SECRETS: readonly State[] = [
  ...onEachKind({
    name: "a variable refers to a secret that does not exist",
    world: { ...STARTING, ...secretEnv("{{ RUNPOD_SECRET_hf_token }}") },
    truth: ["missing-secret"],
  }),
  {
    name: "a variable refers to a secret that does not exist, without blanks and within a value",
    world: { ...STARTING, ...secretEnv("Bearer {{RUNPOD_SECRET_hf_token}}") },
    truth: ["missing-secret"],
  },
  ...(["UNHEALTHY", "RUNNING"] as const).map(
    (status: WorkerStatus): State => ({
      name: `a variable refers to a secret that does not exist, and a worker is ${status}`,
      world: { workers: [worker(status)], jobs: jobs(2), ...secretEnv("{{ RUNPOD_SECRET_hf_token }}") },
      truth: ["missing-secret", "crash-loop", "handler-takes-no-jobs"],
    }),
  ),
  {
    name: "a variable refers to a secret that exists",
    world: { ...STARTING, ...secretEnv("{{ RUNPOD_SECRET_other }}") },
    truth: ["cold-start"],
    never: ["missing-secret"],
  },
  {
    name: "a variable refers to a secret, and the secrets cannot be read",
    world: { ...STARTING, ...secretEnv("{{ RUNPOD_SECRET_hf_token }}"), faults: { secrets: 403 } },
    truth: ["cold-start"],
    never: ["missing-secret", "no-access"],
  },
];

/** States of stock, places, CUDA versions and secrets. */
export const CAPACITY: readonly State[] = [...NO_STOCK, ...PLACES, ...SECRETS];
