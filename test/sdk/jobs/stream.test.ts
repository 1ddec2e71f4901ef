import { z } from "zod";
import type { Handler } from "../../../emulator/workers/jobHandlers";
import { createClient } from "../../../sdk/client/client";
import { NotFoundError, ServiceFaultError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { JobFailedError, StreamGapError } from "../../../sdk/jobs/jobErrors";
import { startQueue } from "../../support/queue";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

/** Streams `count` numbers, one each `everyMs`, and fails at the end if it is told to. */
const counter: Handler = async function* ({ input }, { sleep }) {
  const { count, everyMs, fails } = input as { count: number; everyMs: number; fails?: boolean };
  for (let n = 0; n < count; n++) {
    await sleep(everyMs);
    yield n;
  }
  if (fails) throw new Error("at the end");
};

async function collect<T>(items: AsyncIterable<{ readonly output: T }>): Promise<T[]> {
  const outputs: T[] = [];
  for await (const { output } of items) outputs.push(output);
  return outputs;
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe.each(["contract", "observed"] as const)("a stream in the %s profile", (profile) => {
  test.each([
    [3, 0],
    [20, 300],
    [5, 5_000],
    [0, 0],
  ])("a stream yields all %d chunks, %d ms apart, and ends [contract.stream]", async (count, everyMs) => {
    await using emulated = await startQueue({ handler: counter, emulator: { profile } });
    const job = await emulated.run(emulated.queue.run({ input: { count, everyMs } }));
    expect(await emulated.run(collect(job.stream()))).toEqual(numbers(count));
    const reads = emulated.emulator.journal.operations({ operation: "stream" }).length;
    expect(reads).toBeLessThan(5 + (count * everyMs) / 200);
  });

  test("a stream ends with the job's error after all chunks if the job fails", async () => {
    await using emulated = await startQueue({ handler: counter, emulator: { profile } });
    const job = await emulated.run(emulated.queue.run({ input: { count: 3, everyMs: 10, fails: true } }));
    const pieces: unknown[] = [];
    const read = async () => {
      for await (const { output } of job.stream()) pieces.push(output);
    };
    const error = await emulated.failure(read());
    expect(error).toBeInstanceOf(JobFailedError);
    expect(error.message).toContain("at the end");
    expect(pieces).toEqual([0, 1, 2]);
  });

  test("a stream waits with increasing pauses for a queued job [contract.in-queue]", async () => {
    await using emulated = await startQueue({
      handler: counter,
      workers: 0,
      emulator: { profile, coldStartMs: 60_000 },
    });
    const job = await emulated.run(emulated.queue.run({ input: { count: 1, everyMs: 10 } }));
    expect(await emulated.run(collect(job.stream()))).toEqual([0]);
    expect(emulated.emulator.journal.operations({ operation: "stream" }).length).toBeLessThan(45);
  });
});

describe("a stream", () => {
  test("a stream types the chunks by a schema, and throws if a chunk does not match [contract.stream-output]", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 2, everyMs: 10 } }));
    const doubled = async () => {
      const result: number[] = [];
      for await (const { output } of job.stream({ schema: z.number() })) result.push(output * 2);
      return result;
    };
    expect(await emulated.run(doubled())).toEqual([0, 2]);
    const other = await emulated.run(emulated.queue.run({ input: { count: 2, everyMs: 10 } }));
    const error = await emulated.failure(collect(emulated.queue.job(other.id).stream({ schema: z.string() })));
    expect(error).toMatchObject({ code: "OUTPUT_MISMATCH", jobId: other.id, output: 0, issues: [{ path: [] }] });
  });

  test("a stream continues with the next chunk after a chunk that does not match the schema", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 4, everyMs: 0 } }));
    const pieces = job.stream({ schema: z.number().refine((n) => n !== 1) });
    const read = async () => {
      const first: number[] = [];
      const error = await (async () => {
        for await (const { output } of pieces) first.push(output);
        return undefined;
      })().catch((caught: unknown) => caught);
      return { first, error, rest: await collect(pieces) };
    };
    const { first, error, rest } = await emulated.run(read());
    expect(error).toMatchObject({ code: "OUTPUT_MISMATCH", output: 1 });
    expect([first, rest]).toEqual([[0], [2, 3]]);
  });

  test("a stream keeps the statistics of each chunk [contract.stream-metrics]", async () => {
    await using emulated = await startQueue({
      handler: function* () {
        yield { output: "a", metrics: { input_tokens: 3, stream_index: 0 } };
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const items = async () => {
      const all = [];
      for await (const item of job.stream()) all.push(item);
      return all;
    };
    expect(await emulated.run(items())).toEqual([{ output: "a", metrics: { input_tokens: 3, stream_index: 0 } }]);
  });

  test("a stream does not join an item that the service has split because of its size [contract.stream-chunks]", async () => {
    const long = "word ".repeat(500_000);
    await using emulated = await startQueue({
      handler: function* () {
        yield long;
      },
    });
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const pieces = await emulated.run(collect(job.stream({ schema: z.string() })));
    expect(pieces.length).toBeGreaterThan(2);
    expect(pieces.join("")).toBe(long);
  });

  test("a stream stops sending requests when its reader stops or its signal aborts", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 1_000, everyMs: 500 } }));
    const first = async () => {
      for await (const { output } of job.stream()) return output;
      return undefined;
    };
    expect(await emulated.run(first())).toBe(0);
    const controller = new AbortController();
    const reading = emulated.failure(collect(job.stream({ signal: controller.signal })));
    await emulated.clock.advance(3_000);
    controller.abort(new Error("enough"));
    expect((await reading).message).toBe("enough");
    const { length } = emulated.calls();
    await emulated.clock.advance(10_000);
    expect(emulated.calls()).toHaveLength(length);
  });

  test("a stream of a job that the service does not know causes an error", async () => {
    await using emulated = await startQueue();
    expect(await emulated.failure(collect(emulated.queue.job("never-was").stream()))).toBeInstanceOf(NotFoundError);
  });

  test("a stream response with a different shape causes an error", async () => {
    await using emulated = await startQueue();
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    emulated.emulator.faults.add({
      match: { operation: "stream" },
      effect: { status: 200, body: { stream: "no list" } },
    });
    expect(await emulated.failure(collect(job.stream()))).toBeInstanceOf(UnexpectedResponseError);
  });
});

