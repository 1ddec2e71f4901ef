import { type ManualClock, manualClock } from "../../../emulator/time/virtualClock";
import { ConnectionError, RateLimitError, RequestTimeoutError } from "../../../sdk/errors/errors";
import type { ServiceCall } from "../../../sdk/transport/call";
import { Gate } from "../../../sdk/transport/gate";
import { createLimiter } from "../../../sdk/transport/limiter";
import { makeCall } from "../../../sdk/transport/makeCall";

function start<T>(clock: ManualClock, call: Partial<ServiceCall<T>> & Pick<ServiceCall<T>, "attempt">) {
  const context = {
    clock,
    random: () => 0.5,
    retry: { maxAttempts: 6, maxElapsedMs: 120_000 },
    attemptTimeoutMs: 30_000,
  };
  return makeCall(context, { name: "call", operation: "the call", repeatability: "safe", ...call });
}

/** A gate that has already admitted the only request of this window. */
function closedGate(clock: ManualClock) {
  const gate = new Gate(clock, createLimiter({ perWindow: 1, concurrent: 1 }));
  gate.tryEnter();
  gate.leave(clock.now(), false);
  return gate;
}

const failed = (promise: Promise<unknown>) => promise.catch((error: Error) => error);

describe("a call", () => {
  test("a call ends each attempt after its own time limit, and all attempts after the call's limit", async () => {
    const clock = manualClock(0);
    let attempts = 0;
    const error = failed(
      start(clock, {
        attempt: ({ signal, number }) => {
          expect(number).toBe(++attempts);
          return new Promise((_, reject) => signal.once("abort", () => reject(signal.reason)));
        },
      }),
    );
    await clock.runUntilIdle();
    expect(await error).toBeInstanceOf(RequestTimeoutError);
    expect(clock.now()).toBe(120_000);
    expect(attempts).toBe(4);
  });

  test("a call starts its time limit when its first attempt is admitted", async () => {
    const clock = manualClock(0);
    const gate = new Gate(clock, createLimiter({ perWindow: 1, concurrent: 1 }));
    const results = Promise.all(
      Array.from({ length: 30 }, () => start(clock, { gate, attempt: async () => clock.now() })),
    );
    await clock.runUntilIdle();
    expect(await results).toEqual(Array.from({ length: 30 }, (_, n) => n * 10_000));
  });

  test("a call that is still waiting to be admitted fails when its own time limit has elapsed, and nothing was sent", async () => {
    const clock = manualClock(0);
    let attempts = 0;
    const attempt = async () => ++attempts;
    const error = failed(start(clock, { gate: closedGate(clock), timeoutMs: 5_000, attempt }));
    await clock.advance(5_000);
    expect(await error).toBeInstanceOf(RateLimitError);
    expect(attempts).toBe(0);
  });

  test("a call stops waiting to be admitted when its signal aborts, and leaves no timer behind", async () => {
    const clock = manualClock(0);
    const controller = new AbortController();
    const attempt = async () => "sent";
    const error = failed(start(clock, { gate: closedGate(clock), signal: controller.signal, attempt }));
    await clock.advance(1_000);
    controller.abort(new Error("enough"));
    expect(await error).toMatchObject({ message: "enough" });
    await clock.runUntilIdle();
    expect(clock.now()).toBe(1_000);
  });

  test("a call is not sent if its signal has already aborted", async () => {
    let attempts = 0;
    const attempt = async () => ++attempts;
    const error = await failed(start(manualClock(0), { signal: AbortSignal.abort(new Error("before")), attempt }));
    expect(error).toMatchObject({ message: "before" });
    expect(attempts).toBe(0);
  });

  test("a call reports the number of attempts when it fails", async () => {
    const clock = manualClock(0);
    const attempt = async () => {
      throw new ConnectionError("the connection broke");
    };
    const error = failed(start(clock, { attempt }));
    await clock.runUntilIdle();
    expect(await error).toMatchObject({ attempts: 6, message: expect.stringContaining("6 attempts") });
  });
});

describe("the gate", () => {
  test("the gate admits requests in the order in which they arrive", async () => {
    const clock = manualClock(0);
    const gate = new Gate(clock, createLimiter({ perWindow: 2, concurrent: 1 }));
    const order: number[] = [];
    const attempt = (n: number) => async () => {
      order.push(n);
      await new Promise<void>((resolve) => clock.schedule(100, resolve));
    };
    const all = Promise.all(Array.from({ length: 9 }, (_, n) => start(clock, { gate, attempt: attempt(n) })));
    await clock.runUntilIdle();
    await all;
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("the gate halves the rate after a refusal", async () => {
    const clock = manualClock(0);
    const gate = new Gate(clock, createLimiter({ perWindow: 8, concurrent: 100 }));
    let sent = 0;
    const attempt = async () => {
      if (++sent === 1) throw new RateLimitError("429", { retryAfterMs: 60_000 });
    };
    const all = Promise.all(Array.from({ length: 30 }, () => start(clock, { gate, attempt })));
    await clock.advance(0);
    const inFirstWindow = sent;
    await clock.advance(10_000);
    expect(sent - inFirstWindow).toBeLessThan(8);
    await clock.runUntilIdle();
    await all;
  });
});
