import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { NotFoundError, ServiceFaultError } from "../../sdk/errors";
import { WebhookNotConfirmedError } from "../../sdk/jobErrors";
import type { Job } from "../../sdk/jobs";
import { createWebhookReceiver, type WebhookReceiverOptions } from "../../sdk/webhookReceiver";
import { type EmulatedQueue, type QueueOptions, sleeper, startQueue } from "../support/queue";

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** An emulated endpoint and a receiver of its webhooks, with all that the receiver handed on. */
async function startReceiver(options: QueueOptions = {}, own: Partial<WebhookReceiverOptions> = {}) {
  const it: EmulatedQueue = await startQueue(options);
  const jobs: Job[] = [];
  const errors: unknown[] = [];
  const receiver = createWebhookReceiver({
    endpoint: it.queue,
    onJob: (job) => jobs.push(job),
    onError: (error) => errors.push(error),
    ...own,
  });
  return { ...it, receiver, jobs, errors };
}

const post = (url: string, body: unknown) =>
  fetch(url, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });

describe("a webhook receiver", () => {
  test("hands a job on as /status shows it, when the service says that it has ended", async () => {
    await using it = await startReceiver({ handler: sleeper });
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: { ms: 5_000 }, webhook: server.url }));
    await it.clock.advance(10_000);
    await it.run(it.receiver.idle());
    expect(it.jobs).toEqual([
      {
        id: job.id,
        status: "COMPLETED",
        delayTime: expect.any(Number),
        executionTime: 5_000,
        output: { slept: 5_000 },
      },
    ]);
    expect(it.calls()).toEqual(["run", "status"]);
  });

  test("hands on failed jobs too", async () => {
    await using it = await startReceiver({
      handler: () => {
        throw new Error("no");
      },
    });
    await using server = await listen(it.receiver.node);
    await it.run(it.queue.run({ input: {}, webhook: server.url }));
    await it.clock.advance(1_000);
    await it.run(it.receiver.idle());
    expect(it.jobs.map(({ status }) => status)).toEqual(["FAILED"]);
  });

  test("never believes the body", async () => {
    await using it = await startReceiver();
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: { real: true } }));
    await it.run(job.wait());
    const forged = { id: job.id, status: "FAILED", output: "forged", error: "forged" };
    expect((await post(server.url, forged)).status).toBe(200);
    await it.run(it.receiver.idle());
    expect(it.jobs).toMatchObject([{ status: "COMPLETED", output: { real: true } }]);
  });

  test("reports what /status does not confirm", async () => {
    await using it = await startReceiver({ handler: sleeper });
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: { ms: 60_000 } }));
    for (const id of [job.id, "never-was", "../../run"]) await post(server.url, { id, status: "COMPLETED" });
    await it.run(it.receiver.idle());
    expect(it.jobs).toEqual([]);
    expect(it.errors).toHaveLength(3);
    expect(it.errors).toContainEqual(expect.any(WebhookNotConfirmedError));
    expect(it.errors).toContainEqual(expect.any(NotFoundError));
  });

  test("drops duplicates, yet hands a retried job on again", async () => {
    let runs = 0;
    await using it = await startReceiver({
      handler: async (_, { sleep }) => {
        await sleep(++runs * 1_000);
        throw new Error(`run ${runs}`);
      },
    });
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: {}, webhook: server.url }));
    await it.clock.advance(5_000);
    await it.run(it.receiver.idle());
    await Promise.all([post(server.url, { id: job.id }), post(server.url, { id: job.id })]);
    await it.run(it.receiver.idle());
    expect(it.jobs).toHaveLength(1);
    await it.run(job.retry());
    await it.clock.advance(5_000);
    await it.run(it.receiver.idle());
    expect(it.jobs.map(({ error }) => error)).toEqual(["run 1", "run 2"]);
  });

  test("answers at once, before it confirms", async () => {
    await using it = await startReceiver();
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: {} }));
    await it.run(job.wait());
    it.emulator.faults.add({ match: { operation: "status" }, effect: { status: 503 }, times: 3 });
    expect((await post(server.url, { id: job.id })).status).toBe(200);
    expect(it.jobs).toEqual([]);
    await it.run(it.receiver.idle());
    expect(it.jobs).toHaveLength(1);
  });

  test("reports a job that it cannot confirm, and takes the next delivery of it", async () => {
    await using it = await startReceiver();
    await using server = await listen(it.receiver.node);
    const job = await it.run(it.queue.run({ input: {} }));
    await it.run(job.wait());
    const rule = it.emulator.faults.add({ match: { operation: "status" }, effect: { status: 503 } });
    await post(server.url, { id: job.id });
    await it.run(it.receiver.idle());
    expect(it.errors).toEqual([expect.any(ServiceFaultError)]);
    it.emulator.faults.remove(rule.id);
    await post(server.url, { id: job.id });
    await it.run(it.receiver.idle());
    expect(it.jobs).toHaveLength(1);
  });

  test("survives callbacks that fail", async () => {
    const failing = () => Promise.reject(new Error("the user's"));
    await using it = await startReceiver({}, { onJob: failing, onError: failing });
    await using server = await listen(it.receiver.node);
    await it.run(it.queue.run({ input: {}, webhook: server.url }));
    await it.clock.advance(1_000);
    await it.run(it.receiver.idle());
    expect((await post(server.url, { id: "other" })).status).toBe(200);
    await it.run(it.receiver.idle());
  });

  test.each([
    ["GET", undefined, 405],
    ["POST", "no JSON", 400],
    ["POST", "null", 400],
    ["POST", '{"id":5}', 400],
    ["POST", '{"id":""}', 400],
    ["POST", "", 400],
  ])("answers %s with %p by %d, over HTTP and fetch-style", async (method, body, status) => {
    await using it = await startReceiver();
    await using server = await listen(it.receiver.node);
    const init = { method, ...(body !== undefined && { body }) };
    expect((await fetch(server.url, init)).status).toBe(status);
    expect((await it.receiver.fetch(new Request(server.url, init))).status).toBe(status);
    expect(it.calls()).toEqual([]);
  });

  test("takes deliveries fetch-style", async () => {
    await using it = await startReceiver();
    const job = await it.run(it.queue.run({ input: {} }));
    await it.run(job.wait());
    const delivery = new Request("https://example.com/hook", { method: "POST", body: JSON.stringify({ id: job.id }) });
    expect((await it.receiver.fetch(delivery)).status).toBe(200);
    await it.run(it.receiver.idle());
    expect(it.jobs).toHaveLength(1);
  });
});