describe("a stream with an item that is not a piece", () => {
  const read = (...stream: unknown[]) => ({ body: { status: "IN_PROGRESS", stream } });
  const serve = () =>
    startScriptedServer(({ path }, number) => {
      if (!path.includes("/stream/")) return { body: { id: "a", status: "COMPLETED" } };
      if (number === 1) return read({ output: 0 });
      if (number === 2) return read({ output: 1 }, { metrics: {} }, "text", { output: 2 });
      return { body: { status: "COMPLETED", stream: number === 3 ? [{ output: 3 }] : [] } };
    });

  test("a stream with an item that is not a piece calls onGap, and yields all other chunks", async () => {
    await using server = await serve();
    await using client = createClient({ apiKey: "k", ...addressesOf(server) });
    const gaps: StreamGapError[] = [];
    const stream = client
      .endpoint("e")
      .job("a")
      .stream({ onGap: (gap) => gaps.push(gap) });
    expect(await collect(stream)).toEqual([0, 1, 2, 3]);
    expect(gaps).toMatchObject([{ code: "STREAM_GAP", jobId: "a", piecesRead: 2 }]);
  });

  test("without onGap, ends with the gap after the chunks of the same read", async () => {
    await using server = await serve();
    await using client = createClient({ apiKey: "k", ...addressesOf(server) });
    const outputs: unknown[] = [];
    const reading = async () => {
      for await (const { output } of client.endpoint("e").job("a").stream()) outputs.push(output);
    };
    await expect(reading()).rejects.toMatchObject({ code: "STREAM_GAP", piecesRead: 2 });
    expect(outputs).toEqual([0, 1, 2]);
  });
});

