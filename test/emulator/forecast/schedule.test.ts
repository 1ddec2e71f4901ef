import fc from "fast-check";
import type { PlayedCounts } from "../../../emulator/forecast/assumptions";
import { play } from "../../../emulator/forecast/play";
import { ENDPOINT, EXACT, loadOf, removeLoads } from "./loads";

afterEach(removeLoads);

const HOUR_S = 3600;

/** Three hours, of which the second is warm. */
const WARM_HOUR: readonly PlayedCounts[] = [
  { fromS: 0, workersMin: 0, workersMax: 1, rule: 1 },
  { fromS: HOUR_S, workersMin: 1, workersMax: 2, rule: 0 },
  { fromS: 2 * HOUR_S, workersMin: 0, workersMax: 1, rule: 1 },
];

function played(schedule: readonly PlayedCounts[], jobs: readonly (readonly [number, number])[], assumptions = {}) {
  return play({ ...ENDPOINT, schedule }, loadOf(jobs, 3 * HOUR_S), { ...EXACT, ...assumptions }, 0);
}

const p99 = (delayS: readonly number[] = []) => delayS.at(-1);

test("cost, delays and cold starts with and without a schedule are those of a calculation by hand", () => {
  const jobs = [
    [0, 10], // cold: 5 s to start, 10 s to run, 10 s idle
    [3600, 10], // arrives with the rule, whose worker starts in 5 s
    [5400, 20], // warm
    [7205, 10], // finds the worker, which stops 10 s after its last job, at 7225
    [9000, 10], // cold again
  ] as const;
  const { seconds, coldStarts, rules, delayS } = played(WARM_HOUR, jobs);
  expect(seconds).toEqual({
    start: 5 + 5 + 5,
    run: 10 + 10 + 20 + 10 + 10,
    // The job at 7205 s found a worker that had been idle for 5 s.
    idle: 10 + (5 + 10) + 10,
    minimum: HOUR_S - 5 - 10 - 20,
    active: HOUR_S,
  });
  expect(coldStarts).toBe(3);
  expect(p99(delayS)).toBeCloseTo(5, 1);
  expect(rules[0]).toMatchObject({ jobs: 2, waiting: 1, waitingAtFirst: 1 });
  expect(rules[1]).toMatchObject({ jobs: 3, waiting: 2, waitingAtFirst: 1 });

  const { seconds: without, coldStarts: none } = play(
    { ...ENDPOINT, workersMin: 1, workersMax: 2 },
    loadOf(jobs, 3 * HOUR_S),
    EXACT,
    0,
  );
  expect(without).toEqual({ start: 0, run: 60, idle: 0, minimum: 3 * HOUR_S - 60, active: 3 * HOUR_S });
  expect(none).toBe(0);
});

test("a job that waits for a busy worker does not count as waiting for a start", () => {
  const jobs = [
    [0, 10],
    [4000, 10],
    [4001, 10],
    [4002, 10],
  ] as const;
  // The second worker starts for the second job at 4005 s, and is ready at 4010 s, as is the first.
  const { rules } = played(WARM_HOUR, jobs);
  expect(rules[0]).toMatchObject({ jobs: 3, waiting: 1, waitingAtFirst: 1 });
  const alone = WARM_HOUR.map((each) => ({ ...each, workersMax: 1 }));
  expect(played(alone, jobs).rules[0]).toMatchObject({ jobs: 3, waiting: 0 });
});

test("workers finish their jobs when a rule allows fewer, and jobs wait until a rule allows workers again", () => {
  const off: readonly PlayedCounts[] = [
    { fromS: 0, workersMin: 2, workersMax: 2, rule: 0 },
    { fromS: 1000, workersMin: 0, workersMax: 0, rule: 1 },
    { fromS: 2000, workersMin: 1, workersMax: 2, rule: 0 },
  ];
  const jobs = [
    [0, 10],
    [990, 30], // runs until 1020
    [1010, 10], // waits for 990 s and a start of 5 s
    [1500, 10], // waits for 500 s, and for the start of the second worker
  ] as const;
  const { seconds, completed, rules, delayS, mostWorkers } = played(off, jobs);
  expect({ completed, mostWorkers }).toEqual({ completed: 4, mostWorkers: 2 });
  expect(Math.abs((p99(delayS) ?? 0) - 995)).toBeLessThan(5);
  expect(rules[0]).toMatchObject({ jobs: 2, waiting: 0 });
  expect(rules[1]).toMatchObject({ jobs: 2, waiting: 2, waitingAtFirst: 2 });
  expect(seconds).toEqual({
    start: 5 + 5,
    run: 10 + 30 + 10 + 10,
    idle: 10,
    // Both workers were kept for 1000 s, except for 20 s of jobs. One is kept from 2015 s on.
    minimum: 2 * 1000 - 20 + (3 * HOUR_S - 2015),
    active: 2 * 1000 + (3 * HOUR_S - 2000),
  });
});

