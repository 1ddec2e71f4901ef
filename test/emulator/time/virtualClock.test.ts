import fc from "fast-check";
import { manualClock, scaledClock } from "../../../emulator/time/virtualClock";
import { sleep } from "../../../sdk/contract/clock";

describe("a manual clock", () => {
  test("a manual clock stands still until it is advanced, and then advances by exactly that amount", async () => {
    const clock = manualClock(1_000);
    expect(clock.now()).toBe(1_000);
    await clock.advance(250);
    expect(clock.now()).toBe(1_250);
  });

  test("a manual clock runs calls in the order of their times, and simultaneous calls in the order of scheduling", async () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    for (const [name, delay] of [
      ["late", 30],
      ["early", 10],
      ["first", 20],
      ["second", 20],
    ] as const) {
      clock.schedule(delay, () => seen.push(`${name}@${clock.now()}`));
    }
    await clock.advance(29);
    expect(seen).toEqual(["early@10", "first@20", "second@20"]);
    await clock.advance(1);
    expect(seen.at(-1)).toBe("late@30");
  });

  test("a manual clock runs exactly the remaining calls in order after any mix of scheduling and cancelling", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ delay: fc.nat(50), cancelled: fc.boolean() })), async (calls) => {
        const clock = manualClock(0);
        const seen: number[] = [];
        const cancels = calls.map(({ delay }, index) => clock.schedule(delay, () => seen.push(index)));
        calls.forEach(({ cancelled }, index) => {
          if (cancelled) cancels[index]?.();
        });
        await clock.advance(50);
        const expected = calls
          .map(({ delay, cancelled }, index) => ({ delay, cancelled, index }))
          .filter(({ cancelled }) => !cancelled)
          .sort((a, b) => a.delay - b.delay || a.index - b.index);
        expect(seen).toEqual(expected.map(({ index }) => index));
      }),
    );
  });

  test("a manual clock lets sleeping code continue before the next call", async () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    const twoSteps = async () => {
      await sleep(clock, 10);
      await Promise.resolve().then(() => {});
      seen.push(`woke@${clock.now()}`);
      await sleep(clock, 10);
      seen.push(`woke@${clock.now()}`);
    };
    const done = twoSteps();
    clock.schedule(11, () => seen.push("eleven"));
    await clock.advance(100);
    await done;
    expect(seen).toEqual(["woke@10", "eleven", "woke@20"]);
  });

  test("a manual clock runs calls that another call schedules during the same advance", async () => {
    const clock = manualClock(0);
    let count = 0;
    const again = () => {
      count += 1;
      clock.schedule(10, again);
    };
    clock.schedule(10, again);
    await clock.advance(95);
    expect(count).toBe(9);
  });

  test("a manual clock runs until only background calls are left, and does not run those", async () => {
    const clock = manualClock(0);
    const seen: string[] = [];
    clock.schedule(1_000, () => seen.push("tidy"), true);
    clock.schedule(10, () => clock.schedule(10, () => seen.push("work")));
    await clock.runUntilIdle();
    expect(seen).toEqual(["work"]);
    expect(clock.now()).toBe(20);
    await clock.advance(1_000);
    expect(seen).toEqual(["work", "tidy"]);
  });

  test("a manual clock stands still while real work is pending", async () => {
    const clock = manualClock(0);
    const seen: number[] = [];
    clock.hold(
      new Promise<void>((resolve) => setTimeout(resolve, 20)).then(() =>
        clock.schedule(5, () => seen.push(clock.now())),
      ),
    );
    await clock.advance(10);
    expect(seen).toEqual([5]);
  });

  test("a manual clock runs overlapping advances one after the other, and keeps running after a call throws", async () => {
    const clock = manualClock(0);
    clock.schedule(5, () => {
      throw new Error("broken call");
    });
    const [first, second] = await Promise.allSettled([clock.advance(10), clock.advance(20)]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "broken call" } });
    expect(second.status).toBe("fulfilled");
    expect(clock.now()).toBe(25);
  });

  test.each([-1, Number.NaN])("a manual clock refuses to advance by %p", (ms) => {
    expect(() => manualClock().advance(ms)).toThrow(RangeError);
  });
});

describe("a scaled clock", () => {
  test("a scaled clock runs a call after the scaled time, unless it was cancelled", async () => {
    const clock = scaledClock(1_000);
    const before = clock.now();
    let cancelledRan = false;
    const cancel = clock.schedule(5_000, () => {
      cancelledRan = true;
    });
    cancel();
    await sleep(clock, 20_000);
    expect(clock.now() - before).toBeGreaterThanOrEqual(19_000);
    expect(cancelledRan).toBe(false);
  });

  test("a scaled clock can wait longer than a Node.js timer", async () => {
    const seen: string[] = [];
    const cancel = scaledClock(1).schedule(2 ** 31, () => seen.push("in 25 days"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    cancel();
    expect(seen).toEqual([]);
  });

  test.each([0, 0.5, Number.NaN, Number.POSITIVE_INFINITY])("a scaled clock refuses the factor %p", (factor) => {
    expect(() => scaledClock(factor)).toThrow(RangeError);
  });
});
