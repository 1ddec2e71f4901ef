import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { BatchResult } from "../../../sdk/batches/batchResults";
import { AuthenticationError, InvalidInputError, NotFoundError } from "../../../sdk/errors/errors";
import { CancelFailedError, JobFailedError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { sleeper, startQueue } from "../../support/queue";

const MANY = { workers: 20, emulator: { rateLimits: { limits: "off" } } } as const;

async function collect<T>(results: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const result of results) all.push(result);
  return all;
}

const inputs = (...times: number[]) => times.map((ms) => ({ ms }));

describe("runMany", () => {
  test("runMany yields each output with its input as soon as the job ends", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const schema = z.object({ slept: z.number() });
    const given = inputs(9_000, 1_000, 5_000);
    const batch = emulated.queue.runMany(given, { schema });
    const results = await emulated.run(collect(batch));
    expect(results).toEqual([
      { index: 1, input: given[1], jobId: expect.any(String), output: { slept: 1_000 } },
      { index: 2, input: given[2], jobId: expect.any(String), output: { slept: 5_000 } },
      { index: 0, input: given[0], jobId: expect.any(String), output: { slept: 9_000 } },
    ]);
    const total = results.reduce((sum, result) => sum + (result.error === undefined ? result.output.slept : 0), 0);
    expect(total).toBe(15_000);
    expect(batch.counts).toEqual({
      started: 3,
      completed: 3,
      failed: 0,
      unfinished: 0,
      duplicates: 0,
      skipped: 0,
      failedEarlier: 0,
    });
  });

  test("runMany yields each failure with its input and continues", async () => {
    await using emulated = await startQueue({
      ...MANY,
      handler: ({ input }) => {
        if (input.fails) throw new Error("no such prompt");
        return input;
      },
    });
    const batch = emulated.queue.runMany([{ n: 1 }, { fails: true }, "text" as never, { n: 2 }], {
      schema: { parse: (value) => value as { n: number } },
    });
    const results = (await emulated.run(collect(batch))).sort((a, b) => a.index - b.index);
    expect(results.map(({ error, output }) => error ?? output)).toEqual([
      { n: 1 },
      expect.any(JobFailedError),
      expect.any(InvalidInputError),
      { n: 2 },
    ]);
    expect(results.map(({ jobId }) => typeof jobId)).toEqual(["string", "string", "undefined", "string"]);
    expect(batch.counts).toEqual({
      started: 4,
      completed: 2,
      failed: 2,
      unfinished: 0,
      duplicates: 0,
      skipped: 0,
      failedEarlier: 0,
    });
  });

  test("runMany does not count running jobs as failed", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const controller = new AbortController();
    const batch = emulated.queue.runMany(inputs(1_000, 3_600_000, 3_600_000), { signal: controller.signal });
    const read = async () => {
      for await (const _ of batch) controller.abort(new Error("enough"));
    };
    expect((await emulated.failure(read())).message).toBe("enough");
    expect(batch.counts).toEqual({
      started: 3,
      completed: 1,
      failed: 0,
      unfinished: 2,
      duplicates: 0,
      skipped: 0,
      failedEarlier: 0,
    });
  });

  test("runMany sends the common fields of request with each job", async () => {
    const policies: unknown[] = [];
    await using emulated = await startQueue({ ...MANY, handler: ({ policy }) => policies.push(policy.ttl) });
    await emulated.run(collect(emulated.queue.runMany([{}, {}], { request: { policy: { ttl: 60_000 } } })));
    expect(policies).toEqual([60_000, 60_000]);
  });

  test("runMany never runs more jobs than concurrency allows, even while the loop does not take their results", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    let read = 0;
    function* source() {
      for (let n = 0; n < 30; n++) {
        read++;
        yield { ms: 1_000 };
      }
    }
    const taken: number[] = [];
    const loop = async () => {
      for await (const { index } of emulated.queue.runMany(source(), { concurrency: 5 })) {
        taken.push(index);
        // The job that the loop is processing no longer counts.
        expect(read).toBeLessThanOrEqual(taken.length + 5);
        if (taken.length === 10) await pause(50);
      }
    };
    await emulated.run(loop());
    expect([read, new Set(taken).size]).toEqual([30, 30]);
    expect(emulated.calls().filter((call) => call === "run")).toHaveLength(30);
  });

  test("runMany reads an async iterable one input at a time, and yields results while it waits for the next input", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    let isReading = false;
    let giveNext = () => {};
    const source = {
      count: 0,
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        expect(isReading).toBe(false);
        isReading = true;
        if (this.count === 2) {
          await new Promise<void>((resolve) => {
            giveNext = resolve;
          });
        }
        isReading = false;
        return this.count++ < 3
          ? { done: false as const, value: { ms: 100 } }
          : { done: true as const, value: undefined };
      },
    };
    const batch = emulated.queue.runMany(source);
    expect([(await emulated.run(batch.next())).done, (await emulated.run(batch.next())).done]).toEqual([false, false]);
    const last = batch.next();
    giveNext();
    expect((await emulated.run(last)).value).toMatchObject({ index: 2 });
    expect(await emulated.run(batch.next())).toEqual({ done: true, value: undefined });
  });

  test("runMany does not submit a job again if its response was lost", async () => {
    let runs = 0;
    await using emulated = await startQueue({ ...MANY, handler: () => ++runs });
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 3 });
    const results = await emulated.run(collect(emulated.queue.runMany(Array.from({ length: 10 }, () => ({})))));
    const uncertain = results.filter(({ error }) => error instanceof SubmitUncertainError);
    expect([results.length, uncertain.length]).toEqual([10, 3]);
    await emulated.clock.advance(10_000);
    expect(runs).toBe(10);
    expect(emulated.calls().filter((call) => call === "run")).toHaveLength(10);
  });

  test("runMany respects the rate limits", async () => {
    await using emulated = await startQueue({ workers: 50 });
    const batch = emulated.queue.runMany(
      Array.from({ length: 1_100 }, (_, n) => ({ n })),
      { concurrency: 300 },
    );
    const results = await emulated.run(collect(batch));
    expect(new Set(results.map(({ index }) => index)).size).toBe(1_100);
    expect(batch.counts).toEqual({
      started: 1_100,
      completed: 1_100,
      failed: 0,
      unfinished: 0,
      duplicates: 0,
      failedEarlier: 0,
      skipped: 0,
    });
    expect(emulated.emulator.journal.requests({ status: 429 })).toEqual([]);
  });
});

