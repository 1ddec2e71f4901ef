import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Handler } from "../../../emulator/workers/jobHandlers";
import type { RunManyOptions } from "../../../sdk/batches/batch";
import type { Batch, BatchResult } from "../../../sdk/batches/batchResults";
import type { ClientOptions } from "../../../sdk/client/options";
import { InvalidInputError, NotFoundError } from "../../../sdk/errors/errors";
import { JobExpiredError, JobFailedError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { fileJournal } from "../../../sdk/journal/fileJournal";
import { canonicalJson, hashOfInput } from "../../../sdk/journal/itemKey";
import type { Journal, OpenJournal } from "../../../sdk/journal/journal";
import { JournalDamagedError, JournalRefusedError, JournalUnavailableError } from "../../../sdk/journal/journalErrors";
import { recordJobs } from "../../../sdk/journal/recordJobs";
import type { LogFunction } from "../../../sdk/transport/observers";
import { heldJournal } from "../../support/heldJournal";
import { type EmulatedQueue, sleeper, startQueue } from "../../support/queue";

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "journal-"));
  file = path.join(folder, "batch.journal");
});

afterEach(() => rm(folder, { recursive: true, force: true }));

const many = (handler: Handler, client: Partial<ClientOptions> = {}) =>
  startQueue({ workers: 20, emulator: { rateLimits: { limits: "off" } }, handler, client });

const held = (emulated: EmulatedQueue, journal = fileJournal(file)) => heldJournal(emulated, journal);

