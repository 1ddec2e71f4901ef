import type { World } from "../world";
import { type State, waiting } from "./state";

const idle: World = { jobs: waiting(3) };
const one = { id: "a", status: "RUNNING", up: 900 } as const;
const two = { id: "b", status: "RUNNING", up: 900 } as const;

/** Quota and spending. */
export const limits: State[] = [
  {
    title: "the balance is too low, says the account's status",
    world: { ...idle, limits: { underBalance: true, balance: -1 } },
    causes: ["spend-limit"],
    proven: ["spend-limit"],
    v2: "none",
  },
  {
    title: "the balance is too low, and a worker still runs",
    world: { ...idle, workers: [one], jobs: waiting(3, 1), limits: { underBalance: true, balance: -1 } },
    causes: ["spend-limit"],
    proven: ["spend-limit"],
    v2: "none",
  },
  {
    title: "the balance is too low, but no job waits",
    world: { limits: { underBalance: true, balance: -1 } },
    causes: ["spend-limit"],
    fine: ["no-job-waits"],
    proven: ["spend-limit"],
    v2: "none",
    graphql: "hides",
    calm: true,
  },
  {
    title: "the balance is too low, and the endpoint is off",
    world: { ...idle, max: 0, limits: { underBalance: true } },
    causes: ["no-workers-allowed"],
    proven: ["no-workers-allowed", "spend-limit"],
    fine: ["spend-limit"],
    v2: "none",
  },
  {
    title: "the hourly spend has reached its limit",
    world: { ...idle, limits: { spend: 80, spendLimit: 80 } },
    causes: ["spend-limit"],
  },
  {
    title: "the hourly spend is above its limit, beside a worker that runs",
    world: { ...idle, workers: [one], jobs: waiting(6, 1), limits: { spend: 85, spendLimit: 80 } },
    causes: ["spend-limit"],
  },
  {
    title: "the hourly spend leaves no room for one more worker",
    world: { ...idle, limits: { spend: 79.5, spendLimit: 80 } },
    causes: [],
    fine: ["spend-limit", "cold-start"],
  },
  {
    title: "the hourly spend is at half its limit, and nothing is in stock",
    world: { ...idle, limits: { spend: 40, spendLimit: 80 }, stock: { ADA_24: "NONE" } },
    causes: ["no-stock"],
  },
  {
    title: "the hourly spend is above its limit, and all allowed workers are busy",
    world: { max: 1, workers: [one], jobs: waiting(6, 1), limits: { spend: 85, spendLimit: 80 } },
    causes: ["workers-busy"],
    fine: ["spend-limit"],
  },
  {
    title: "the endpoints' workersMax sum up to more than the quota",
    world: { ...idle, limits: { quota: 10 }, others: [9] },
    causes: ["worker-quota"],
  },
  {
    title: "all workers are busy, and the quota is full",
    world: { max: 2, workers: [one, two], jobs: waiting(9, 2), limits: { quota: 5 }, others: [3] },
    causes: ["workers-busy"],
    fine: ["worker-quota"],
    never: /^Raise workersMax(?! if)/,
  },
  {
    title: "all workers are busy, and the quota has room",
    world: { max: 2, workers: [one, two], jobs: waiting(9, 2), limits: { quota: 30 }, others: [3] },
    causes: ["workers-busy"],
  },
  {
    title: "all workers are busy, and the quota is not shown",
    world: {
      max: 2,
      workers: [one, two],
      jobs: waiting(9, 2),
      faults: { limits: { status: 404, body: { title: "Not Found", status: 404, detail: "resource not found" } } },
    },
    causes: ["workers-busy"],
    graphql: "none",
  },
  {
    title: "all workers are busy, and nothing is in stock for more",
    world: { max: 2, workers: [one, two], jobs: waiting(9, 2), stock: { ADA_24: "NONE" } },
    causes: ["workers-busy"],
  },
  {
    title: "all workers are busy by requests",
    world: { max: 2, workers: [one, two], jobs: waiting(9, 2), scaler: ["REQUEST_COUNT", 1] },
    causes: ["workers-busy"],
  },
];
