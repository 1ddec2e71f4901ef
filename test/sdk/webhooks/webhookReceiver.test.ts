import { InvalidInputError, NotFoundError, ServiceFaultError } from "../../../sdk/errors/errors";
import { WebhookNotConfirmedError } from "../../../sdk/jobs/jobErrors";
import type { Job } from "../../../sdk/jobs/jobRecord";
import { createWebhookReceiver, type WebhookReceiverOptions } from "../../../sdk/webhooks/webhookReceiver";
import { type EmulatedQueue, type QueueOptions, sleeper, startQueue } from "../../support/queue";
import { listen, post } from "../../support/webhookServer";

/** An emulated endpoint and a receiver of its webhooks, with all that the receiver passed on. */
async function startReceiver(options: QueueOptions = {}, own: Partial<WebhookReceiverOptions> = {}) {
  const emulated: EmulatedQueue = await startQueue(options);
  const jobs: Job[] = [];
  const errors: unknown[] = [];
  const receiver = createWebhookReceiver({
    endpoint: emulated.queue,
    onJob: (job) => jobs.push(job),
    onError: (error) => errors.push(error),
    ...own,
  });
  return { ...emulated, receiver, jobs, errors };
}

describe("a webhook receiver", () => {
  test("a webhook receiver passes on the job as /status returns it once the service has reported that the job ended", async () => {
    await using emulated = await startReceiver({ handler: sleeper });
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: { ms: 5_000 }, webhook: server.url }));
    await emulated.clock.advance(10_000);
    await emulated.run(emulated.receiver.idle());
    expect(emulated.jobs).toEqual([
      {
        id: job.id,
        status: "COMPLETED",
        delayTime: expect.any(Number),
        executionTime: 5_000,
        output: { slept: 5_000 },
      },
    ]);
    expect(emulated.calls()).toEqual(["run", "status"]);
  });

  test("a webhook receiver also passes on failed jobs", async () => {
    await using emulated = await startReceiver({
      handler: () => {
        throw new Error("no");
      },
    });
    await using server = await listen(emulated.receiver.node);
    await emulated.run(emulated.queue.run({ input: {}, webhook: server.url }));
    await emulated.clock.advance(1_000);
    await emulated.run(emulated.receiver.idle());
    expect(emulated.jobs.map(({ status }) => status)).toEqual(["FAILED"]);
  });

  test("a webhook receiver never trusts the body of a delivery", async () => {
    await using emulated = await startReceiver();
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: { real: true } }));
    await emulated.run(job.wait());
    const forged = { id: job.id, status: "FAILED", output: "forged", error: "forged" };
    expect((await post(server.url, forged)).status).toBe(200);
    expect(emulated.jobs).toMatchObject([{ status: "COMPLETED", output: { real: true } }]);
  });

  test("a webhook receiver reports deliveries that /status does not confirm", async () => {
    await using emulated = await startReceiver({ handler: sleeper });
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: { ms: 60_000 } }));
    const statuses: number[] = [];
    for (const id of [job.id, "never-was", "../../run"]) {
      statuses.push((await post(server.url, { id, status: "COMPLETED" })).status);
    }
    expect(statuses).toEqual([503, 503, 400]);
    expect(emulated.jobs).toEqual([]);
    expect(emulated.errors).toHaveLength(2);
    expect(emulated.errors).toContainEqual(expect.any(WebhookNotConfirmedError));
    expect(emulated.errors).toContainEqual(expect.any(NotFoundError));
  });

  test("a webhook receiver drops duplicates, but passes on a retried job again [contract.webhook]", async () => {
    let runs = 0;
    await using emulated = await startReceiver({
      handler: async (_, { sleep }) => {
        await sleep(++runs * 1_000);
        throw new Error(`run ${runs}`);
      },
    });
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: {}, webhook: server.url }));
    await emulated.clock.advance(5_000);
    await emulated.run(emulated.receiver.idle());
    await Promise.all([post(server.url, { id: job.id }), post(server.url, { id: job.id })]);
    await emulated.run(emulated.receiver.idle());
    expect(emulated.jobs).toHaveLength(1);
    await emulated.run(job.retry());
    await emulated.clock.advance(5_000);
    await emulated.run(emulated.receiver.idle());
    expect(emulated.jobs.map(({ error }) => error)).toEqual(["run 1", "run 2"]);
  });

  test("a webhook receiver responds only once the job was confirmed and passed on", async () => {
    await using emulated = await startReceiver();
    const order: string[] = [];
    const receiver = createWebhookReceiver({
      endpoint: {
        endpointId: emulated.endpointId,
        status: async (jobId) => {
          const job = await emulated.queue.status(jobId);
          order.push("confirmed");
          return job;
        },
      },
      onJob: async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        order.push("passed on");
      },
      onError: (error) => order.push(String(error)),
    });
    await using server = await listen(receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(job.wait());
    expect((await post(server.url, { id: job.id })).status).toBe(200);
    expect(order).toEqual(["confirmed", "passed on"]);
  });

  test("a webhook receiver refuses a delivery that it cannot confirm, and accepts the next delivery of that job", async () => {
    await using emulated = await startReceiver();
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(job.wait());
    const rule = emulated.emulator.faults.add({ match: { operation: "status" }, effect: { status: 503 } });
    const delivery = () => new Request("http://a/hook", { method: "POST", body: JSON.stringify({ id: job.id }) });
    expect((await emulated.run(emulated.receiver.fetch(delivery()))).status).toBe(503);
    expect(emulated.errors).toEqual([expect.any(ServiceFaultError)]);
    emulated.emulator.faults.remove(rule.id);
    expect((await emulated.receiver.fetch(delivery())).status).toBe(200);
    expect(emulated.jobs).toHaveLength(1);
  });

  test("a webhook receiver passes a job on again if the service delivers it again after onJob failed", async () => {
    let calls = 0;
    const jobs: Job[] = [];
    const onJob = async (job: Job) => {
      if (++calls === 1) throw new Error("the database was away");
      jobs.push(job);
    };
    await using emulated = await startReceiver({}, { onJob });
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: {}, webhook: server.url }));
    await emulated.clock.advance(5_000);
    expect(emulated.errors).toMatchObject([{ message: "the database was away" }]);
    expect(jobs).toEqual([]);
    await emulated.clock.advance(30_000);
    await emulated.run(emulated.receiver.idle());
    expect(jobs).toMatchObject([{ id: job.id, status: "COMPLETED" }]);
    expect(calls).toBe(2);
  });

  test("a webhook receiver continues to work if callbacks fail", async () => {
    const failing = () => Promise.reject(new Error("the user's"));
    await using emulated = await startReceiver({}, { onJob: failing, onError: failing });
    await using server = await listen(emulated.receiver.node);
    await emulated.run(emulated.queue.run({ input: {}, webhook: server.url }));
    await emulated.clock.advance(1_000);
    await emulated.run(emulated.receiver.idle());
    expect((await post(server.url, { id: "other" })).status).toBe(503);
  });

  test.each([
    ["a number", "?token=123456789", false],
    ["none", "", false],
    ["the right one", "?a=1&token=only-the-service-knows", true],
    ["a longer one", "?token=only-the-service-knows-it", false],
  ])("a receiver with a token accepts only deliveries that contain the token, and sends no request for others: %s", async (_, query, isTaken) => {
    await using emulated = await startReceiver({}, { token: "only-the-service-knows" });
    await using server = await listen(emulated.receiver.node);
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(job.wait());
    const before = emulated.calls().length;
    const init = { method: "POST", body: JSON.stringify({ id: job.id }) };
    expect((await fetch(server.url + query, init)).status).toBe(isTaken ? 200 : 401);
    expect((await emulated.receiver.fetch(new Request(server.url + query, init))).status).toBe(isTaken ? 200 : 401);
    expect(emulated.jobs).toHaveLength(isTaken ? 1 : 0);
    expect(emulated.calls().length > before).toBe(isTaken);
  });

  test("a webhook receiver refuses a token that is easy to guess", () => {
    const endpoint = { endpointId: "a", status: () => Promise.reject(new Error("not asked")) };
    const options = { endpoint, onJob() {}, onError() {} };
    expect(() => createWebhookReceiver({ ...options, token: "short" })).toThrow(InvalidInputError);
    expect(() => createWebhookReceiver({ ...options, token: "" })).toThrow("at least 16 characters");
  });

  test.each([
    ["GET", undefined, 405],
    ["POST", "no JSON", 400],
    ["POST", "null", 400],
    ["POST", '{"id":-5}', 400],
    ["POST", '{"id":""}', 400],
    ["POST", "", 400],
  ])("a %s with body %p gets status %d, over HTTP and fetch-style", async (method, body, status) => {
    await using emulated = await startReceiver();
    await using server = await listen(emulated.receiver.node);
    const init = { method, ...(body !== undefined && { body }) };
    expect((await fetch(server.url, init)).status).toBe(status);
    expect((await emulated.receiver.fetch(new Request(server.url, init))).status).toBe(status);
    expect(emulated.calls()).toEqual([]);
  });

  test("a webhook receiver accepts fetch-style deliveries", async () => {
    await using emulated = await startReceiver();
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    await emulated.run(job.wait());
    const delivery = new Request("https://example.com/hook", { method: "POST", body: JSON.stringify({ id: job.id }) });
    expect((await emulated.receiver.fetch(delivery)).status).toBe(200);
    expect(emulated.jobs).toHaveLength(1);
  });
});