describe("a stream whose read broke", () => {
  const LOST = { reset: true, when: "after" } as const;

  test.each([
    ["was lost", LOST],
    ["was cut before the service did anything", { reset: true }],
    ["was a fault of the service", { status: 502, when: "after" }],
    ["was cut in its middle", { reset: "midway" }],
  ] as const)("a stream whose response %s ends with an error, never silently [contract.stream-lost]", async (_, effect) => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 10, everyMs: 400 } }));
    await emulated.clock.advance(1_000);
    const pieces: unknown[] = [];
    const read = async () => {
      for await (const { output } of job.stream()) {
        pieces.push(output);
        if (pieces.length === 4) emulated.emulator.faults.add({ match: { operation: "stream" }, effect, times: 1 });
      }
    };
    const error = await emulated.failure(read());
    expect(error).toBeInstanceOf(StreamGapError);
    expect(error).toMatchObject({ code: "STREAM_GAP", jobId: job.id, piecesRead: 4, cause: expect.any(Error) });
    expect(pieces).toEqual([0, 1, 2, 3]);
    // As the error says, only new pieces are read.
    const rest = await emulated.run(collect(job.stream()));
    expect(rest).toEqual(numbers(10).slice(10 - rest.length));
  });

  test("a stream whose read broke continues if the reader has set onGap, and reports each gap once", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 20, everyMs: 300 } }));
    const gaps: StreamGapError[] = [];
    const pieces: unknown[] = [];
    const read = async () => {
      for await (const { output } of job.stream({ onGap: (gap) => gaps.push(gap) })) {
        pieces.push(output);
        if (pieces.length === 3)
          emulated.emulator.faults.add({ match: { operation: "stream" }, effect: LOST, times: 2 });
      }
    };
    await emulated.run(read());
    expect(gaps).toMatchObject([{ piecesRead: 3 }]);
    expect(pieces.length).toBeLessThan(20);
    expect(pieces.slice(0, 3)).toEqual([0, 1, 2]);
    expect(pieces.at(-1)).toBe(19);
  });

  test("a stream whose read broke loses nothing while the job is waiting for its first worker", async () => {
    await using emulated = await startQueue({ handler: counter, workers: 0, emulator: { coldStartMs: 30_000 } });
    const job = await emulated.run(emulated.queue.run({ input: { count: 3, everyMs: 10 } }));
    emulated.emulator.faults.add({ match: { operation: "stream" }, effect: LOST, times: 3 });
    expect(await emulated.run(collect(job.stream()))).toEqual([0, 1, 2]);
  });

  test("a stream whose read broke is not retried indefinitely if every read breaks", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 3, everyMs: 10 } }));
    emulated.emulator.faults.add({ match: { operation: "stream" }, effect: { status: 500 } });
    const error = await emulated.failure(collect(job.stream({ onGap() {} })));
    expect(error).toBeInstanceOf(ServiceFaultError);
    expect(emulated.emulator.journal.operations({ operation: "stream" })).toHaveLength(6);
  });

  test("a stream whose read broke is read again after a 429 that returned no chunks", async () => {
    await using emulated = await startQueue({ handler: counter });
    const job = await emulated.run(emulated.queue.run({ input: { count: 5, everyMs: 100 } }));
    emulated.emulator.faults.add({ match: { operation: "stream" }, effect: { status: 429 }, times: 2 });
    expect(await emulated.run(collect(job.stream()))).toEqual([0, 1, 2, 3, 4]);
  });
});

test("a stream of a job that has ended pauses between reads if the service returns the same chunks again", async () => {
  const readAt: number[] = [];
  const controller = new AbortController();
  await using server = await startScriptedServer(() => {
    readAt.push(performance.now());
    if (readAt.length === 5) controller.abort();
    return { body: { status: "COMPLETED", stream: [{ output: 1 }] } };
  });
  const client = createClient({ apiKey: "a-key", ...addressesOf(server) });
  await collect(client.endpoint("abc").job("job-1").stream({ signal: controller.signal })).catch(() => {});
  // Only the read after the one that showed the end comes without a pause.
  const [first = 0, last = 0] = [readAt[1], readAt.at(-1)];
  expect(last - first).toBeGreaterThan(3 * 190);
  await client.close();
});
