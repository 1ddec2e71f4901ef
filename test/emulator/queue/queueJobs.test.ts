import { startQueue, stopAll } from "../../support/queueClient";
import { handlers } from "../../support/scriptedWorker";

afterEach(stopAll);

const second = 1000;

describe("/run", () => {
  test("[queue.run] /run returns id and IN_QUEUE immediately, and processes the job later", async () => {
    const queue = await startQueue({}, { handlers });
    const { status, body } = await queue.post("run", { input: { sleep: 2 * second, output: "done" } });
    expect([status, body]).toEqual([200, { id: expect.any(String), status: "IN_QUEUE" }]);
    expect(await queue.job(body.id)).toMatchObject({ id: body.id, status: "IN_PROGRESS" });
    await queue.clock.advance(2 * second);
    expect(await queue.job(body.id)).toMatchObject({ id: body.id, status: "COMPLETED", output: "done" });
  });

  test("/run echoes the input if the endpoint has no handler", async () => {
    const queue = await startQueue();
    const id = await queue.run({ text: "grün", list: [1, null, { deep: true }] });
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).output).toEqual({ text: "grün", list: [1, null, { deep: true }] });
  });

  test("/run uses the handler of the template if no handler has the endpoint's name", async () => {
    const queue = await startQueue(
      { templateId: "tpl" },
      { handlers: { tpl: () => "by template", other: () => "no" } },
    );
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).output).toBe("by template");
  });

  test("/run runs jobs on one worker one after the other, in the order of submission", async () => {
    const order: unknown[] = [];
    const queue = await startQueue(
      {},
      {
        handlers: {
          worker: async ({ input }, { sleep }) => {
            order.push(input.n);
            await sleep(second);
          },
        },
      },
    );
    for (const n of [1, 2, 3]) await queue.run({ n });
    expect((await queue.health()).jobs).toMatchObject({ inProgress: 1, inQueue: 2 });
    await queue.clock.advance(3 * second);
    expect(order).toEqual([1, 2, 3]);
    expect((await queue.health()).jobs).toMatchObject({ completed: 3, inProgress: 0, inQueue: 0 });
  });

  test("[queue.s3-config] /run passes s3Config to the worker and shows it in no response", async () => {
    const s3Config = { accessId: "id", accessSecret: "s3-canary", bucketName: "b", endpointUrl: "https://s3.example" };
    const seen: unknown[] = [];
    const queue = await startQueue({}, { handlers: { worker: (job) => void seen.push(job.s3Config) } });
    const id = await queue.run({}, { s3Config });
    await queue.clock.runUntilIdle();
    expect(seen).toEqual([s3Config]);
    const answers = [await queue.get(`status/${id}`), await queue.get("requests")];
    expect(JSON.stringify([answers, queue.emulator.journal.requests()])).not.toContain("s3-canary");
  });
});

describe("/runsync", () => {
  test("[queue.runsync] /runsync waits for the job and returns its record", async () => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin("runsync", { input: { sleep: 5 * second, output: { n: 7 } } });
    await queue.clock.advance(5 * second);
    const { status, body } = await answer;
    expect([status, body]).toEqual([
      200,
      { id: expect.any(String), status: "COMPLETED", delayTime: 0, executionTime: 5 * second, output: { n: 7 } },
    ]);
    expect(await queue.job(body.id)).toEqual(body);
  });

  test.each([
    ["its default of 90 s", "runsync", 90 * second],
    ["1 s", "runsync?wait=1000", second],
    ["300 s", "runsync?wait=300000", 300 * second],
  ])("[queue.runsync-wait] [queue.runsync-elapsed] /runsync returns the unfinished job after a wait of %s", async (_, path, waitMs) => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin(path, { input: { hang: true } });
    const { answer: waiting } = await queue.begin(path, { input: { hang: true } });
    let answered = false;
    answer.finally(() => {
      answered = true;
    });
    await queue.clock.advance(waitMs - 1);
    await queue.health();
    expect(answered).toBe(false);
    await queue.clock.advance(1);
    expect(await answer).toMatchObject({ status: 200, body: { status: "IN_PROGRESS", executionTime: waitMs } });
    expect(await waiting).toMatchObject({ status: 200, body: { status: "IN_QUEUE", delayTime: waitMs } });
  });

  test("/runsync continues a job after its caller hangs up", async () => {
    const queue = await startQueue({}, { handlers });
    const caller = new AbortController();
    const url = `${queue.emulator.url}/v2/${queue.endpointId}/runsync`;
    const lost = fetch(url, {
      method: "POST",
      headers: { authorization: queue.emulator.apiKey },
      body: JSON.stringify({ input: { sleep: second } }),
      signal: caller.signal,
    });
    while ((await queue.health()).jobs.inProgress === 0);
    caller.abort();
    await expect(lost).rejects.toThrow();
    await queue.clock.advance(second);
    expect((await queue.health()).jobs.completed).toBe(1);
  });
});