test("a job that failed again, without times, is not a duplicate, but a job that completed again is", async () => {
  let status = "FAILED";
  const ends: string[] = [];
  const receiver = createWebhookReceiver({
    endpoint: { endpointId: "ep", status: async (id) => ({ id, status }) },
    onJob: (job) => ends.push(job.status),
    onError: (error) => ends.push(String(error)),
  });
  const deliver = () => receiver.fetch(new Request("http://receiver/", { method: "POST", body: '{"id":"job-1"}' }));
  for (status of ["FAILED", "FAILED", "COMPLETED", "COMPLETED"]) expect((await deliver()).status).toBe(200);
  expect(ends).toEqual(["FAILED", "FAILED", "COMPLETED"]);
});

test("a numeric id is read as a string", async () => {
  const asked: string[] = [];
  const endpoint = {
    endpointId: "e1",
    status: async (jobId: string) => {
      asked.push(jobId);
      return { id: jobId, status: "COMPLETED" } as Job;
    },
  };
  const receiver = createWebhookReceiver({ endpoint, onJob: () => {}, onError: () => {} });
  await using server = await listen(receiver.node);
  expect((await post(server.url, '{"id":4711,"status":"COMPLETED"}')).status).toBe(200);
  expect(asked).toEqual(["4711"]);
});
