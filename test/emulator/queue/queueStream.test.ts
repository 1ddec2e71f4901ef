import type { HandlerJob } from "../../../emulator";
import { startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;

/** Yields the numbers up to `count`, one each second. */
async function* counting({ input }: HandlerJob, { sleep }: { sleep(ms: number): Promise<void> }) {
  for (let n = 1; n <= (input.count as number); n += 1) {
    await sleep(second);
    yield { n };
  }
  if (input.fail) throw new Error("broke off");
}

const outputs = (items: { output: unknown }[]) => items.map((item) => item.output);

test("[queue.stream] [queue.stream-drains] each read returns the items since the previous read", async () => {
  const queue = await startQueue({}, { handlers: { worker: counting } });
  const id = await queue.run({ count: 3 });
  const read = async () => (await queue.get(`stream/${id}`)).body;
  expect(await read()).toEqual([]);
  await queue.clock.advance(2 * second);
  expect(await read()).toEqual([
    { output: { n: 1 }, metrics: expect.objectContaining({ stream_index: 0 }) },
    { output: { n: 2 }, metrics: expect.objectContaining({ stream_index: 1 }) },
  ]);
  expect(await read()).toEqual([]);
  await queue.clock.advance(5 * second);
  expect((await queue.job(id)).status).toBe("COMPLETED");
  expect(outputs(await read())).toEqual([{ n: 3 }]);
  expect(await read()).toEqual([]);
});

test("[queue.stream-observed] the observed profile shows the status in addition to the items", async () => {
  const queue = await startQueue({}, { profile: "observed", handlers: { worker: counting } });
  const id = await queue.run({ count: 1 });
  expect((await queue.get(`stream/${id}`)).body).toEqual({ status: "IN_PROGRESS", stream: [] });
  await queue.clock.advance(second);
  const { status, stream } = (await queue.get(`stream/${id}`)).body;
  expect([status, outputs(stream)]).toEqual(["COMPLETED", [{ n: 1 }]]);
});

test("[queue.stream] the metrics of a text-generating worker are passed on unchanged", async () => {
  const metrics = { avg_gen_throughput: 12.5, input_tokens: 3, output_tokens: 1, scenario: "stream", stream_index: 0 };
  const worker = function* () {
    yield { output: { text: ["Hi"] }, metrics };
  };
  const queue = await startQueue({}, { handlers: { worker } });
  const id = await queue.run({});
  await queue.clock.runUntilIdle();
  expect((await queue.get(`stream/${id}`)).body).toEqual([{ output: { text: ["Hi"] }, metrics }]);
});

test("[queue.stream-result] the job's output is the list of its items, or what its generator returns", async () => {
  const returning = function* () {
    yield 1;
    return { total: 1 };
  };
  const queue = await startQueue(
    {},
    { handlers: { worker: (job, context) => (job.input.count ? counting(job, context) : returning()) } },
  );
  const [listed, returned] = [await queue.run({ count: 2 }), await queue.run({})];
  await queue.clock.runUntilIdle();
  expect((await queue.job(listed)).output).toEqual([{ n: 1 }, { n: 2 }]);
  expect((await queue.job(returned)).output).toEqual({ total: 1 });
});

test("[queue.stream-unsupported] the stream of a handler that does not stream is empty", async () => {
  const queue = await startQueue();
  const id = await queue.run({ a: 1 });
  await queue.clock.runUntilIdle();
  expect((await queue.get(`stream/${id}`)).body).toEqual([]);
});

test("items yielded before a failure can still be read, and a retry starts over", async () => {
  const queue = await startQueue({}, { handlers: { worker: counting } });
  const id = await queue.run({ count: 2, fail: true });
  await queue.clock.runUntilIdle();
  expect((await queue.job(id)).status).toBe("FAILED");
  expect(outputs((await queue.get(`stream/${id}`)).body)).toEqual([{ n: 1 }, { n: 2 }]);
  await queue.post(`retry/${id}`);
  await queue.clock.advance(second);
  expect(outputs((await queue.get(`stream/${id}`)).body)).toEqual([{ n: 1 }]);
});

test("a cancel ends the generator, and nothing more is streamed", async () => {
  let ended = false;
  const worker = async function* (_: HandlerJob, { sleep }: { sleep(ms: number): Promise<void> }) {
    try {
      for (let n = 1; ; n += 1) {
        yield n;
        await sleep(second);
      }
    } finally {
      ended = true;
    }
  };
  const queue = await startQueue({}, { handlers: { worker } });
  const id = await queue.run({});
  await queue.clock.advance(second);
  await queue.post(`cancel/${id}`);
  await queue.clock.advance(10 * second);
  expect(outputs((await queue.get(`stream/${id}`)).body)).toEqual([1, 2]);
  expect(ended).toBe(true);
});

describe("[queue.stream-chunk] [queue.stream-split] an item over 1 MB is split", () => {
  const long = "grün😀\n".repeat(300_000);
  test.each([
    ["a string", long, (pieces: string[]) => pieces.join("")],
    ["an object, as its JSON text", { text: long }, (pieces: string[]) => JSON.parse(pieces.join(""))],
  ])("%s", async (_, value, joined) => {
    const worker = function* () {
      yield "first";
      yield value;
      yield "last";
    };
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    const items = (await queue.get(`stream/${id}`)).body;
    for (const item of items) expect(Buffer.byteLength(JSON.stringify(item))).toBeLessThanOrEqual(1_000_000);
    const [first, ...rest] = outputs(items) as string[];
    expect([first, rest.pop()]).toEqual(["first", "last"]);
    expect(rest.length).toBeGreaterThan(1);
    expect(joined(rest)).toEqual(value);
    expect((await queue.job(id)).output).toEqual(["first", value, "last"]);
  });
});
