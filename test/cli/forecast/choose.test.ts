import { cheapest, fasterForAsMuch, paretoFront } from "../../../cli/forecast/report/choose";
import type { Range, Summary } from "../../../cli/forecast/report/summary";

const range = (values: readonly number[]): Range => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? 0;
  return { low: at(0), middle: at(Math.floor(sorted.length / 2)), high: at(sorted.length - 1) };
};

/** The forecast of a setting with these costs and p95 delays in its runs. */
function summary(workersMin: number, costs: readonly number[], delays: readonly number[], failed = 0): Summary {
  const none = range([0]);
  const settings = {
    scalerType: "QUEUE_DELAY",
    scalerValue: 4,
    workersMin,
    workersMax: 3,
    idleTimeout: 5,
    gpuIds: "AMPERE_24",
    gpuCount: 1,
    instanceIds: "",
    flashBoot: false,
  } as const;
  const course = { waiting: [], starting: [], running: [], idle: [], delayS: [], paidS: [] };
  return {
    settings,
    runs: costs.length,
    jobs: range([100]),
    started: range([100]),
    completed: range([100]),
    finished: range([100]),
    queueDepth: none,
    workerSeconds: none,
    delayS: { p95: range(delays) },
    coldStarts: none,
    mostWorkers: none,
    lost: range([failed]),
    timedOut: none,
    failed: range([failed]),
    failedShare: range([failed / 100]),
    cost: none,
    monthly: range(costs),
    course,
    delayBand: [],
    monthlyParts: { start: none, run: none, idle: none, minimum: none, discount: none },
    rules: [],
    byRun: costs.map((monthly, at) => ({ monthly, p95S: delays[at] ?? 0 })),
  };
}

const cheap = summary(0, [100, 110, 120], [30, 31, 32]);
const asCheap = summary(1, [101, 109, 121], [30.1, 30.9, 32.1]);
const fast = summary(2, [200, 210, 220], [1, 2, 3]);
const beaten = summary(3, [210, 220, 230], [2, 3, 4]);

test("a star marks only settings that no other setting beats in every run, so noise decides nothing", () => {
  expect(paretoFront([fast, beaten, asCheap, cheap], undefined)).toEqual([asCheap, cheap, fast]);
});

test("a setting that loses jobs gets no star and is not suggested", () => {
  const losing = summary(0, [1, 1, 1], [0, 0, 0], 96);
  expect(paretoFront([losing, fast], undefined)).toEqual([fast]);
  const limits = { maxP95: 10, maxLost: { jobs: 0 } };
  expect(cheapest([losing, fast], losing, limits)).toBe(fast);
  expect(cheapest([losing], losing, limits)).toBeUndefined();
  expect(cheapest([losing, fast], losing, { ...limits, maxLost: { share: 0.96 } })).toBe(losing);
});

test("the current setting is kept if another setting is cheaper only within the noise", () => {
  const limits = { maxP95: 40, maxLost: { jobs: 0 } };
  expect(cheapest([asCheap, cheap, fast], cheap, limits)).toBe(cheap);
  expect(cheapest([asCheap, cheap, fast], asCheap, limits)).toBe(asCheap);
  expect(cheapest([asCheap, cheap, fast], fast, limits)).toBe(asCheap);
});

test("a much faster setting on the front is mentioned if its cost range overlaps the chosen setting's", () => {
  const near = summary(4, [115, 130, 140], [1, 2, 3]);
  expect(fasterForAsMuch([cheap, near, fast], cheap)).toBe(near);
  expect(fasterForAsMuch([cheap, asCheap, fast], cheap)).toBeUndefined();
  expect(fasterForAsMuch([near, fast], near)).toBeUndefined();
});
