import { type ManualClock, manualClock } from "../../../emulator/time/virtualClock";
import { ConnectionError, NotFoundError, RateLimitError } from "../../../sdk/errors/errors";
import type { Job } from "../../../sdk/jobs/jobRecord";
import { Poller, pollPauseMs, type WaitOutcome, type WaitRequest } from "../../../sdk/jobs/poller";

const FOREVER: WaitRequest = { deadline: Number.POSITIVE_INFINITY, firstDelayMs: 0 };

/** Returns a poller whose reads return what `answer` does, with the times of all reads. */
function pollerOf(answer: (jobId: string, clock: ManualClock) => Job | Error, maxOutageMs = 120_000) {
  const clock = manualClock(0);
  const reads: { readonly jobId: string; readonly at: number }[] = [];
  const poller = new Poller({
    clock,
    maxOutageMs,
    async read(jobId) {
      reads.push({ jobId, at: clock.now() });
      const result = answer(jobId, clock);
      if (result instanceof Error) throw result;
      return result;
    },
  });
  return { clock, poller, reads };
}

const completedAfter = (ms: number) => (id: string, clock: ManualClock) => ({
  id,
  status: clock.now() < ms ? "IN_PROGRESS" : "COMPLETED",
});

/** Returns an object that gets the result of a promise once it has settled. */
function watch(promise: Promise<WaitOutcome>) {
  const seen: { outcome?: WaitOutcome; error?: unknown } = {};
  promise.then(
    (outcome) => {
      seen.outcome = outcome;
    },
    (error: unknown) => {
      seen.error = error;
    },
  );
  return seen;
}

/** The most times that lie within any span of `ms`. */
function mostWithin(ms: number, times: readonly number[]): number {
  let most = 0;
  let first = 0;
  times.forEach((at, index) => {
    while ((times[first] as number) <= at - ms) first++;
    most = Math.max(most, index - first + 1);
  });
  return most;
}

describe("the pause between two reads of a job", () => {
  test.each([
    [0, 250],
    [1_000, 250],
    [4_000, 1_000],
    [20_000, 5_000],
    [3_600_000, 5_000],
  ])("after %d ms is %d ms", (waitedMs, pauseMs) => expect(pollPauseMs(waitedMs)).toBe(pauseMs));
});

