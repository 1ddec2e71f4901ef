import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Handler } from "../../../emulator/workers/jobHandlers";
import { InvalidInputError } from "../../../sdk/errors";
import type { RunManyOptions } from "../../../sdk/jobs/batch";
import type { Batch, BatchResult } from "../../../sdk/jobs/batchResults";
import { JobExpiredError, JobFailedError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { fileJournal } from "../../../sdk/journal/fileJournal";
import { canonicalJson } from "../../../sdk/journal/itemKey";
import type { Journal, OpenJournal } from "../../../sdk/journal/journal";
import { JournalRefusedError, JournalUnavailableError } from "../../../sdk/journal/journalErrors";
import { type EmulatedQueue, sleeper, startQueue } from "../../support/queue";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "journal-"));
  file = path.join(folder, "batch.journal");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const many = (handler: Handler) => startQueue({ workers: 20, emulator: { rateLimits: { limits: "off" } }, handler });

/** Stops the virtual time while the disk works. */
function held(emulated: EmulatedQueue, journal: Journal = fileJournal(file)): Journal {
  const hold = <T>(work: Promise<T>) => {
    emulated.clock.hold(work.catch(() => {}));
    return work;
  };
  return {
    open: (batch) =>
      hold(
        journal.open(batch).then((open) => ({
          ...open,
          claim: (...args) => hold(open.claim(...args)),
          collect: (...args) => hold(open.collect(...args)),
          record: (...args) => hold(open.record(...args)),
          close: () => hold(open.close()),
        })),
      ),
  };
}

/** Runs the inputs, and counts how often each ran. */
async function started(ms = 1_000) {
  const runs = new Map<unknown, number>();
  const emulated = await many(async ({ input }, { sleep }) => {
    runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
    await sleep(ms);
    if (input.fails) throw new Error("no such prompt");
    return { n: input.n };
  });
  return { emulated, runs };
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));

const run = (emulated: EmulatedQueue, inputs: object[], more: Partial<RunManyOptions<unknown>> = {}) =>
  emulated.queue.runMany(inputs, { journal: held(emulated), batch: "pages", concurrency: 10, ...more });

async function collect<Input>(batch: Batch<Input, unknown>): Promise<BatchResult<Input>[]> {
  const all: BatchResult<Input>[] = [];
  for await (const result of batch) all.push(result);
  return all;
}

const outputs = (results: BatchResult[]) =>
  results.map(({ output, error }) => error?.name ?? (output as { n: number }).n).sort((a, b) => Number(a) - Number(b));

const submits = (emulated: EmulatedQueue) => emulated.calls().filter((call) => call === "run").length;

