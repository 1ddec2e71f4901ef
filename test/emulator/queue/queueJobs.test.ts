import type { HandlerContext, HandlerJob } from "../../../emulator";
import { startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Sleeps as long as the input says, then returns, fails or never ends, as it says. */
const scripted = async ({ input }: HandlerJob, context: HandlerContext) => {
  if (input.progress !== undefined) context.progress(input.progress);
  if (typeof input.sleep === "number") await context.sleep(input.sleep);
  if (input.throw !== undefined) throw new Error(String(input.throw));
  if (input.crash) context.crash();
  if (input.timeOut) context.timeOut();
  if (input.hang) await new Promise(() => {});
  return input.output ?? input;
};
const handlers = { worker: scripted };

describe("/run", () => {
  test("[queue.run] returns id and IN_QUEUE immediately, and the job is processed later", async () => {
    const queue = await startQueue({}, { handlers });
    const { status, body } = await queue.post("run", { input: { sleep: 2 * second, output: "done" } });
    expect([status, body]).toEqual([200, { id: expect.any(String), status: "IN_QUEUE" }]);
    expect(await queue.job(body.id)).toMatchObject({ id: body.id, status: "IN_PROGRESS" });
    await queue.clock.advance(2 * second);
    expect(await queue.job(body.id)).toMatchObject({ id: body.id, status: "COMPLETED", output: "done" });
  });

  test("an endpoint without a handler echoes the input", async () => {
    const queue = await startQueue();
    const id = await queue.run({ text: "grün", list: [1, null, { deep: true }] });
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).output).toEqual({ text: "grün", list: [1, null, { deep: true }] });
  });

  test("the handler of the template is used when none has the endpoint's name", async () => {
    const queue = await startQueue(
      { templateId: "tpl" },
      { handlers: { tpl: () => "by template", other: () => "no" } },
    );
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).output).toBe("by template");
  });

  test("jobs run one after the other, first come first served, on one worker", async () => {
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

  test("[queue.s3-config] s3Config reaches the worker and no response", async () => {
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
  test("[queue.runsync] waits for the job and returns its record", async () => {
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
  ])("[queue.runsync-wait] [queue.runsync-elapsed] returns the unfinished job after a wait of %s", async (_, path, waitMs) => {
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

  test("a job whose caller hung up goes on", async () => {
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
  test("[queue.status] [queue.times] shows the times of every state in milliseconds", async () => {
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

  test("[queue.progress] shows the last progress update while the job is in progress", async () => {
    const queue = await startQueue({}, { handlers });
    const done = await queue.run({ progress: { step: 1 }, sleep: second, output: "result" });
    const failed = await queue.run({ progress: { step: 1 }, sleep: second, throw: "no" });
    expect(await queue.job(done)).toMatchObject({ status: "IN_PROGRESS", output: { step: 1 } });
    await queue.clock.runUntilIdle();
    expect(await queue.job(done)).toMatchObject({ status: "COMPLETED", output: "result" });
    expect(await queue.job(failed)).not.toHaveProperty("output");
  });

  test("[queue.error] a failed job carries what its handler threw", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ throw: "CUDA out of memory" });
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ status: "FAILED", error: "CUDA out of memory" });
    expect((await queue.health()).jobs).toMatchObject({ completed: 0, failed: 1 });
  });

  test("[queue.error-json] [queue.worker-id] the observed profile shows errors as JSON text, and the worker", async () => {
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
  ])("output that is no JSON (%s) fails the job", async (_, worker) => {
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run({});
    await queue.clock.runUntilIdle();
    expect((await queue.job(id)).status).toBe("FAILED");
  });

  test("what a handler does to its input stays with it", async () => {
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

describe("/cancel", () => {
  test("[queue.cancel] removes a waiting job before it starts", async () => {
    const started: unknown[] = [];
    const worker = async ({ input }: HandlerJob, { sleep }: HandlerContext) => {
      started.push(input.n);
      await sleep(second);
    };
    const queue = await startQueue({}, { handlers: { worker } });
    await queue.run({ n: 1 });
    const id = await queue.run({ n: 2 });
    const { status, body } = await queue.post(`cancel/${id}`);
    expect([status, body]).toEqual([200, { id, status: "CANCELLED" }]);
    await queue.clock.runUntilIdle();
    expect(started).toEqual([1]);
    expect(await queue.job(id)).toMatchObject({ status: "CANCELLED" });
  });

  test("[queue.cancel] stops a running job, and its worker takes the next one", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ hang: true });
    const next = await queue.run({ output: "next" });
    expect((await queue.post(`cancel/${id}`)).body).toEqual({ id, status: "CANCELLED" });
    await queue.clock.advance(0);
    expect(await queue.job(next)).toMatchObject({ status: "COMPLETED", output: "next" });
    await queue.clock.advance(20 * minute);
    expect(await queue.job(id)).toMatchObject({ status: "CANCELLED" });
  });

  test("a handler learns that its job was cancelled", async () => {
    const seen: string[] = [];
    const worker = async (_: HandlerJob, context: HandlerContext) => {
      context.signal.addEventListener("abort", () => seen.push("signal"));
      await context.sleep(hour).catch(() => seen.push("sleep"));
    };
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run({});
    await queue.clock.advance(1);
    await queue.post(`cancel/${id}`);
    await queue.clock.advance(1);
    expect(seen.sort()).toEqual(["signal", "sleep"]);
  });

  test("[queue.cancel-ended] leaves an ended job as it is", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ output: 1 });
    await queue.clock.runUntilIdle();
    const { status, body, headers } = await queue.post(`cancel/${id}`);
    expect([status, body]).toEqual([200, { id, status: "COMPLETED" }]);
    expect(headers.get("x-emulator-fidelity")).toBe("assumed");
    expect(await queue.job(id)).toMatchObject({ status: "COMPLETED", output: 1 });
  });
});

describe("/retry", () => {
  test.each([
    ["FAILED", { throw: "first time" }],
    ["TIMED_OUT", { timeOut: true }],
  ])("[queue.retry] [queue.timed-out] queues a %s job again, with its id and its input, without its output", async (state, input) => {
    const runs: unknown[] = [];
    const worker = (job: HandlerJob, context: HandlerContext) => {
      runs.push(job.input);
      return runs.length === 1 ? scripted(job, context) : { sleep: 1, ok: true };
    };
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run(input);
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ status: state });
    const { status, body } = await queue.post(`retry/${id}`);
    expect([status, body]).toEqual([200, { id, status: "IN_QUEUE" }]);
    expect(await queue.job(id)).not.toHaveProperty("error");
    await queue.clock.runUntilIdle();
    expect(await queue.job(id)).toMatchObject({ status: "COMPLETED", output: { ok: true } });
    expect(runs).toEqual([input, input]);
    expect((await queue.health()).jobs).toMatchObject({ completed: 1, failed: 1, retried: 1 });
  });

  test.each([
    ["IN_QUEUE", {}],
    ["IN_PROGRESS", { hang: true }],
    ["COMPLETED", {}],
    ["CANCELLED", { hang: true }],
  ])("[queue.retry-wrong-state] refuses a job that is %s", async (state, input) => {
    const queue = await startQueue({}, { handlers });
    if (state === "IN_QUEUE") await queue.run({ hang: true });
    const id = await queue.run(input);
    await queue.clock.advance(1);
    if (state === "CANCELLED") await queue.post(`cancel/${id}`);
    expect((await queue.job(id)).status).toBe(state);
    const { status, body } = await queue.post(`retry/${id}`);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(state)]);
    expect((await queue.job(id)).status).toBe(state);
  });

  test("a job whose result is not kept any more cannot be retried", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ throw: "no" });
    await queue.clock.advance(30 * minute);
    expect((await queue.post(`retry/${id}`)).status).toBe(404);
  });
});

