import type { PlayedEndpoint, Watched } from "../../../emulator/forecast/assumptions";
import { play } from "../../../emulator/forecast/play";
import { ENDPOINT, EXACT, loadOf, removeLoads } from "./loads";

afterEach(removeLoads);

const WARM = { ...ENDPOINT, workersMin: 1, workersMax: 1 };

/** A job of 10 s every 20 s for an hour, with a change after half of it. */
function through(before: PlayedEndpoint, watched: Partial<Watched> = {}) {
  const jobs = Array.from({ length: 180 }, (_, index) => [index * 20, 10] as const);
  return play(before, loadOf(jobs), EXACT, 0, { fromS: 1800, toS: 2400, ...watched });
}

test("watching a time range counts its jobs and changes nothing else", () => {
  const { watched, ...rest } = through(WARM);
  const jobs = Array.from({ length: 180 }, (_, index) => [index * 20, 10] as const);
  expect(rest).toEqual(play(WARM, loadOf(jobs), EXACT, 0));
  expect(watched).toMatchObject({ jobs: 30, coldStarts: 0, lost: 0, timedOut: 0 });
  const { start, run, idle, minimum } = watched?.seconds ?? { start: 0, run: 0, idle: 0, minimum: 0 };
  expect([start, run, idle, minimum].map(Math.round)).toEqual([0, 300, 0, 300]);
});

test("a change that replaces the workers makes the next job wait for a cold start, but a change of settings does not", () => {
  const released = through(WARM, { change: { to: WARM, isReleased: true } });
  expect(released.watched?.coldStarts).toBe(1);
  expect(released.watched?.delayS.at(-1)).toBeCloseTo(5, 0);
  const kept = through(WARM, { change: { to: { ...WARM, scalerValue: 2 }, isReleased: false } });
  expect(kept.watched).toMatchObject({ coldStarts: 0 });
  expect(kept.watched?.delayS.at(-1)).toBe(0);
});

test("a worker finishes its job before a change replaces it", () => {
  const result = through(WARM, { fromS: 1805, change: { to: WARM, isReleased: true } });
  expect(result).toMatchObject({ jobs: 180, completed: 180, lost: 0 });
});

test("settings take effect with the change, and workers that no longer need to stay warm stop", () => {
  const cold = { ...WARM, workersMin: 0, idleTimeout: 1 };
  const result = through(WARM, { change: { to: cold, isReleased: false } });
  // The job that arrives with the change may still find the warm worker.
  expect(result.watched?.coldStarts).toBeGreaterThanOrEqual(29);
  expect(result.seconds.minimum).toBeLessThan(1800);
});

test("every job after the change is lost if the image never starts", () => {
  const change = { to: { ...WARM, failsToStart: true }, isReleased: true };
  const jobs = Array.from({ length: 180 }, (_, index) => [index * 20, 10] as const);
  const result = play(WARM, loadOf(jobs), { ...EXACT, ttlS: 300 }, 0, { fromS: 1800, toS: 2400, change });
  expect(result).toMatchObject({ completed: 90, lost: 90 });
  expect(result.watched).toMatchObject({ jobs: 30, lost: 30 });
});

test("an endpoint's own execution timeout ends its jobs", () => {
  const change = { to: { ...WARM, executionTimeoutS: 5 }, isReleased: false };
  expect(through(WARM, { change })).toMatchObject({ completed: 90, timedOut: 90 });
});

test("a throttled start is not billed, even if a change stops the worker or the watched time ends before", () => {
  const assumptions = { ...EXACT, throttledShare: 1, throttledS: 600 };
  const releasedAt = (fromS: number) => {
    const change = { to: ENDPOINT, isReleased: true };
    return play(ENDPOINT, loadOf([[0, 5]], 7200), assumptions, 0, { fromS, toS: fromS + 300, change });
  };
  // The second worker starts at 100 s, and gets a machine at 700 s.
  const early = releasedAt(100);
  expect(early.seconds).toEqual({ start: 5, run: 5, idle: 10, minimum: 0, active: 0 });
  expect(early.watched?.seconds).toEqual({ start: 0, run: 0, idle: 0, minimum: 0, active: 0 });
  // The first worker has a machine at 600 s, and is replaced 2 s later.
  expect(releasedAt(602).seconds).toMatchObject({ start: 2 + 5, idle: 10 });
  const paid = early.course.paidS.reduce((sum, each) => sum + each, 0);
  expect(paid).toBe(20);
});