describe("a batch that ends early", () => {
  /**
   * Starts a batch of long jobs and a short one. Returns its first result and a function that
   * leaves the loop.
   */
  async function begun(onAbort?: "detach" | "cancel", signal?: AbortSignal) {
    const emulated = await startQueue({ ...MANY, handler: sleeper });
    const state = { isClosed: false };
    function* source() {
      try {
        yield* inputs(1_000, 600_000, 600_000, 600_000, 600_000);
      } finally {
        state.isClosed = true;
      }
    }
    const batch = emulated.queue.runMany(source(), { concurrency: 4, onAbort, signal });
    expect((await emulated.run(batch.next())).value).toMatchObject({ index: 0 });
    return { emulated, batch, state };
  }

  const statuses = (emulated: Awaited<ReturnType<typeof startQueue>>) => emulated.run(emulated.queue.health());

  test.each([
    ["detach", undefined, 4, 0],
    ["cancel", "cancel" as const, 0, 4],
  ])("break or return leaves the batch's jobs %sed and leaves no requests or timers behind", async (_, onAbort, inProgress, cancels) => {
    const { emulated, batch, state } = await begun(onAbort);
    await using _it = emulated;
    const loop = async () => {
      for await (const _result of batch) break;
    };
    const reading = loop();
    await emulated.clock.advance(1_000);
    // A loop over the rest waits for a long job; return ends it.
    await emulated.run(Promise.all([reading, batch.return?.()]));
    expect(state.isClosed).toBe(true);
    expect(emulated.timers()).toBe(0);
    expect((await statuses(emulated)).jobs).toMatchObject({ inProgress, inQueue: 0 });
    expect(emulated.calls().filter((call) => call === "cancel")).toHaveLength(cancels);
    expect(await batch.next()).toEqual({ done: true, value: undefined });
  });

  test("an abort rejects with the reason once the cancels are done", async () => {
    const controller = new AbortController();
    const { emulated, batch } = await begun("cancel", controller.signal);
    await using _it = emulated;
    const next = batch.next();
    await emulated.clock.advance(1_000);
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await emulated.failure(next)).toBe(reason);
    expect((await statuses(emulated)).jobs).toMatchObject({ inProgress: 0, inQueue: 0 });
    expect(emulated.timers()).toBe(0);
  });

  test.each([
    "detach",
    "cancel",
  ] as const)("an abort with the effect %s yields the results that are already complete", async (onAbort) => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const controller = new AbortController();
    const times = [1_000, ...Array(9).fill(5_000), 600_000, 600_000];
    const batch = emulated.queue.runMany(inputs(...times), { signal: controller.signal, onAbort });
    const yielded: BatchResult[] = [];
    const loop = async () => {
      for await (const result of batch) {
        yielded.push(result);
        if (yielded.length > 1) continue;
        // The service completes these jobs before the client reads them.
        await emulated.clock.advance(4_050);
        controller.abort(new Error("enough"));
      }
    };
    expect((await emulated.failure(loop())).message).toBe("enough");
    expect(yielded.map(({ error, index }) => error ?? index).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const ended = onAbort === "cancel" ? { failed: 2, unfinished: 0 } : { failed: 0, unfinished: 2 };
    expect(batch.counts).toEqual({ started: 12, completed: 10, ...ended, duplicates: 0, skipped: 0, failedEarlier: 0 });
    expect(batch.left.map(({ index, jobId }) => [index, typeof jobId])).toEqual([
      [10, "string"],
      [11, "string"],
    ]);
  });

  test("drain submits nothing more, and the loop ends after the results of the submitted jobs", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const batch = emulated.queue.runMany(inputs(1_000, 2_000, 3_000, 1_000, 1_000), { concurrency: 3 });
    const indexes: number[] = [];
    const loop = async () => {
      for await (const { index } of batch) {
        indexes.push(index);
        batch.drain();
      }
    };
    await emulated.run(loop());
    // The fourth one was submitted when the loop took the first result.
    expect([indexes.sort(), batch.left]).toEqual([[0, 1, 2, 3], []]);
    expect(emulated.calls().filter((call) => call === "run")).toHaveLength(4);
  });

  test("an abort waits for the ids of jobs whose submit is pending", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    emulated.emulator.faults.add({ name: "hangs a second", match: { operation: "run" }, effect: { latencyMs: 1_000 } });
    const controller = new AbortController();
    const batch = emulated.queue.runMany(inputs(600_000, 600_000), { signal: controller.signal });
    const next = batch.next();
    await pause(50);
    controller.abort(new Error("enough"));
    expect((await emulated.failure(next)).message).toBe("enough");
    expect(batch.left.map(({ jobId }) => typeof jobId)).toEqual(["string", "string"]);
  });

  test("after a break, the counts and job ids show which jobs are unfinished", async () => {
    const { emulated, batch } = await begun();
    await using _it = emulated;
    const counted = () => {
      const { started, ...others } = batch.counts;
      return [started, Object.values(others).reduce((sum, each) => sum + each, 0)];
    };
    expect(counted()).toEqual([5, 5]);
    await emulated.run(batch.return?.() as Promise<unknown>);
    expect(batch.counts).toMatchObject({ completed: 1, failed: 0, unfinished: batch.left.length });
    const { inProgress } = (await statuses(emulated)).jobs;
    expect(batch.left.filter(({ jobId }) => jobId !== undefined)).toHaveLength(inProgress);
    expect(counted()[0]).toBe(counted()[1]);
  });

  test("a batch that ends early cancels the job of a submit that is still pending", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    emulated.emulator.faults.add({ name: "hangs a second", match: { operation: "run" }, effect: { latencyMs: 1_000 } });
    const batch = emulated.queue.runMany(inputs(600_000, 600_000), { onAbort: "cancel" });
    const next = batch.next();
    await pause(50);
    await emulated.run(Promise.all([next, batch.return?.()]));
    await emulated.clock.advance(10_000);
    expect((await statuses(emulated)).jobs).toMatchObject({ inProgress: 0, inQueue: 0 });
    expect(emulated.calls().filter((call) => call === "run")).toHaveLength(2);
  });

  test("a batch that ends early throws when a job cannot be cancelled", async () => {
    const { emulated, batch } = await begun("cancel");
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "cancel" }, effect: { status: 400 }, times: 1 });
    const error = await emulated.failure(batch.return?.() as Promise<unknown>);
    expect(error).toBeInstanceOf(CancelFailedError);
    expect((await statuses(emulated)).jobs).toMatchObject({ inProgress: 1 });
  });

  test("a batch that ends before its first result neither reads nor sends anything", async () => {
    await using emulated = await startQueue(MANY);
    let isOpened = false;
    const source = {
      [Symbol.iterator]() {
        isOpened = true;
        return [{}][Symbol.iterator]();
      },
    };
    await emulated.queue.runMany(source).return?.();
    expect([isOpened, emulated.calls()]).toEqual([false, []]);
  });

  test("a batch that ends early does not wait for an input that never arrives", async () => {
    await using emulated = await startQueue(MANY);
    async function* source() {
      yield {};
      await new Promise(() => {});
    }
    const loop = async () => {
      for await (const _result of emulated.queue.runMany(source())) break;
    };
    await emulated.run(loop());
  });
});