describe("/purge-queue", () => {
  test("[queue.purge] [queue.purged-job] removes what waits, and leaves what runs", async () => {
    const queue = await startQueue({}, { handlers });
    const running = await queue.run({ sleep: minute });
    const waiting = [await queue.run({}), await queue.run({}, { policy: { lowPriority: true } })];
    const { status, body } = await queue.post("purge-queue");
    expect([status, body]).toEqual([200, { removed: 2, status: "completed" }]);
    for (const id of waiting) expect((await queue.get(`status/${id}`)).status).toBe(404);
    await queue.clock.runUntilIdle();
    expect(await queue.job(running)).toMatchObject({ status: "COMPLETED" });
    expect((await queue.post("purge-queue")).body.removed).toBe(0);
  });

  test("a caller that waits for a purged job gets a response immediately", async () => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ hang: true });
    const { answer } = await queue.begin("runsync", { input: {} });
    await queue.post("purge-queue");
    expect((await answer).status).toBe(404);
  });
});

describe("time limits", () => {
  test.each([
    ["its own executionTimeout", { executionTimeout: 5 * second }, 5 * second],
    ["the default of 10 minutes", undefined, 10 * minute],
  ])("[queue.execution-timeout] [queue.execution-timeout-limits] a job fails after %s", async (_, policy, limit) => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ sleep: minute });
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(minute + limit - 1);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    await queue.clock.advance(1);
    expect(await queue.job(id)).toMatchObject({
      status: "FAILED",
      error: "executionTimeout exceeded",
      executionTime: limit,
    });
  });

  test.each([
    ["its own ttl", { ttl: 10 * second }, 10 * second],
    ["the default of 24 hours", { executionTimeout: 7 * 24 * hour }, 24 * hour],
  ])("[queue.ttl] [queue.ttl-limits] a running job is deleted after %s", async (_, policy, ttl) => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(ttl - 1);
    expect((await queue.job(id)).status).toBe("IN_PROGRESS");
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).workers).toEqual({ idle: 1, running: 0 });
  });

  test("[queue.ttl] a waiting and an ended job are deleted too", async () => {
    const queue = await startQueue({}, { handlers });
    const ended = await queue.run({}, { policy: { ttl: minute } });
    await queue.clock.advance(0);
    await queue.run({ hang: true });
    const waiting = await queue.run({}, { policy: { ttl: minute } });
    await queue.clock.advance(minute);
    for (const id of [ended, waiting]) expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).jobs.inQueue).toBe(0);
  });

  test("[queue.ttl] queue time counts: a job that ran late has what is left of its ttl", async () => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ sleep: 2 * hour }, { policy: { executionTimeout: 3 * hour } });
    const policy = { ttl: 5 * hour, executionTimeout: 24 * hour };
    const id = await queue.run({ hang: true }, { policy });
    await queue.clock.advance(5 * hour - 1);
    expect(await queue.job(id)).toMatchObject({ status: "IN_PROGRESS", executionTime: 3 * hour - 1 });
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
  });

  test("[queue.status-ttl] query ttl of /status counts from the submission", async () => {
    const queue = await startQueue({}, { handlers });
    const [id, late] = [await queue.run({ hang: true }), await queue.run({})];
    await queue.clock.advance(20 * second);
    expect((await queue.get(`status/${id}?ttl=30000`)).body.status).toBe("IN_PROGRESS");
    expect((await queue.get(`status/${late}?ttl=15000`)).status).toBe(404);
    await queue.clock.advance(10 * second);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
    expect((await queue.health()).jobs).toMatchObject({ inProgress: 0, inQueue: 0 });
  });

  test.each([
    ["run", 30 * minute],
    ["runsync", minute],
  ])("[queue.retention] [queue.forgotten] the result of /%s is kept for its time after the end", async (operation, kept) => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin(operation, { input: { sleep: 5 * second } });
    await queue.clock.advance(5 * second);
    const { id } = (await answer).body;
    await queue.clock.advance(kept - 1);
    expect((await queue.job(id)).status).toBe("COMPLETED");
    await queue.clock.advance(1);
    for (const path of ["status", "stream"]) expect((await queue.get(`${path}/${id}`)).status).toBe(404);
    for (const path of ["cancel", "retry"]) expect((await queue.post(`${path}/${id}`)).status).toBe(404);
  });

  test("[queue.retention-max] query ttl keeps the result of /runsync up to 5 minutes", async () => {
    const queue = await startQueue({}, { handlers });
    const { answer } = await queue.begin("runsync", { input: { sleep: second } });
    await queue.clock.advance(second);
    const { id } = (await answer).body;
    await queue.get(`status/${id}?ttl=3600000`);
    await queue.clock.advance(5 * minute - 1);
    expect((await queue.job(id)).status).toBe("COMPLETED");
    await queue.clock.advance(1);
    expect((await queue.get(`status/${id}`)).status).toBe(404);
  });
});