test("a load that ends inside a rule pays for workersMin up to its end, and its last jobs follow the next rules", () => {
  const night: readonly PlayedCounts[] = [
    { fromS: 0, workersMin: 1, workersMax: 1, rule: 0 },
    { fromS: 3 * HOUR_S - 60, workersMin: 0, workersMax: 0, rule: 1 },
    { fromS: 5 * HOUR_S, workersMin: 1, workersMax: 1, rule: 0 },
  ];
  const { seconds, lastEndS, completed, rules } = played(night, [
    [0, 10],
    [3 * HOUR_S - 30, 10],
  ]);
  expect({ completed, lastEndS }).toEqual({ completed: 2, lastEndS: 5 * HOUR_S + 5 + 10 });
  expect(rules.map((rule) => rule?.jobs)).toEqual([1, 1]);
  // No worker is kept after the load: the last one stops after its idle timeout.
  expect(seconds).toEqual({ start: 5, run: 20, idle: 10, minimum: 3 * HOUR_S - 60 - 10, active: 3 * HOUR_S - 60 });
  // If the time to live ends before the next rule, the job is lost.
  expect(
    played(
      night,
      [
        [0, 10],
        [3 * HOUR_S - 30, 10],
      ],
      { ttlS: HOUR_S },
    ),
  ).toMatchObject({ completed: 1, lost: 1 });
});

test("after a change, only the new schedule counts", () => {
  const other: readonly PlayedCounts[] = [
    { fromS: 0, workersMin: 0, workersMax: 1, rule: 0 },
    { fromS: 1.75 * HOUR_S, workersMin: 1, workersMax: 1, rule: 1 },
  ];
  const change = { to: { ...ENDPOINT, schedule: other }, isReleased: false };
  const watched = { fromS: 1.5 * HOUR_S, toS: 2.5 * HOUR_S, change };
  const result = play({ ...ENDPOINT, schedule: WARM_HOUR }, loadOf([[0, 10]], 3 * HOUR_S), EXACT, 0, watched);
  // Warm for half an hour by the old schedule, and from 1.75 h on by the new one.
  expect(result.seconds).toEqual({
    start: 15,
    run: 10,
    idle: 20,
    minimum: 0.5 * HOUR_S - 5 + 1.25 * HOUR_S - 5,
    active: 1.75 * HOUR_S,
  });
});

describe("random schedules", () => {
  const counts = fc
    .record({ workersMin: fc.integer({ min: 0, max: 3 }), more: fc.integer({ min: 0, max: 3 }) })
    .map(({ workersMin, more }) => ({ workersMin, workersMax: workersMin + more }));
  const times = fc
    .uniqueArray(fc.integer({ min: 1, max: 900 }), { maxLength: 8 })
    .map((all) => all.sort((a, b) => a - b));
  const pattern = {
    kind: "step" as const,
    rate: 0.1,
    secondRate: 1,
    burstJobs: 5,
    burstEveryS: 60,
    duration: { fromS: 0, toS: 8 },
  };
  const load = { spanS: 600, pattern };
  const scaler = fc.constantFrom("QUEUE_DELAY" as const, "REQUEST_COUNT" as const);

  test("end each job once, count it under the rule of its arrival, and never exceed the highest workersMax", () => {
    const property = fc.property(
      counts,
      times,
      fc.array(counts, { minLength: 8, maxLength: 8 }),
      scaler,
      fc.nat(50),
      (first, at, others, scalerType, run) => {
        const later = at.map((fromS, index) => ({ fromS, rule: index + 1, ...(others[index] ?? first) }));
        const schedule = [{ fromS: 0, rule: 0, ...first }, ...later];
        const result = play({ ...ENDPOINT, scalerType, schedule }, load, { ...EXACT, ttlS: 300 }, run);
        expect(result.completed + result.timedOut + result.lost).toBe(result.jobs);
        const sum = (of: "jobs" | "waiting" | "waitingAtFirst") =>
          result.rules.reduce((all, rule) => all + (rule?.[of] ?? 0), 0);
        expect(sum("jobs")).toBe(result.jobs);
        expect(sum("waiting")).toBeLessThanOrEqual(result.started);
        expect(sum("waitingAtFirst")).toBe(sum("waiting"));
        expect(result.mostWorkers).toBeLessThanOrEqual(Math.max(...schedule.map(({ workersMax }) => workersMax)));
        for (const seconds of Object.values(result.seconds)) expect(seconds).toBeGreaterThanOrEqual(0);
        // No worker without a job is kept for longer than a rule says.
        const kept = schedule.reduce((all, { fromS, workersMin }, index) => {
          const toS = Math.min(600, schedule[index + 1]?.fromS ?? 600);
          return all + Math.max(0, toS - fromS) * workersMin;
        }, 0);
        expect(result.seconds.minimum).toBeLessThanOrEqual(kept);
      },
    );
    fc.assert(property, { numRuns: 40 });
  });

  test("change nothing if all rules set the same counts", () => {
    const property = fc.property(counts, times, scaler, fc.nat(50), (same, at, scalerType, run) => {
      const schedule = [0, ...at].map((fromS, rule) => ({ fromS, rule, ...same }));
      const { rules, ...result } = play({ ...ENDPOINT, scalerType, schedule }, load, { ...EXACT, ttlS: 300 }, run);
      const { rules: none, ...without } = play(
        { ...ENDPOINT, scalerType, ...same },
        load,
        { ...EXACT, ttlS: 300 },
        run,
      );
      expect(result).toEqual(without);
      expect([rules.length, none]).toEqual([at.length + 1, []]);
    });
    fc.assert(property, { numRuns: 25 });
  });
});