describe("a batch with a journal", () => {
  test("resumes after a break, runs each input once, and yields the results that were not delivered before", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const first: unknown[] = [];
    const loop = async () => {
      for await (const { output } of run(emulated, numbers(40))) {
        first.push((output as { n: number }).n);
        if (first.length === 8) break;
      }
    };
    await emulated.run(loop());
    const batch = run(emulated, numbers(40));
    const second = await emulated.run(collect(batch));
    // The loop did not ask for another result after the eighth, so it may not have processed it.
    expect(outputs(second)).toHaveLength(33);
    expect(new Set([...first, ...outputs(second)]).size).toBe(40);
    expect(batch.counts).toEqual({ started: 40, completed: 33, failed: 0, unfinished: 0, duplicates: 0, skipped: 7 });
    expect([runs.size, submits(emulated)]).toEqual([40, 40]);
  });

  test("resumes after a kill at any moment without running an input twice or losing an input", async () => {
    const { emulated, runs } = await started(300);
    await using _it = emulated;
    const copies: string[] = [];
    const loop = async () => {
      for await (const _ of run(emulated, numbers(60))) {
        // What a process that is killed now would leave.
        const copy = `${file}.${copies.length}`;
        copies.push(copy);
        await copyFile(file, copy);
      }
    };
    await emulated.run(loop());
    expect([runs.size, copies.length, submits(emulated)]).toEqual([60, 60, 60]);
    for (const copy of copies.filter((_, n) => n % 12 === 5)) {
      const before = submits(emulated);
      const known = (await readFile(copy, "utf8")).split("\n").filter((line) => line.includes("jobId"));
      const ids = new Set(known.map((line) => (JSON.parse(line) as { key: string }).key)).size;
      const batch = run(emulated, numbers(60), { journal: held(emulated, fileJournal(copy)) });
      const results = await emulated.run(collect(batch));
      const uncertain = results.filter(({ error }) => error instanceof SubmitUncertainError).length;
      expect(results.length + batch.counts.skipped).toBe(60);
      expect(submits(emulated) - before).toBe(60 - ids - uncertain);
      expect(batch.counts.unfinished).toBe(uncertain);
    }
  });

  test("reports an input whose submit was lost in every run, and submits it again only on request", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 2 });
    for (let time = 0; time < 2; time++) {
      const results = await emulated.run(collect(run(emulated, numbers(5))));
      expect(results.filter(({ error }) => error instanceof SubmitUncertainError)).toHaveLength(2);
      expect(submits(emulated)).toBe(5);
    }
    const batch = run(emulated, numbers(5), { uncertain: "submit" });
    expect(outputs(await emulated.run(collect(batch)))).toHaveLength(2);
    expect(batch.counts).toMatchObject({ completed: 2, skipped: 3, unfinished: 0 });
    expect([submits(emulated), [...runs.values()].filter((count) => count === 2).length]).toEqual([7, 2]);
  });

  test("reports jobs that expired after 31 minutes with their ids, and submits them again only on request", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const batch = run(emulated, numbers(3));
    await emulated.run(batch.next());
    await emulated.run(batch.return?.() as Promise<unknown>);
    await emulated.run(emulated.clock.advance(31 * 60_000));
    for (let time = 0; time < 2; time++) {
      const reported = await emulated.run(collect(run(emulated, numbers(3))));
      expect(reported.map(({ error, jobId }) => [error instanceof JobExpiredError, typeof jobId])).toEqual([
        [true, "string"],
        [true, "string"],
        [true, "string"],
      ]);
      expect(submits(emulated)).toBe(3);
    }
    const again = await emulated.run(collect(run(emulated, numbers(3), { expired: "submit" })));
    expect([outputs(again), [...runs.values()], submits(emulated)]).toEqual([[0, 1, 2], [2, 2, 2], 6]);
  });

  test("keeps results in the journal with store, so that they do not expire", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const inputs = [...numbers(2), { n: 2, fails: true }];
    const options = { store: "results", delivery: "done" } as const;
    expect(await emulated.run(collect(run(emulated, inputs, options)))).toHaveLength(3);
    await emulated.run(emulated.clock.advance(31 * 60_000));
    const before = emulated.calls().length;
    const results = (await emulated.run(collect(run(emulated, inputs, options)))).sort((a, b) => a.index - b.index);
    expect(results.map(({ output, error }) => error ?? output)).toEqual([
      { n: 0 },
      { n: 1 },
      expect.any(JobFailedError),
    ]);
    expect(results[2]?.error?.message).toContain("no such prompt");
    expect(emulated.calls()).toHaveLength(before);
  });

  test("never stores inputs, and stores outputs only with store", async () => {
    await using emulated = await many(() => "the secret output");
    await emulated.run(collect(run(emulated, [{ prompt: "the secret input" }])));
    expect(await readFile(file, "utf8")).not.toMatch(/secret/);
  });

  test("runs inputs with the same key once, and yields the result for each of these inputs", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const inputs = [{ n: 1, a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 }, n: 1 }, { n: 2 }, { n: 2 }];
    const slow = { n: 3 };
    async function* source() {
      yield* inputs;
      // The first job with this key was delivered long ago.
      await new Promise((resolve) => emulated.clock.schedule(20_000, () => resolve(undefined)));
      yield { n: 2 };
      yield slow;
    }
    const batch = emulated.queue.runMany(source(), { journal: held(emulated), batch: "pages" });
    const results = await emulated.run(collect(batch));
    expect(outputs(results)).toEqual([1, 1, 2, 2, 2, 3]);
    expect(batch.counts).toEqual({ started: 6, completed: 3, failed: 0, unfinished: 0, duplicates: 3, skipped: 0 });
    expect([...runs.values()]).toEqual([1, 1, 1]);
  });

  test("derives keys from the input alone, regardless of the order of its fields", async () => {
    expect(canonicalJson({ b: [{ d: 1, c: undefined }], a: "ä" })).toBe('{"a":"ä","b":[{"d":1}]}');
    const { emulated } = await started();
    await using _it = emulated;
    await emulated.run(collect(run(emulated, [{ n: 1 }])));
    const request = {
      webhook: "https://example.com/",
      policy: { ttl: 60_000 },
      s3Config: { accessSecret: "hidden-1" },
    };
    const batch = run(emulated, [{ n: 1 }], { request });
    expect(await emulated.run(collect(batch))).toEqual([]);
    expect(batch.counts.skipped).toBe(1);
  });

  test("does not rerun inputs that have failed", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const [result] = await emulated.run(collect(run(emulated, [{ n: 1, fails: true }])));
    expect(result?.error).toBeInstanceOf(JobFailedError);
    expect(await emulated.run(collect(run(emulated, [{ n: 1, fails: true }])))).toEqual([]);
    expect(runs.get(1)).toBe(1);
  });

  test("resubmits an input that the service has refused", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 400 }, times: 1 });
    const [refused] = await emulated.run(collect(run(emulated, [{ n: 1 }])));
    expect(refused?.error?.name).toBe("RejectedError");
    expect(outputs(await emulated.run(collect(run(emulated, [{ n: 1 }]))))).toEqual([1]);
    expect(runs.get(1)).toBe(1);
  });

  test("records a result as delivered only when done is called, if the loop requests this", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const options = { delivery: "done" } as const;
    const loop = async () => {
      for await (const result of run(emulated, numbers(4), options)) if (result.index < 3) await result.done();
    };
    await emulated.run(loop());
    expect(outputs(await emulated.run(collect(run(emulated, numbers(4), options))))).toEqual([3]);
  });

  test("allows concurrent consumers to mark results as delivered until after the end of the loop", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const options = { delivery: "done" } as const;
    const results = await emulated.run(collect(run(emulated, numbers(4), options)));
    await emulated.run(Promise.all(results.map((result) => result.done())));
    expect(await emulated.run(collect(run(emulated, numbers(4), options)))).toEqual([]);
  });

  test("adds the key of each input to its webhook", async () => {
    const webhooks: unknown[] = [];
    await using emulated = await many(({ webhook }) => webhooks.push(webhook));
    const options = { key: ({ id }: { id: string }) => id, request: { webhook: "https://example.com/?key={key}" } };
    const inputs = [{ id: "a b" }];
    await emulated.run(
      collect(emulated.queue.runMany(inputs, { journal: held(emulated), batch: "pages", ...options })),
    );
    expect(webhooks).toEqual(["https://example.com/?key=a%20b"]);
  });
});