describe("the poller", () => {
  test("the poller reads a job until it has ended, then stops and leaves no timer", async () => {
    const { clock, poller, reads } = pollerOf(completedAfter(2_000));
    const seen = watch(poller.wait("a", FOREVER));
    await clock.advance(1_999);
    expect(seen).toEqual({});
    await clock.advance(1_000);
    expect(seen.outcome?.job).toEqual({ id: "a", status: "COMPLETED" });
    const count = reads.length;
    await clock.runUntilIdle();
    expect(reads).toHaveLength(count);
  });

  test("the poller serves all callers that wait for the same job with the same reads", async () => {
    const { clock, poller, reads } = pollerOf(completedAfter(2_000));
    const all = Promise.all(Array.from({ length: 50 }, () => poller.wait("a", FOREVER)));
    await clock.runUntilIdle();
    expect((await all).every(({ job }) => job?.status === "COMPLETED")).toBe(true);
    expect(reads.length).toBeLessThan(10);
  });

  test("the poller sends at most 200 requests in any second for 10,000 jobs, and reads the jobs in turn", async () => {
    const { clock, poller, reads } = pollerOf(completedAfter(70_000));
    const outcomes = Promise.all(Array.from({ length: 10_000 }, (_, n) => poller.wait(`job-${n}`, FOREVER)));
    await clock.runUntilIdle();
    await outcomes;
    const mostInASecond = mostWithin(
      1_000,
      reads.map(({ at }) => at),
    );
    expect(mostInASecond).toBeLessThanOrEqual(200);
    expect(mostInASecond).toBeGreaterThan(150);
    const readsUntilEnd = reads.filter(({ at }) => at < 65_000);
    const perJob = new Map<string, number>();
    for (const { jobId } of readsUntilEnd) perJob.set(jobId, (perJob.get(jobId) ?? 0) + 1);
    expect(perJob.size).toBe(10_000);
    expect(Math.max(...perJob.values()) - Math.min(...perJob.values())).toBeLessThanOrEqual(1);
  });

  test("the poller ends a wait at its deadline even if many other waits are due", async () => {
    const { clock, poller } = pollerOf(() => ({ id: "a", status: "IN_QUEUE" }));
    for (let n = 0; n < 5_000; n++) poller.wait(`job-${n}`, FOREVER).catch(() => {});
    const seen = watch(poller.wait("a", { ...FOREVER, deadline: 1_234 }));
    await clock.advance(1_233);
    expect(seen).toEqual({});
    await clock.advance(1);
    expect(seen.outcome).toEqual({ lastError: undefined });
    poller.close();
  });

  test("the poller ends only the wait whose signal aborts, and leaves no timer when no waits remain", async () => {
    const { clock, poller, reads } = pollerOf(completedAfter(Number.POSITIVE_INFINITY));
    const [one, other] = [new AbortController(), new AbortController()];
    const first = watch(poller.wait("a", { ...FOREVER, signal: one.signal }));
    const second = watch(poller.wait("a", { ...FOREVER, signal: other.signal }));
    await clock.advance(1_000);
    one.abort("enough");
    await clock.advance(0);
    expect([first, second]).toEqual([{ error: "enough" }, {}]);
    other.abort("enough");
    const count = reads.length;
    await clock.runUntilIdle();
    expect(reads).toHaveLength(count);
  });

  test("the poller keeps waiting through temporary faults, and reports the last fault at the deadline", async () => {
    const fault = new ConnectionError("broken");
    const { clock, poller } = pollerOf((id, { now }) => (now() < 5_000 ? fault : completedAfter(0)(id, clock)));
    const patient = watch(poller.wait("a", FOREVER));
    const hurried = watch(poller.wait("a", { ...FOREVER, deadline: 2_000 }));
    await clock.runUntilIdle();
    expect(patient.outcome?.job?.status).toBe("COMPLETED");
    expect(hurried.outcome?.lastError).toBe(fault);
  });

  test("the poller gives up when the reads of a job have failed for longer than the maximum outage", async () => {
    const fault = new ConnectionError("broken");
    const { clock, poller } = pollerOf(() => fault, 30_000);
    const seen = watch(poller.wait("a", FOREVER));
    await clock.advance(29_000);
    expect(seen).toEqual({});
    await clock.advance(10_000);
    expect(seen.error).toBe(fault);
  });

  test("the poller gives up at once on permanent errors", async () => {
    const unknown = new NotFoundError("no such job");
    const { clock, poller, reads } = pollerOf(() => unknown);
    const seen = watch(poller.wait("a", FOREVER));
    await clock.advance(10);
    expect(seen.error).toBe(unknown);
    expect(reads).toHaveLength(1);
  });

  test("the poller respects the pause that the service asks for", async () => {
    const { clock, poller, reads } = pollerOf((id, { now }) =>
      now() < 1_000 ? new RateLimitError("429", { retryAfterMs: 9_000 }) : completedAfter(0)(id, clock),
    );
    poller.wait("a", FOREVER);
    await clock.runUntilIdle();
    expect(reads.map(({ at }) => at)).toEqual([0, 9_000]);
  });

  test("the poller does not wait for an hour, even if the service asks for it", async () => {
    const { clock, poller, reads } = pollerOf((id, { now }) =>
      now() < 1_000 ? new RateLimitError("429", { retryAfterMs: 3_600_000 }) : completedAfter(0)(id, clock),
    );
    poller.wait("a", FOREVER);
    await clock.runUntilIdle();
    expect(reads.map(({ at }) => at)).toEqual([0, 60_000]);
  });

  test("uses at most half of the limit on concurrent requests", async () => {
    const clock = manualClock(0);
    let underWay = 0;
    let most = 0;
    const read = async (id: string): Promise<Job> => {
      most = Math.max(most, ++underWay);
      await new Promise<void>((resolve) => clock.schedule(30_000, resolve));
      underWay--;
      return { id, status: "COMPLETED" };
    };
    const poller = new Poller({ clock, read, maxOutageMs: 120_000 });
    const all = Promise.all(Array.from({ length: 1_000 }, (_, n) => poller.wait(`job-${n}`, FOREVER)));
    await clock.runUntilIdle();
    expect(await all).toHaveLength(1_000);
    expect(most).toBe(200);
  });

  test("the poller ends all waits with an error when it is closed", async () => {
    const { clock, poller } = pollerOf(completedAfter(Number.POSITIVE_INFINITY));
    const seen = [watch(poller.wait("a", FOREVER)), watch(poller.wait("b", FOREVER))];
    await clock.advance(1_000);
    poller.close();
    await clock.runUntilIdle();
    for (const { error } of seen) expect(error).toMatchObject({ code: "CLIENT_CLOSED" });
  });
});
