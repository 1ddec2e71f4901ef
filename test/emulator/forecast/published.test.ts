import type { Assumptions } from "../../../emulator/forecast/assumptions";
import { play } from "../../../emulator/forecast/play";
import { ENDPOINT, EXACT, loadOf, removeLoads } from "./loads";

afterEach(removeLoads);

/**
 * Bursts of 8 s jobs at a real endpoint with at most 3 workers, as its operator published them
 * (July 2026). The operator read the job and worker counts every 4 to 20 s. `doneS` is the time of
 * the first read in which all jobs had ended.
 */
const BURSTS = [
  {
    name: "6 jobs, no worker, REQUEST_COUNT 1",
    jobs: 6,
    warm: 0,
    doneS: 52,
    atLeast: 0.45,
    endpoint: { scalerType: "REQUEST_COUNT", scalerValue: 1 },
  },
  {
    name: "6 jobs, 2 warm workers, QUEUE_DELAY 4",
    jobs: 6,
    warm: 2,
    doneS: 34,
    atLeast: 0.7,
    endpoint: { scalerType: "QUEUE_DELAY", scalerValue: 4 },
  },
  {
    name: "9 jobs, 3 warm workers, REQUEST_COUNT 1",
    // At 34 s, 3 jobs ran and 1 waited: 8 to 16 s later, all had ended.
    jobs: 9,
    warm: 3,
    doneS: 46,
    atLeast: 0.55,
    endpoint: { scalerType: "REQUEST_COUNT", scalerValue: 1 },
  },
] as const;

/** The jobs sleep for 8 s. Starting a job and reporting its result take a little longer. */
const TAKES_S = 8.1;

/** The defaults of the command, with the cold starts of these bursts: 8 to 20 s. */
const ASSUMED: Assumptions = {
  ...EXACT,
  evaluateEveryS: [4, 1, 10],
  startAtOnce: [Number.POSITIVE_INFINITY, 1],
  takeEveryS: 1,
  coldStarts: { ...EXACT.coldStarts, samples: [8, 10, 20] },
};

// The model does not include slow or missing hosts, so it is optimistic: at most 10 % slower than
// observed, and up to 2.2 times as fast for a burst without a running worker.
test.each(BURSTS)("the simulation of a published burst ends within the tolerance: $name", ({
  jobs,
  warm,
  doneS,
  atLeast,
  endpoint,
}) => {
  const settings = { ...ENDPOINT, ...endpoint, workersMin: warm, workersMax: 3, idleTimeout: 5 };
  const load = loadOf(Array.from({ length: jobs }, () => [0, TAKES_S] as const));
  const ends = Array.from({ length: 20 }, (_, run) => play(settings, load, ASSUMED, run).lastEndS / doneS);
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(atLeast);
  expect(Math.max(...ends)).toBeLessThanOrEqual(1.1);
});

test("the first job of the cold burst starts no later than was observed, and the workers never exceed workersMax", () => {
  const settings = { ...ENDPOINT, scalerType: "REQUEST_COUNT", scalerValue: 1 } as const;
  const result = play(
    settings,
    loadOf(Array.from({ length: 6 }, () => [0, TAKES_S] as const)),
    { ...ASSUMED, coldStarts: { ...ASSUMED.coldStarts, samples: [8] } },
    0,
  );
  expect(result.coldStarts).toBeGreaterThanOrEqual(2);
  expect(result.mostWorkers).toBeLessThanOrEqual(3);
});