describe("/status", () => {
  test("[queue.status] [queue.times] /status shows the times of every state in milliseconds", async () => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ sleep: 3 * second });
    const id = await queue.run({ sleep: 4 * second, output: 1 });
    await queue.clock.advance(2 * second);
    expect(await queue.job(id)).toEqual({ id, status: "IN_QUEUE", delayTime: 2 * second, executionTime: 0 });
    await queue.clock.advance(2 * second);
    expect(await queue.job(id)).toEqual({ id, status: "IN_PROGRESS", delayTime: 3 * second, executionTime: second });
    await queue.clock.advance(10 * second);
    const times = { delayTime: 3 * second, executionTime: 4 * second };
    expect(await queue.job(id)).toEqual({ id, status: "COMPLETED", ...times, output: 1 });
  });

  test("[queue.progress] /status shows the last progress update while the job is in progress", async () => {
    const queue = await startQueue({}, { handlers });
    const done = await queue.run({ progress: { step: 1 }, sleep: second, output: "result" });
    const failed = await queue.run({ progress: { step: 1 }, sleep: second, throw: "no" });
    expect(await queue.job(done)).toMatchObject({ status: "IN_PROGRESS", output: { step: 1 } });
    await queue.clock.runUntilIdle();
    expect(await queue.job(done)).toMatchObject({ status: "COMPLETED", output: "result" });
    expect(await queue.job(failed)).not.toHaveProperty("output");
  });

  test("[queue.error] /status shows the error that the handler of a failed job threw", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ throw: "CUDA out of memory" });
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ status: "FAILED", error: "CUDA out of memory" });
    expect((await queue.health()).jobs).toMatchObject({ completed: 0, failed: 1 });
  });

  test.each([
    ["an object without a text", () => Object.create(null), "a value without a text was thrown"],
    ["an error whose message is a number", () => Object.assign(new Error(), { message: 5 }), "5"],
    [
      "an error whose message cannot be read",
      () => ({
        __proto__: Error.prototype,
        get message() {
          throw 1;
        },
      }),
      "a value without a text was thrown",
    ],
    ["nothing", () => undefined, "undefined"],
  ])("[queue.error] /status shows an error text for a job whose handler throws %s", async (_, thrown, error) => {
    const handler = () => Promise.reject(thrown());
    const queue = await startQueue({}, { handlers: { worker: handler } });
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ status: "FAILED", error });
  });

  test("[queue.error-json] [queue.worker-id] /status shows errors as JSON text in the observed profile, and names the worker", async () => {
    const queue = await startQueue({}, { handlers, profile: "observed" });
    const id = await queue.run({ throw: "CUDA out of memory" });
    await queue.clock.runUntilIdle();
    const { error, workerId } = await queue.job(id);
    expect(JSON.parse(error)).toEqual({ error_type: "Error", error_message: "CUDA out of memory" });
    expect(workerId).toBe(queue.pods()[0]?.id);
  });

  test.each([
    [
      "a cycle",
      () => {
        const loop: Record<string, unknown> = {};
        loop.loop = loop;
        return loop;
      },
    ],
    ["a BigInt", () => ({ n: 1n })],
  ])("output that is not JSON (%s) fails the job", async (_, worker) => {
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).status).toBe("FAILED");
  });

  test("a handler's changes to its input do not change the job", async () => {
    const queue = await startQueue(
      {},
      {
        handlers: {
          worker: ({ input }) => {
            const seen = { ...input };
            (input as { n: number }).n = 99;
            throw new Error(JSON.stringify(seen));
          },
        },
      },
    );
    const id = await queue.run({ n: 1 });
    await queue.clock.runUntilIdle();
    await queue.post(`retry/${id}`);
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).error).toBe('{"n":1}');
  });
});

describe("a worker that dies", () => {
  test("[queue.lost-worker] a worker that dies returns its job to the queue once, and a second loss fails the job", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ sleep: second, crash: true });
    const firstPod = queue.pods()[0]?.id;
    await queue.clock.advance(second);
    expect(await queue.job(id)).toMatchObject({ status: "IN_PROGRESS", retries: 1 });
    expect(queue.pods().map((pod) => pod.id)).not.toContain(firstPod);
    await queue.clock.advance(second);
    expect(await queue.job(id)).toMatchObject({ status: "FAILED", error: "job timed out after 1 retries", retries: 1 });
    expect((await queue.health()).jobs).toMatchObject({ failed: 1, retried: 1, inQueue: 0, inProgress: 0 });
  });
});

describe("/requests", () => {
  test("[queue.requests] /requests lists the newest jobs first, without their output", async () => {
    const queue = await startQueue({}, { handlers });
    const ids = [await queue.run({ output: "secret" }), await queue.run({ hang: true })];
    await queue.clock.advance(1);
    const { status, body, headers, text } = await queue.get("requests");
    expect([status, headers.get("x-emulator-fidelity")]).toEqual([200, "assumed"]);
    expect(body.requests).toMatchObject([
      { id: ids[1], status: "IN_PROGRESS" },
      { id: ids[0], status: "COMPLETED" },
    ]);
    expect(text).not.toContain("secret");
  });
});