/** Runs the inputs, and counts how often each ran. */
async function started(ms = 1_000, logger?: LogFunction) {
  const runs = new Map<unknown, number>();
  const jobIds: string[] = [];
  const handler: Handler = async ({ id, input }, { sleep }) => {
    jobIds.push(id);
    runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
    await sleep(ms);
    if (input.fails) throw new Error("no such prompt");
    return { n: input.n };
  };
  const emulated = await many(handler, { ...(logger && { logger }) });
  return { emulated, runs, jobIds };
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
  test("a batch with a journal resumes after a break, runs each input once, and yields the results that were not delivered before", async () => {
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
    expect(batch.counts).toEqual({
      started: 40,
      completed: 33,
      failed: 0,
      unfinished: 0,
      duplicates: 0,
      skipped: 7,
      failedEarlier: 0,
    });
    expect([runs.size, submits(emulated)]).toEqual([40, 40]);
  });

  test("a batch with a journal resumes after a kill at any moment without running an input twice or losing an input", async () => {
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

  test("a batch with a journal reports an input whose submit was lost in every run, and submits it again only on request", async () => {
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

  test("a batch with a journal reports jobs that expired after 31 minutes with their ids, and submits them again only on request", async () => {
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

  test("a batch with a journal keeps results in the journal with store, so that they do not expire", async () => {
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

  test("a batch with a journal never stores inputs, and stores outputs only with store", async () => {
    await using emulated = await many(() => "the secret output");
    await emulated.run(collect(run(emulated, [{ prompt: "the secret input" }])));
    expect(await readFile(file, "utf8")).not.toMatch(/secret/);
  });

  test("a batch with a journal runs inputs with the same key once, and yields the result for each of these inputs", async () => {
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
    expect(batch.counts).toEqual({
      started: 6,
      completed: 3,
      failed: 0,
      unfinished: 0,
      duplicates: 3,
      skipped: 0,
      failedEarlier: 0,
    });
    expect([...runs.values()]).toEqual([1, 1, 1]);
  });

  test("a batch with a journal derives keys from the input alone, regardless of the order of its fields", async () => {
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

  test("a batch with a journal counts inputs that failed earlier in every run, and submits them again only on request", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const inputs = [{ n: 0 }, { n: 1, fails: true }];
    const first = await emulated.run(collect(run(emulated, inputs)));
    expect(first.filter(({ error }) => error instanceof JobFailedError)).toHaveLength(1);
    const again = run(emulated, inputs);
    expect(await emulated.run(collect(again))).toEqual([]);
    expect(again.counts).toMatchObject({ started: 2, skipped: 1, failedEarlier: 1, failed: 0 });
    expect(runs.get(1)).toBe(1);
    // The same input twice: it fails once more, not twice.
    const more = run(emulated, [...inputs, inputs[1] as object], { failed: "submit" });
    expect((await emulated.run(collect(more))).map(({ error }) => error?.name)).toEqual(
      Array(2).fill("JobFailedError"),
    );
    expect([more.counts.failed, more.counts.duplicates, runs.get(1)]).toEqual([1, 1, 2]);
  });

  test("a batch with a journal yields lost results again from the journal, from the service, and else says that they are gone", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const inputs = [{ n: 0 }, { n: 1, fails: true }];
    const lost = { redeliver: () => true };
    const kinds = async (more: Partial<RunManyOptions<unknown>>) => {
      const batch = run(emulated, inputs, more);
      const results = await emulated.run(collect(batch));
      expect(batch.counts.started).toBe(2);
      return results.sort((a, b) => a.index - b.index).map(({ error, output }) => error?.name ?? output);
    };
    await kinds({});
    expect(await kinds(lost)).toEqual([{ n: 0 }, "JobFailedError"]);
    await kinds({ batch: "stored", journal: held(emulated, fileJournal(`${file}2`)), store: "results" });
    await emulated.run(emulated.clock.advance(31 * 60_000));
    expect(await kinds({ ...lost, expired: "submit" })).toEqual(["JobExpiredError", "JobFailedError"]);
    const stored = { batch: "stored", journal: held(emulated, fileJournal(`${file}2`)) };
    expect(await kinds({ ...lost, ...stored })).toEqual([{ n: 0 }, "JobFailedError"]);
    expect([...runs.values()]).toEqual([2, 2]);
  });

  test("a batch with a journal refuses an input that has the key of another one, in this run or an earlier one", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const options = { key: (input: object) => String((input as { id?: string }).id) };
    const inputs = [
      { id: "a", n: 0 },
      { id: "a", n: 1 },
      { id: "a", n: 0 },
    ];
    const results = await emulated.run(collect(run(emulated, inputs, options)));
    expect(results.map(({ index, error }) => `${index} ${error?.name}`).sort()).toEqual([
      "0 undefined",
      "1 InvalidInputError",
      "2 undefined",
    ]);
    const [changed] = await emulated.run(collect(run(emulated, [{ id: "a", n: 2 }], options)));
    expect(changed?.error?.message).toMatch(/"a" is the key of another input of this batch, .*give it another key/);
    expect([...runs]).toEqual([[0, 1]]);
  });

  test("a batch with a journal pauses as a whole while the service refuses submits with 429, says so once per pause, and then completes every input", async () => {
    const log: string[] = [];
    const { emulated, runs } = await started(1_000, (_level, message, details) => {
      if ("batch" in details) log.push(message);
    });
    await using _it = emulated;
    const rule = emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 } });
    emulated.clock.schedule(30 * 60_000, () => emulated.emulator.faults.remove(rule.id));
    const results = await emulated.run(collect(run(emulated, numbers(30))));
    expect(outputs(results)).toEqual(numbers(30).map(({ n }) => n));
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
    expect(new Set(log)).toEqual(
      new Set(["the service refused a submit with 429. The batch submits nothing for 60 s"]),
    );
    expect(log.length).toBeLessThan(30);
    // In half an hour, each input alone would have been tried far more often.
    expect(submits(emulated)).toBeLessThan(1_500);
  });

  test("drain submits no input that waits for a rate limit or a submit slot", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const rule = emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 } });
    const startedAt = emulated.clock.now();
    const batch = run(emulated, numbers(100), { concurrency: 100 });
    emulated.clock.schedule(45_000, () => {
      emulated.emulator.faults.remove(rule.id);
      batch.drain();
    });
    expect(await emulated.run(collect(batch))).toEqual([]);
    expect([runs.size, batch.left.length, batch.counts.unfinished]).toEqual([0, 100, 100]);
    expect(emulated.clock.now() - startedAt).toBeLessThan(60_000);
    expect(outputs(await emulated.run(collect(run(emulated, numbers(100))))).length).toBe(100);
    expect([...runs.values()].every((count) => count === 1)).toBe(true);
  });

  test("an aborted batch yields the inputs that became uncertain", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { hang: true } });
    const controller = new AbortController();
    emulated.clock.schedule(5_000, () => controller.abort(new Error("enough")));
    const results: BatchResult[] = [];
    const batch = run(emulated, numbers(3), { signal: controller.signal });
    const loop = async () => {
      for await (const result of batch) results.push(result);
    };
    expect((await emulated.failure(loop())).message).toBe("enough");
    expect(results.map(({ error }) => error?.name)).toEqual(Array(3).fill("SubmitUncertainError"));
    expect(batch.left).toEqual([]);
  });

  test("an input whose response was lost keeps its reason, and takes a job that was found", async () => {
    const { emulated, runs, jobIds } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 1 });
    await emulated.run(collect(run(emulated, [{ n: 1 }])));
    const [uncertain] = await emulated.run(collect(run(emulated, [{ n: 1 }])));
    expect(uncertain?.error?.message).not.toContain("the process that claimed it ended");
    expect(uncertain?.error?.message).toMatch(/may have been submitted: .*(reset|closed|connection)/);
    const key = uncertain?.key ?? "";
    const identity = { batch: "pages", endpointId: emulated.queue.endpointId, keyVersion: "1" };
    const [jobId = ""] = jobIds;
    const found = [
      { key, jobId },
      { key: "no key", jobId },
    ];
    expect(await recordJobs(fileJournal(file), identity, found.slice(1))).toEqual([
      { key: "no key", jobId, reason: "the batch has no input with this key" },
    ]);
    expect(await recordJobs(fileJournal(file), identity, found.slice(0, 1))).toEqual([]);
    expect(outputs(await emulated.run(collect(run(emulated, [{ n: 1 }]))))).toEqual([1]);
    expect([...runs.values()]).toEqual([1]);
  });

  test("an uncertain input takes neither the job of another input nor what is no id, and a wrong id can be replaced", async () => {
    const { emulated, runs, jobIds } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 2 });
    const first = await emulated.run(collect(run(emulated, numbers(3), { concurrency: 1 })));
    const [a = "", b = "", c = ""] = first.sort((x, y) => x.index - y.index).map(({ key }) => key);
    const identity = { batch: "pages", endpointId: emulated.queue.endpointId, keyVersion: "1" };
    const [jobA = "", jobB = "", jobC = ""] = jobIds;
    const record = async (...jobs: [string, string][]) =>
      (
        await recordJobs(
          fileJournal(file),
          identity,
          jobs.map(([key, jobId]) => ({ key, jobId })),
        )
      ).map(({ reason }) => reason);
    expect(await record([a, jobC])).toEqual([`job ${jobC} belongs to the key "${c}"`]);
    expect(await record([a, jobA], [b, jobA])).toEqual([
      `job ${jobA} is also given for the key "${b}"`,
      `job ${jobA} is also given for the key "${a}"`,
    ]);
    expect(await record([a, jobA], [a, jobB])).toEqual([
      `the key is also given with job ${jobB}`,
      `the key is also given with job ${jobA}`,
    ]);
    expect(await record([a, "…"], [b, "../status/x"])).toEqual(Array(2).fill("the jobId is not an id of a job"));
    expect(await record([a, "wrong-1"], [b, jobB])).toEqual([]);
    expect(await record([b, jobB], [c, "other-1"])).toEqual([`the key has job ${jobC}`]);
    expect(await record([a, jobA])).toEqual([]);
    const rest = await emulated.run(collect(run(emulated, numbers(3))));
    expect(rest.map(({ index, output }) => [index, output])).toEqual(
      expect.arrayContaining([
        [0, { n: 0 }],
        [1, { n: 1 }],
      ]),
    );
    expect([...runs.values()]).toEqual([1, 1, 1]);
  });

  test.each([
    undefined,
    Date.UTC(2100, 0),
  ])("a job that is gone and was submitted at %s can be settled as expired", async (submittedAt) => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    const identity = { batch: "pages", endpointId: emulated.queue.endpointId, keyVersion: "1" };
    const open = await fileJournal(file).open(identity);
    const key = hashOfInput({ n: 1 });
    await open.claim("a", [{ key }], []);
    await open.record("a", [{ key, owner: "a", state: "submitted", jobId: "job-of-another-time", submittedAt }]);
    await open.close();
    for (let time = 0; time < 2; time++) {
      const [result] = await emulated.run(collect(run(emulated, [{ n: 1 }])));
      expect([result?.error?.name, result?.jobId, runs.size]).toEqual(["JobExpiredError", "job-of-another-time", 0]);
    }
    expect(outputs(await emulated.run(collect(run(emulated, [{ n: 1 }], { expired: "submit" }))))).toEqual([1]);
  });

  test("a young job that the service does not know says when its input can be submitted again", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "status" }, effect: { status: 404 } });
    const [result] = await emulated.run(collect(run(emulated, [{ n: 1 }], { expired: "submit" })));
    expect(result?.error).toBeInstanceOf(NotFoundError);
    expect(result?.error?.message).toMatch(
      /^job \S+ at endpoint \S+ is not known to the service.* later than 30 minutes after .*run the batch with expired: "submit"$/,
    );
    expect(runs.size).toBe(1);
  });

  test("a batch with a journal resubmits an input that the service has refused", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 400 }, times: 1 });
    const [refused] = await emulated.run(collect(run(emulated, [{ n: 1 }])));
    expect(refused?.error?.name).toBe("RejectedError");
    expect(outputs(await emulated.run(collect(run(emulated, [{ n: 1 }]))))).toEqual([1]);
    expect(runs.get(1)).toBe(1);
  });

  test("a batch with a journal records a result as delivered only when done is called, if the loop requests this", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const options = { delivery: "done" } as const;
    const loop = async () => {
      for await (const result of run(emulated, numbers(4), options)) if (result.index < 3) await result.done();
    };
    await emulated.run(loop());
    expect(outputs(await emulated.run(collect(run(emulated, numbers(4), options))))).toEqual([3]);
  });

  test("a batch with a journal reports a result as not recorded if done is called after the end of the loop, and yields it again", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const options = { delivery: "done" } as const;
    const [result] = await emulated.run(collect(run(emulated, numbers(1), options)));
    await expect(result?.done()).rejects.toThrow(/after the end of the loop, so the next run yields this result again/);
    expect(outputs(await emulated.run(collect(run(emulated, numbers(1), options))))).toEqual([0]);
  });

  test("a batch with a journal adds the key of each input to its webhook", async () => {
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
  test("a batch whose journal cannot be used is refused before any request if its keys have another version, and the error names both versions", async () => {
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
  ])("a batch whose journal cannot be used is refused with %j", async (options, property) => {
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

  test("a batch whose journal cannot be used ends with an error if the journal stalls, and names the jobs that it could not record", async () => {
    const { emulated, runs } = await started();
    await using _it = emulated;
    let isStalled = false;
    const inner = fileJournal(file);
    const journal: Journal = {
      async open(batch) {
        const open = await inner.open(batch);
        const unless = <T>(call: () => Promise<T>) => (isStalled ? new Promise<T>(() => {}) : call());
        return {
          ...open,
          claim: (...args) => unless(() => open.claim(...args)),
          record: (...args) => unless(() => open.record(...args)),
        };
      },
    };
    emulated.clock.schedule(1_500, () => {
      isStalled = true;
    });
    const batch = emulated.queue.runMany(numbers(50), { journal, batch: "pages", concurrency: 10 });
    const error = (await emulated.failure(collect(batch))) as JournalUnavailableError;
    expect(error).toBeInstanceOf(JournalUnavailableError);
    expect(error.message).toMatch(/did not respond within 20 seconds/);
    expect(runs.size).toBeLessThan(50);
  });

  test("a batch whose journal cannot be used is refused if it has a state that this version does not know", async () => {
    const { emulated } = await started();
    await using _it = emulated;
    const inner = fileJournal(file);
    const journal: Journal = {
      async open(batch) {
        const open = await inner.open(batch);
        return {
          ...open,
          claim: async (...args) =>
            (await open.claim(...args))?.map((entry) => ({ ...entry, state: "paused" as never })),
        };
      },
    };
    const error = await emulated.failure(collect(run(emulated, numbers(2), { journal: held(emulated, journal) })));
    expect(error).toBeInstanceOf(JournalDamagedError);
    expect(error.message).toMatch(/unknown state "paused"/);
  });

  test("a batch whose journal cannot be used continues after the journal was unavailable for a minute", async () => {
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

  test("a batch whose journal cannot be used stops submitting when the journal stays unavailable, yields the running jobs' results, and gives advice", async () => {
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