describe("a worker that dies", () => {
  test("[queue.lost-worker] its job goes back to the queue once, then fails", async () => {
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
  test("[queue.requests] lists the jobs, newest first, without their output", async () => {
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

describe("/openai/*", () => {
  test("[queue.openai] repeats the last message as a chat completion", async () => {
    const queue = await startQueue();
    const messages = [
      { role: "system", content: "be brief" },
      { role: "user", content: "hello there" },
    ];
    const { status, body, headers } = await queue.post("openai/v1/chat/completions", { model: "m", messages });
    expect([status, headers.get("x-emulator-fidelity")]).toEqual([200, "assumed"]);
    expect(body).toMatchObject({
      object: "chat.completion",
      model: "m",
      choices: [{ message: { content: "hello there" } }],
    });
    expect((await queue.get("openai/v1/models")).body.data).toHaveLength(1);
  });

  test("[queue.openai] streams it as server-sent events when asked to", async () => {
    const queue = await startQueue();
    const messages = [{ role: "user", content: "one two three" }];
    const { text, headers } = await queue.post("openai/v1/chat/completions", { messages, stream: true });
    expect(headers.get("content-type")).toBe("text/event-stream");
    const events = text
      .trim()
      .split("\n\n")
      .map((line) => line.replace(/^data: /, ""));
    expect(events.pop()).toBe("[DONE]");
    const words = events.map((event) => JSON.parse(event).choices[0].delta.content ?? "");
    expect(words.join("")).toBe("one two three");
    expect(words.length).toBeGreaterThan(3);
  });
});
