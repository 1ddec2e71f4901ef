import fc from "fast-check";
import { EndpointRuntime } from "../../../emulator/endpoints/runtime";
import type { PlayedEndpoint } from "../../../emulator/forecast/assumptions";
import type { Load } from "../../../emulator/forecast/load";
import { play } from "../../../emulator/forecast/play";
import { DEFAULT_POLICY } from "../../../emulator/jobs/jobStates";
import { ENDPOINT_FIELDS } from "../../../emulator/model/endpointFields";
import { fieldsAfter } from "../../../emulator/model/fieldTable";
import { createWorkerHost } from "../../../emulator/programs/workerHost";
import { manualClock } from "../../../emulator/time/virtualClock";
import { exampleContainer } from "../../../emulator/workers/container";
import type { HandlerJob } from "../../../emulator/workers/jobHandlers";
import { createWatch } from "../../../emulator/workers/watch";
import { createEnvironments } from "../../../emulator/workers/workerEnv";
import { ENDPOINT, EXACT, loadOf, removeLoads } from "./loads";

afterEach(removeLoads);

/** Plays jobs once. */
function played(endpoint: Partial<PlayedEndpoint>, jobs: readonly (readonly [number, number])[], assumptions = {}) {
  return play({ ...ENDPOINT, ...endpoint }, loadOf(jobs), { ...EXACT, ...assumptions }, 0);
}

const WARM = { workersMin: 1, workersMax: 1 };
const p99 = ({ delayS }: ReturnType<typeof play>) => delayS.at(-1);

test("a warm worker runs jobs one after the other, and its time is billed either as running or as kept by workersMin", () => {
  const result = played(WARM, [
    [0, 10],
    [1, 10],
  ]);
  expect(result).toMatchObject({ jobs: 2, completed: 2, lost: 0, coldStarts: 0, mostWorkers: 1, lastEndS: 20 });
  expect(p99(result)).toBeCloseTo(9, 1);
  expect(result.seconds).toEqual({ start: 0, run: 20, idle: 0, minimum: 3580, active: 3600 });
});

test("a cold worker is billed from its start to the end of its idle timeout, in whole seconds", () => {
  const { seconds, coldStarts, delayS } = played({}, [[0, 2.5]]);
  expect(coldStarts).toBe(1);
  expect(delayS.at(0)).toBeCloseTo(5, 1);
  expect(seconds).toEqual({ start: 5, run: 2.5, idle: 10.5, minimum: 0, active: 0 });
});

test("a worker asks for its next job at whole intervals after its last one", () => {
  const jobs = [0.2, 0.2, 1.5, 0.2].map((duration) => [0, duration] as const);
  // They start at 0, 1, 2 and 4 s.
  expect(played(WARM, jobs, { takeEveryS: 1 }).lastEndS).toBeCloseTo(4.2, 6);
  expect(played(WARM, jobs).lastEndS).toBeCloseTo(2.1, 6);
});

test("a worker can run several jobs at once", () => {
  const jobs = Array.from({ length: 8 }, () => [0, 5] as const);
  const { lastEndS, seconds } = played(WARM, jobs, { concurrency: 4, takeEveryS: 1 });
  expect(lastEndS).toBe(10);
  expect(seconds.run).toBe(10);
});

test("waiting and running jobs are lost when their time to live elapses, and jobs end at their execution timeout", () => {
  const jobs = [100, 30, 30].map((duration) => [0, duration] as const);
  expect(played(WARM, jobs, { ttlS: 50 })).toMatchObject({ completed: 0, lost: 3, lastEndS: 50 });
  expect(played(WARM, jobs, { executionTimeoutS: 40 })).toMatchObject({ completed: 2, timedOut: 1, lastEndS: 100 });
});

test("a throttled start takes longer, but the extra time is not billed", () => {
  const { seconds, delayS } = played({}, [[0, 1]], { throttledShare: 1, throttledS: 60 });
  expect(delayS.at(0)).toBeCloseTo(65, 0);
  expect(seconds.start).toBe(5);
});

test("each run of the scaler starts a limited number of workers, and uses one of the assumed values", () => {
  const jobs = Array.from({ length: 30 }, () => [0, 1000] as const);
  const endpoint = { scalerType: "REQUEST_COUNT", scalerValue: 1, workersMax: 30 } as const;
  const assumptions = { evaluateEveryS: [10], startAtOnce: [Number.POSITIVE_INFINITY, 1], executionTimeoutS: 2000 };
  const load = loadOf(jobs);
  const ends = [0, 1].map(
    (run) => play({ ...ENDPOINT, ...endpoint }, load, { ...EXACT, ...assumptions }, run).lastEndS,
  );
  expect(ends[0]).toBeLessThanOrEqual(1015);
  // 29 more reads, 10 s apart. The first one comes within 10 s.
  expect(ends[1]).toBeGreaterThanOrEqual(1005 + 280);
  expect(ends[1]).toBeLessThanOrEqual(1005 + 290);
});

test("the same run number repeats a run exactly, and another number gives a different run", () => {
  const duration = { fromS: 1, toS: 5 };
  const pattern = { kind: "poisson", rate: 0.5, secondRate: 0, burstJobs: 10, burstEveryS: 300, duration } as const;
  const load: Load = { spanS: 3600, pattern };
  const run = (number: number) => play(ENDPOINT, load, { ...EXACT, takeEveryS: 1 }, number);
  expect(run(3)).toEqual(run(3));
  expect(run(3)).not.toEqual(run(4));
});