describe("a batch that cannot continue", () => {
  const failing = async (batch: AsyncIterable<BatchResult>) => {
    const results: BatchResult[] = [];
    const error = await (async () => {
      for await (const result of batch) results.push(result);
    })().catch((reason: unknown) => reason);
    return { results, error };
  };

  test("a batch whose inputs throw an error ends with that error after the results of the pending jobs", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const broken = new Error("the file is damaged");
    function* source() {
      yield* inputs(5_000, 1_000);
      throw broken;
    }
    const { results, error } = await emulated.run(failing(emulated.queue.runMany(source())));
    expect([results.map(({ index }) => index), error]).toEqual([[1, 0], broken]);
  });

  test.each([
    [401, AuthenticationError, 100, 3],
    [404, NotFoundError, 100, 3],
    [401, AuthenticationError, 2, 2],
    [401, AuthenticationError, 3, 3],
  ])("status %d throws %p, and only the first of %d inputs are submitted: %d", async (status, Expected, length, submits) => {
    await using emulated = await startQueue(MANY);
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status } });
    const batch = emulated.queue.runMany(
      Array.from({ length }, () => ({})),
      { concurrency: 3 },
    );
    const { results, error } = await emulated.run(failing(batch));
    expect(error).toBeInstanceOf(Expected);
    expect([results.length, emulated.calls().length]).toEqual([submits, submits]);
  });

  test("a batch ends when the client is closed", async () => {
    await using emulated = await startQueue({ ...MANY, handler: sleeper });
    const running = failing(
      emulated.queue.runMany(
        Array.from({ length: 50 }, () => ({ ms: 5_000 })),
        { concurrency: 4 },
      ),
    );
    await emulated.clock.advance(1_000);
    await emulated.client.close();
    const { results, error } = await emulated.run(running);
    expect(error).toMatchObject({ code: "CLIENT_CLOSED" });
    expect(results.every((result) => (result.error as { code?: string }).code === "CLIENT_CLOSED")).toBe(true);
    expect(results.length).toBeLessThan(10);
  });

  test.each([
    ["concurrency", [], { concurrency: 0 }],
    ["concurrency", [], { concurrency: 1.5 }],
    ["concurrency", [], { concurrency: "4" as never }],
    ["inputs", undefined as never, {}],
    ["inputs", "text" as never, {}],
    ["inputs", { input: {} } as never, {}],
  ])("a batch with invalid %s fails before any call", async (property, given, options) => {
    await using emulated = await startQueue(MANY);
    expect(() => emulated.queue.runMany(given, options)).toThrow(InvalidInputError);
    expect(() => emulated.queue.runMany(given, options)).toThrow(property);
    expect(emulated.calls()).toEqual([]);
  });
});
