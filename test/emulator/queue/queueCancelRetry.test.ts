import type { HandlerContext, HandlerJob } from "../../../emulator";
import { startQueue, stopAll } from "../../support/queueClient";
import { handlers, scripted } from "../../support/scriptedWorker";

afterEach(stopAll);

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

describe("/cancel", () => {
  test("[queue.cancel] /cancel removes a waiting job before it starts", async () => {
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

  test("[queue.cancel] /cancel stops a running job, and its worker takes the next one", async () => {
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
      // A copy of the context also has the signal.
      ({ ...context }).signal.addEventListener("abort", () => seen.push("signal"));
      await context.sleep(hour).catch(() => seen.push("sleep"));
    };
    const queue = await startQueue({}, { handlers: { worker } });
    const id = await queue.run({});
    await queue.clock.advance(1);
    await queue.post(`cancel/${id}`);
    await queue.clock.advance(1);
    expect(seen.sort()).toEqual(["signal", "sleep"]);
  });

  test("[queue.cancel-ended] /cancel does not change an ended job", async () => {
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
  ])("[queue.retry] [queue.timed-out] /retry queues a %s job again with its id and input, but without its output", async (state, input) => {
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
  ])("[queue.retry-wrong-state] /retry refuses a job that is %s", async (state, input) => {
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

  test("/retry refuses a job whose result has been deleted", async () => {
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ throw: "no" });
    await queue.clock.advance(30 * minute);
    expect((await queue.post(`retry/${id}`)).status).toBe(404);
  });
});

describe("/purge-queue", () => {
  test("[queue.purge] [queue.purged-job] /purge-queue removes waiting jobs and keeps running ones", async () => {
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

  test("a caller that is waiting for a purged job gets a response immediately", async () => {
    const queue = await startQueue({}, { handlers });
    await queue.run({ hang: true });
    const { answer } = await queue.begin("runsync", { input: { n: 1 } });
    await queue.post("purge-queue");
    expect((await answer).status).toBe(404);
  });
});
