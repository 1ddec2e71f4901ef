import { createRateLimiter, isLimited, type LimitedOperation } from "../../../emulator/jobs/rateLimits";
import { manualClock } from "../../../emulator/time/virtualClock";

/** The limits in the contract's table. */
const TABLE: readonly [LimitedOperation, number, number][] = [
  ["runsync", 2000, 400],
  ["run", 1000, 200],
  ["status", 2000, 400],
  ["stream", 2000, 400],
  ["cancel", 100, 20],
  ["purge-queue", 2, Number.POSITIVE_INFINITY],
  ["openai", 2000, 400],
  ["requests", 10, 2],
];

test.each(TABLE)("/%s accepts %d requests per 10 s, and %d at once", (operation, perWindow, concurrent) => {
  const limiter = createRateLimiter(undefined, manualClock(0), () => 0);
  const ends: (() => void)[] = [];
  for (let n = 0; n < Math.min(concurrent, perWindow); n += 1) ends.push(limiter.begin(operation) as () => void);
  expect(ends).not.toContain(undefined);
  expect(limiter.begin(operation)).toBeUndefined();
  for (const end of ends) end();
  for (let n = ends.length; n < perWindow; n += 1) limiter.begin(operation)?.();
  expect(limiter.begin(operation)).toBeUndefined();
});

test("the window slides, so no period of 10 s exceeds the limit", async () => {
  const clock = manualClock(0);
  const limiter = createRateLimiter({ limits: { status: { perWindow: 2 } } }, clock, () => 0);
  const admitted: number[] = [];
  for (let now = 0; now < 40_000; now += 1_000) {
    if (limiter.begin("status")) admitted.push(now);
    await clock.advance(1_000);
  }
  expect(admitted).toEqual([0, 1_000, 10_000, 11_000, 20_000, 21_000, 30_000, 31_000]);
});

test("the limit falls back to its base when workers stop running", () => {
  let running = 3;
  const limiter = createRateLimiter({ requestsPerWorker: 100 }, manualClock(0), () => running);
  const admit = (count: number) => Array.from({ length: count }, () => limiter.begin("cancel")?.() ?? 0).length;
  admit(150);
  running = 0;
  expect(limiter.begin("cancel")).toBeUndefined();
  running = 2;
  expect(limiter.begin("cancel")).toBeDefined();
});

test("operations that are not in the table are not limited", () => {
  expect(["retry", "health", "toString"].map(isLimited)).toEqual([false, false, false]);
});
