import fc from "fast-check";
import { createRateWindows } from "../../../sdk/transport/rateWindows";

/** Returns the headers of a response with this rate-limit window. */
function headers(left: number, seconds: number, quota = 60) {
  return { ratelimit: `"minute";r=${left};t=${seconds}`, "ratelimit-policy": `"minute";q=${quota};w=60` };
}

test("only a few requests start before the first response reports the limits", () => {
  const limits = createRateWindows();
  for (let i = 0; i < 4; i++) {
    expect(limits.delayMs(0)).toBe(0);
    limits.start();
  }
  expect(limits.delayMs(0)).toBe(Number.POSITIVE_INFINITY);
  limits.end(10, 0, false);
  expect(limits.delayMs(10)).toBe(0);
});

test("no more requests start than the window allows, and the next window begins when it ends", () => {
  const limits = createRateWindows();
  limits.start();
  limits.observe({ status: 200, headers: headers(2, 30) }, 1_000, 0);
  limits.end(1_000, 0, false);
  limits.start();
  limits.start();
  expect(limits.delayMs(2_000)).toBe(29_000);
  limits.end(2_000, 0, false);
  limits.end(2_000, 0, false);
  expect(limits.delayMs(31_000)).toBe(0);
});

test("only a few requests start in a new window before a response reports its state, because other clients may have used it", () => {
  const limits = createRateWindows();
  limits.start();
  limits.observe({ status: 200, headers: headers(0, 30) }, 1_000, 0);
  limits.end(1_000, 0, false);
  for (let i = 0; i < 4; i++) {
    expect(limits.delayMs(31_000)).toBe(0);
    limits.start();
  }
  expect(limits.delayMs(31_000)).toBe(Number.POSITIVE_INFINITY);
  limits.observe({ status: 200, headers: headers(9, 60) }, 31_500, 31_000);
  limits.end(31_500, 31_000, false);
  expect(limits.delayMs(31_500)).toBe(0);
});

test("requests in flight are counted, because the service may not have counted them yet", () => {
  const limits = createRateWindows();
  for (let i = 0; i < 3; i++) limits.start();
  limits.observe({ status: 200, headers: headers(2, 30) }, 0, 0);
  limits.end(0, 0, false);
  expect(limits.delayMs(0)).toBe(30_000);
});

test("a response that arrives out of order does not raise the number of remaining requests", () => {
  const limits = createRateWindows();
  limits.start();
  limits.start();
  limits.observe({ status: 200, headers: headers(1, 30) }, 0, 0);
  limits.end(0, 0, false);
  limits.observe({ status: 200, headers: headers(9, 30) }, 5, 0);
  limits.end(5, 0, false);
  limits.start();
  expect(limits.delayMs(10)).toBeGreaterThan(0);
});

test("a 429 holds back all requests for its Retry-After", () => {
  const limits = createRateWindows();
  limits.start();
  limits.observe({ status: 429, headers: { "retry-after": "12" } }, 0, 0);
  limits.end(0, 0, true);
  expect(limits.delayMs(2_000)).toBe(10_000);
  expect(limits.delayMs(12_000)).toBe(0);
});

test("a window of several hours delays no request, and the service's refusal explains the limit", () => {
  const limits = createRateWindows();
  limits.start();
  limits.observe({ status: 200, headers: { ratelimit: '"hour";r=0;t=3300' } }, 0, 0);
  limits.end(0, 0, false);
  expect(limits.delayMs(1)).toBe(0);
});

test.each([
  "",
  "nonsense",
  '"minute"',
  '"minute";r=x;t=1',
  ";;;,=",
  '"minute";r=-1;t=5',
])("the header %j has no effect and causes no error", (ratelimit) => {
  const limits = createRateWindows();
  limits.observe({ status: 200, headers: { ratelimit, "ratelimit-policy": ratelimit } }, 0, 0);
  expect(limits.delayMs(0)).toBe(0);
});

test("in any order of responses, a fixed window never receives more requests than its quota", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 12 }),
      fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 30, maxLength: 60 }),
      (quota, latencies) => {
        const { most, seconds } = play(quota, latencies);
        expect(most).toBeLessThanOrEqual(Math.max(quota, 4));
        // It wastes at most two windows, and in each window the time until the first responses.
        expect(seconds).toBeLessThanOrEqual(63 * Math.ceil(latencies.length / Math.max(1, quota - 1)) + 120);
      },
    ),
  );
});

/**
 * Plays requests against a service with fixed windows of a minute. Returns the most that it got in
 * one, and the time of all.
 */
function play(quota: number, latencies: readonly number[]): { most: number; seconds: number } {
  const limits = createRateWindows();
  const waiting = [...latencies];
  const underWay: { at: number; sentAt: number; left: number; t: number }[] = [];
  let endsAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  let most = 0;
  let now = 0;
  for (; waiting.length + underWay.length > 0; now += 100) {
    for (const response of underWay.filter(({ at }) => at <= now)) {
      underWay.splice(underWay.indexOf(response), 1);
      limits.observe({ status: 200, headers: headers(response.left, response.t, quota) }, now, response.sentAt);
      limits.end(now, 0, false);
    }
    while (waiting.length > 0 && limits.delayMs(now) === 0) {
      limits.start();
      if (now >= endsAt) [used, endsAt] = [0, now + 60_000];
      most = Math.max(most, ++used);
      const t = Math.ceil((endsAt - now) / 1000);
      underWay.push({ sentAt: now, at: now + (waiting.shift() ?? 0) + 1, left: Math.max(0, quota - used), t });
    }
  }
  return { most, seconds: now / 1000 };
}