describe("a batch whose journal cannot be used", () => {
  test("is refused before any request if its keys have another version, and the error names both versions", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    await emulated.run(collect(run(emulated, [{ n: 1 }])));
    const before = emulated.calls().length;
    const error = await emulated.failure(collect(run(emulated, [{ n: 1 }], { keyVersion: "2" })));
    expect(error).toBeInstanceOf(JournalRefusedError);
    expect(error.message).toMatch(/keyVersion "1".*keyVersion "2"/);
    expect(emulated.calls()).toHaveLength(before);
  });

  test.each([
    [{ batch: undefined }, "batch"],
    [{ journal: undefined }, "journal"],
    [{ journal: "postgres://localhost" as never }, "journal"],
    [{ uncertain: "again" as never }, "uncertain"],
  ])("is refused with %j", async (options, property) => {
    const { emulated } = await started();
    await using _it = emulated;
    expect(() => run(emulated, [], options)).toThrow(InvalidInputError);
    expect(() => run(emulated, [], options)).toThrow(property);
  });

  test("a key that is not a string makes only its own input fail", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const key = (input: object) => ((input as { n: number }).n === 1 ? "" : "key");
    const results = await emulated.run(collect(run(emulated, numbers(2), { key })));
    expect(results.map(({ error }) => error?.name).sort()).toEqual(["InvalidInputError", undefined]);
  });

  /** A store that fails while `isDown`. */
  function failing(state: { isDown: (method: string) => boolean }): Journal {
    const inner = fileJournal(file);
    return {
      async open(batch) {
        const open = await inner.open(batch);
        const check = (method: string) => {
          if (state.isDown(method)) throw new Error("no space left on device");
        };
        const wrapped: OpenJournal = {
          ...open,
          async claim(...args) {
            check("claim");
            return open.claim(...args);
          },
          async record(...args) {
            check("record");
            return open.record(...args);
          },
        };
        return wrapped;
      },
    };
  }

  test("continues after the journal was unavailable for a minute", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    let isDown = false;
    const batch = run(emulated, numbers(50), { journal: held(emulated, failing({ isDown: () => isDown })) });
    const loop = async () => {
      const all: BatchResult[] = [];
      for await (const result of batch) {
        if (all.push(result) !== 5) continue;
        isDown = true;
        emulated.clock.schedule(60_000, () => {
          isDown = false;
        });
      }
      return all;
    };
    expect(outputs(await emulated.run(loop()))).toEqual(numbers(50).map(({ n }) => n));
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
  });

  test("stops submitting when the journal stays unavailable, yields the running jobs' results, and gives advice", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    let isDown = false;
    const batch = run(emulated, numbers(50), { journal: held(emulated, failing({ isDown: () => isDown })) });
    const completed: unknown[] = [];
    const loop = async () => {
      for await (const { output } of batch) {
        if (output) completed.push(output);
        if (completed.length === 5) isDown = true;
      }
    };
    const error = await emulated.failure(loop());
    expect(error).toBeInstanceOf(JournalUnavailableError);
    expect(error.message).toMatch(/no space left on device.*run the batch again/);
    expect(completed).toHaveLength(runs.size);
    expect(runs.size).toBeLessThan(50);
    isDown = false;
    const { unrecorded } = error as JournalUnavailableError;
    const rest = await emulated.run(collect(run(emulated, numbers(50))));
    const uncertain = rest.filter((result) => result.error instanceof SubmitUncertainError);
    expect(uncertain.map(({ key }) => key).sort()).toEqual(unrecorded.map(({ key }) => key).sort());
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect(runs.size).toBe(50);
  });
});

test("an aborted batch with a journal yields the results that are complete, and the next run yields the rest", async () => {
  await using emulated = await many(sleeper);
  const inputs = [1_000, 5_000, 5_001, 7_200_000].map((ms) => ({ ms }));
  const controller = new AbortController();
  const yielded: number[] = [];
  const loop = async () => {
    for await (const { index } of run(emulated, inputs, { signal: controller.signal })) {
      yielded.push(index);
      if (yielded.length > 1) continue;
      await emulated.clock.advance(4_050);
      controller.abort(new Error("enough"));
    }
  };
  expect((await emulated.failure(loop())).message).toBe("enough");
  expect(yielded.sort()).toEqual([0, 1, 2]);
  const rest = await emulated.run(collect(run(emulated, inputs)));
  expect([rest.map(({ index }) => index), submits(emulated)]).toEqual([[3], 4]);
});
