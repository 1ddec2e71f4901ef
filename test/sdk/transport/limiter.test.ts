import fc from "fast-check";
import { createAnnouncedLimiter, createLimiter } from "../../../sdk/transport/limiter";

const WINDOW_MS = 10_000;

/**
 * Starts requests as fast as the limiter allows, each with one of the durations in turn. Returns
 * the times at which each arrives at the service and ends.
 */
function simulate(limit: { perWindow: number; concurrent: number }, durations: readonly number[], untilMs: number) {
  const limiter = createLimiter(limit);
  const underWay: { startedAt: number; arrivesAt: number; endsAt: number }[] = [];
  const requests: { arrivesAt: number; endsAt: number }[] = [];
  let now = 0;
  for (let next = 0; now < untilMs; ) {
    for (const ended of underWay.filter(({ endsAt }) => endsAt <= now)) {
      underWay.splice(underWay.indexOf(ended), 1);
      limiter.end(now, ended.startedAt, false);
    }
    const delayMs = limiter.delayMs(now);
    if (delayMs <= 0) {
      const durationMs = durations[next++ % durations.length] as number;
      limiter.start();
      const request = { startedAt: now, arrivesAt: now + durationMs / 2, endsAt: now + durationMs };
      underWay.push(request);
      requests.push(request);
    } else now = Math.min(now + delayMs, ...underWay.map(({ endsAt }) => endsAt));
  }
  return requests;
}

describe("the limiter", () => {
  test("the limiter admits a burst up to the full limit, and then another request whenever a request leaves the window", () => {
    const limiter = createLimiter({ perWindow: 3, concurrent: 10 });
    for (const at of [0, 100, 200]) {
      expect(limiter.delayMs(at)).toBe(0);
      limiter.start();
      limiter.end(at + 50, at, false);
    }
    expect(limiter.delayMs(300)).toBe(WINDOW_MS + 50 - 300);
    expect(limiter.delayMs(WINDOW_MS + 50)).toBe(0);
    limiter.start();
    limiter.end(WINDOW_MS + 50, WINDOW_MS + 50, false);
    expect(limiter.delayMs(WINDOW_MS + 50)).toBe(100);
  });

  test("the limiter admits no more concurrent requests than the limit allows", () => {
    const limiter = createLimiter({ perWindow: 100, concurrent: 2 });
    limiter.start();
    limiter.start();
    expect(limiter.delayMs(0)).toBe(Number.POSITIVE_INFINITY);
    limiter.end(10, 0, false);
    expect(limiter.delayMs(10)).toBe(0);
  });

  test("the service never receives more than the limit in any 10 s, however long requests take [contract.rate-runsync]", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.integer({ min: 0, max: 15_000 }), { minLength: 1, maxLength: 20 }),
        (perWindow, concurrent, durations) => {
          const requests = simulate({ perWindow, concurrent }, durations, 60_000);
          for (const { arrivesAt } of requests) {
            const inWindow = requests.filter(
              (other) => other.arrivesAt > arrivesAt - WINDOW_MS && other.arrivesAt <= arrivesAt,
            );
            expect(inWindow.length).toBeLessThanOrEqual(perWindow);
            const atOnce = requests.filter((other) => other.arrivesAt <= arrivesAt && other.endsAt > arrivesAt);
            expect(atOnce.length).toBeLessThanOrEqual(concurrent);
          }
        },
      ),
      { numRuns: 50 },
    );
  });

  test("the limiter uses the whole limit as long as requests are waiting", () => {
    const requests = simulate({ perWindow: 50, concurrent: 10 }, [20], 100_000);
    expect(requests.length).toBeGreaterThan(0.95 * 50 * 10);
  });

  test("the limiter halves its rate on a refusal, once for all pending requests, and recovers within a minute", () => {
    const limiter = createLimiter({ perWindow: 100, concurrent: 100 });
    for (let n = 0; n < 3; n++) limiter.start();
    for (let n = 0; n < 3; n++) limiter.end(10, 0, true);
    expect(admitted(limiter, 20)).toBe(50 - 3);
    const recovered = createLimiter({ perWindow: 100, concurrent: 1000 });
    recovered.start();
    recovered.end(10, 0, true);
    expect(admitted(recovered, 60_010)).toBe(100);
  });

  test("the limiter halves its rate again on another refusal, but never stops", () => {
    const limiter = createLimiter({ perWindow: 2, concurrent: Number.POSITIVE_INFINITY });
    for (let at = 0; at < 10; at++) {
      limiter.start();
      limiter.end(at, at, true);
    }
    expect(limiter.delayMs(10_009 - 1)).toBeGreaterThan(0);
    expect(limiter.delayMs(10_009)).toBe(0);
  });

  test("the limiter may raise the number of requests per window above the table, but never lowers it below the table", () => {
    const limiter = createLimiter({ perWindow: 10, concurrent: 1000 });
    limiter.raise(40);
    expect(admitted(limiter, 0)).toBe(40);
    const low = createLimiter({ perWindow: 10, concurrent: 1000 });
    low.raise(1);
    expect(admitted(low, 0)).toBe(10);
  });

  test("the limiter respects an announced quota only after a refusal, and counts earlier requests", () => {
    const limiter = createAnnouncedLimiter({ perWindow: 4, windowMs: 60_000, concurrent: 1000 });
    for (let at = 0; at < 10; at++) {
      expect(limiter.delayMs(at)).toBe(0);
      limiter.start();
      limiter.end(at, at, false);
    }
    limiter.start();
    limiter.end(10, 10, true);
    expect(limiter.delayMs(11)).toBe(60_000 + 10 - 1 - 11);
    expect(admitted(limiter, 200_000)).toBe(4);
  });

  test("the limiter forgets requests once they have left the window", () => {
    const limiter = createLimiter({ perWindow: 2000, concurrent: 400 });
    for (let at = 0; at < 200_000; at += 5) {
      if (limiter.delayMs(at) > 0) continue;
      limiter.start();
      limiter.end(at, at, false);
    }
    expect(admitted(limiter, 1_000_000)).toBe(400);
  });
});

/** Returns how many requests are let through at one moment. */
function admitted(limiter: ReturnType<typeof createLimiter>, now: number): number {
  let count = 0;
  while (limiter.delayMs(now) <= 0) {
    limiter.start();
    count++;
  }
  return count;
}