test("every job ends exactly once, and every second of every worker is accounted for", () => {
  const duration = { fromS: 0, toS: 8 };
  const endpoint = fc.record({
    scalerType: fc.constantFrom("QUEUE_DELAY" as const, "REQUEST_COUNT" as const),
    scalerValue: fc.integer({ min: 1, max: 8 }),
    workersMin: fc.integer({ min: 0, max: 3 }),
    workersMax: fc.integer({ min: 3, max: 6 }),
    idleTimeout: fc.integer({ min: 0, max: 30 }),
    flashBoot: fc.boolean(),
  });
  const assumed = fc.record({
    evaluateEveryS: fc.constantFrom([0], [1, 4]),
    startAtOnce: fc.constantFrom([1], [2]),
    concurrency: fc.integer({ min: 1, max: 3 }),
    takeEveryS: fc.constantFrom(0, 1),
    ttlS: fc.constantFrom(20, 1000),
    executionTimeoutS: fc.constantFrom(5, 600),
  });
  const pattern = { kind: "step", rate: 0.1, secondRate: 1.5, burstJobs: 5, burstEveryS: 60, duration } as const;
  const property = fc.property(endpoint, assumed, fc.nat(50), (settings, assumptions, run) => {
    const result = play(settings, { spanS: 600, pattern }, { ...EXACT, ...assumptions }, run);
    expect(result.completed + result.timedOut + result.lost).toBe(result.jobs);
    expect(result.mostWorkers).toBeLessThanOrEqual(settings.workersMax);
    for (const seconds of Object.values(result.seconds)) expect(seconds).toBeGreaterThanOrEqual(0);
    const { waiting, starting, running, idle } = result.course;
    const inSpan = [starting, running, idle].flat().reduce((sum, each) => sum + each, 0) * (600 / waiting.length);
    const { start, run: busy, idle: idleSeconds, minimum } = result.seconds;
    expect(start + busy + idleSeconds + minimum).toBeGreaterThanOrEqual(inSpan - 1e-3);
  });
  fc.assert(property, { numRuns: 100 });
});

test("the course of a very short load never shows more workers than workersMax, nor jobs that start after its end", () => {
  const property = fc.property(fc.double({ min: 0.3, max: 7, noNaN: true }), fc.nat(50), (spanS, run) => {
    const jobs = Array.from({ length: 20 }, (_, at) => [(at * spanS) / 20, 3] as const);
    const result = play({ ...ENDPOINT, workersMin: 1, workersMax: 4 }, loadOf(jobs, spanS), EXACT, run);
    const { starting, running, idle, delayS } = result.course;
    const workers = running.map((each, at) => each + (starting[at] ?? 0) + (idle[at] ?? 0));
    expect(Math.max(...workers)).toBeLessThanOrEqual(4 + 1e-9);
    expect(Math.max(...delayS)).toBeLessThanOrEqual(spanS);
  });
  fc.assert(property, { numRuns: 200 });
});

/** Lets the emulator itself run the jobs, and returns the time when the last one ends. */
async function emulated(endpoint: PlayedEndpoint, jobs: readonly (readonly [number, number])[]) {
  const clock = manualClock(0);
  const record = fieldsAfter(ENDPOINT_FIELDS, undefined, { name: "e", templateId: "t", gpuIds: "" }, "contract");
  let lastEndS = 0;
  const runtime = new EndpointRuntime(
    { ...record, ...endpoint, id: "e", createdAt: 0, version: 0, computeType: "GPU" },
    {
      clock,
      profile: "contract",
      random: () => 0.5,
      drainMs: 0,
      coldStartMs: 5000,
      staleFlashBoot: false,
      containerOf: exampleContainer,
      placesOf: () => [{ dataCenterId: "EU-RO-1", volumeId: null, gpuCount: 1, cpu: null }],
      environments: createEnvironments(() => undefined, "contract"),
      watch: createWatch(),
      workerHost: createWorkerHost(clock, () => {}),
      workerFaults: { atStart: () => ({ throttledMs: 0, imagePullMs: 0 }), atJob: () => undefined },
      released() {},
      changed() {},
      dropsWebhook: () => false,
      handlers: {
        async default({ input }: HandlerJob, { now, sleep }) {
          await sleep((input.takes as number) * 1000);
          lastEndS = now() / 1000;
        },
      },
    },
  );
  for (const [at, takes] of jobs) {
    await clock.advance(at * 1000 - clock.now());
    runtime.submit("run", { input: { takes }, policy: DEFAULT_POLICY });
  }
  await clock.runUntilIdle();
  runtime.dispose();
  return lastEndS;
}

test("a forecast without its own assumptions matches the emulator's behavior", async () => {
  const seconds = fc.integer({ min: 1, max: 40 });
  const settings = fc.record({
    scalerType: fc.constantFrom("QUEUE_DELAY" as const, "REQUEST_COUNT" as const),
    scalerValue: fc.integer({ min: 1, max: 6 }),
    workersMax: fc.integer({ min: 1, max: 4 }),
    idleTimeout: fc.integer({ min: 1, max: 20 }),
  });
  const property = fc.asyncProperty(
    fc.array(fc.tuple(seconds, seconds), { minLength: 1, maxLength: 12 }),
    settings,
    async (steps, given) => {
      // Each arrival has its own milliseconds, because the order of simultaneous events is
      // undefined.
      const waits = steps.map(([wait], index) => (index === 0 ? 0 : wait / 4 + 0.007));
      const at = (index: number) => waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0);
      const jobs = steps.map(([, takes], index) => [at(index), takes / 2] as const);
      const endpoint = { ...ENDPOINT, ...given };
      const { lastEndS } = play(endpoint, loadOf(jobs), EXACT, 0);
      removeLoads();
      expect(lastEndS).toBeCloseTo(await emulated(endpoint, jobs), 6);
    },
  );
  await fc.assert(property, { numRuns: 60 });
});
