import type { Answer } from "../../support/plainClient";
import { type QueueTest, startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const second = 1000;

const operations: Record<string, (queue: QueueTest) => Promise<Answer>> = {
  run: (queue) => queue.post("run", { input: { n: 1 } }),
  runsync: (queue) => queue.post("runsync", { input: { n: 1 } }),
  status: (queue) => queue.get("status/none"),
  stream: (queue) => queue.get("stream/none"),
  cancel: (queue) => queue.post("cancel/none"),
  "purge-queue": (queue) => queue.post("purge-queue"),
  openai: (queue) => queue.post("openai/v1/completions", { prompt: "a" }),
  requests: (queue) => queue.get("requests"),
};

/** Sends `count` requests, a few at a time, and returns how many of them were refused. */
async function refusedOf(count: number, send: () => Promise<Answer>, atOnce = 20): Promise<number> {
  let refused = 0;
  for (let sent = 0; sent < count; sent += atOnce) {
    const batch = Array.from({ length: Math.min(atOnce, count - sent) }, send);
    refused += (await Promise.all(batch)).filter(({ status }) => status === 429).length;
  }
  return refused;
}

describe("the contract's table", () => {
  test.each([
    ["run", 1000],
    ["runsync", 2000],
    ["status", 2000],
    ["stream", 2000],
    ["cancel", 100],
    ["purge-queue", 2],
    ["openai", 2000],
    ["requests", 10],
  ])("[queue.rate-limits] [queue.rate-limits-window] /%s accepts %d requests in 10 s, and as many again 10 s later", async (name, limit) => {
    const queue = await startQueue({}, { rateLimits: undefined });
    const send = () => (operations[name] as (queue: QueueTest) => Promise<Answer>)(queue);
    const atOnce = name === "requests" ? 2 : 20;
    expect(await refusedOf(limit, send, atOnce)).toBe(0);
    const { status, body } = await send();
    expect([status, body]).toEqual([429, { status: 429, title: "Too Many Requests", detail: expect.any(String) }]);
    await queue.clock.advance(10 * second - 1);
    expect((await send()).status).toBe(429);
    await queue.clock.advance(1);
    expect((await send()).status).not.toBe(429);
  });

  test("[queue.rate-limits] /runsync accepts 400 requests in flight", async () => {
    const queue = await startQueue({ workersMin: 0, workersMax: 0 }, { rateLimits: undefined });
    const statuses: number[] = [];
    const submit = () => queue.post("runsync", { input: { n: 1 } }).then(({ status }) => statuses.push(status));
    const waiting = Array.from({ length: 401 }, submit);
    await Promise.race(waiting);
    expect(statuses).toEqual([429]);
    await queue.post("purge-queue");
    await Promise.all(waiting);
    expect(statuses.filter((status) => status === 404)).toHaveLength(400);
  });

  test("/retry and /health are not limited, and refused requests do not count toward other limits", async () => {
    const queue = await startQueue({}, { rateLimits: undefined });
    expect(await refusedOf(300, () => queue.get("health"))).toBe(0);
    expect(await refusedOf(300, () => queue.post("retry/none"))).toBe(0);
    expect(await refusedOf(5, () => queue.post("purge-queue"), 1)).toBe(3);
    expect((await queue.post("cancel/none")).status).toBe(404);
  });

  test("each endpoint has its own limits", async () => {
    const queue = await startQueue({}, { rateLimits: undefined });
    await refusedOf(2, () => queue.post("purge-queue"), 1);
    const other = queue.emulator.endpoints.create({ name: "b", gpuIds: "AMPERE_16", templateId: "t" });
    const url = `${queue.emulator.url}/v2/${other.id}/purge-queue`;
    const { status } = await fetch(url, { method: "POST", headers: { authorization: queue.emulator.apiKey } });
    expect(status).toBe(200);
  });
});

describe("the dynamic rule", () => {
  test("[queue.rate-limits-dynamic] each running worker raises the limit per 10 s by requestsPerWorker", async () => {
    const handlers = { worker: () => new Promise(() => {}) };
    const endpoint = { workersMin: 3, workersMax: 3 };
    const queue = await startQueue(endpoint, { rateLimits: { requestsPerWorker: 40 }, handlers });
    for (let n = 0; n < 3; n += 1) await queue.run({});
    expect(await refusedOf(121, () => queue.post("cancel/none"))).toBe(1);
  });

  test("[queue.rate-limits-window] requestsPerWorker is 50 by default, and idle workers do not count", async () => {
    const handlers = { worker: () => new Promise(() => {}) };
    const endpoint = { workersMin: 3, workersMax: 3 };
    const queue = await startQueue(endpoint, { rateLimits: undefined, handlers });
    expect(await refusedOf(101, () => queue.post("cancel/none"))).toBe(1);
    for (let n = 0; n < 3; n += 1) await queue.run({});
    expect(await refusedOf(51, () => queue.post("cancel/none"))).toBe(1);
  });
});

describe("fault rules and limits", () => {
  const limits = { limits: { run: { concurrent: 2, perWindow: 4 } } };

  test("[queue.rate-limits] a request that a fault rule delays counts toward the limit from its arrival to its response", async () => {
    const queue = await startQueue({}, { rateLimits: limits });
    queue.emulator.faults.add({ match: { operation: "run" }, effect: { latencyMs: 2 * second } });
    const begun = [];
    for (let n = 0; n < 3; n += 1) begun.push(await queue.begin("run", { input: { n } }));
    await queue.clock.advance(2 * second);
    const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);
    expect(statuses(await Promise.all(begun.map(({ answer }) => answer)))).toEqual([200, 200, 429]);

    const next = await queue.begin("run", { input: { n: 1 } });
    await queue.clock.advance(2 * second);
    expect((await next.answer).status).toBe(200);
  });

  test("[queue.rate-limits] a hanging request counts toward the limit until its client gives up", async () => {
    const queue = await startQueue({}, { rateLimits: limits });
    queue.emulator.faults.add({ match: { operation: "run" }, effect: { hang: true }, times: 2 });
    const url = `${queue.emulator.url}/v2/${queue.endpointId}/run`;
    const headers = { authorization: queue.emulator.apiKey };
    const client = new AbortController();
    const hanging = [1, 2].map(() =>
      fetch(url, { method: "POST", headers, body: '{"input":{"n":1}}', signal: client.signal }).catch(() => "cut"),
    );
    const pending = () => queue.emulator.journal.requests({ outcome: "pending" }).length;
    while (pending() < 2) await new Promise((resolve) => setImmediate(resolve));
    expect((await queue.post("run", { input: { n: 1 } })).status).toBe(429);
    client.abort();
    expect(await Promise.all(hanging)).toEqual(["cut", "cut"]);
    while (pending() > 0) await new Promise((resolve) => setImmediate(resolve));
    expect((await queue.post("run", { input: { n: 1 } })).status).toBe(200);
  });

  test("a request that a fault rule answers does not count toward a limit", async () => {
    const queue = await startQueue({}, { rateLimits: limits });
    queue.emulator.faults.add({ match: { operation: "run" }, effect: { status: 503 }, times: 8 });
    for (let n = 0; n < 8; n += 1) expect((await queue.post("run", { input: { n: 1 } })).status).toBe(503);
    expect(await refusedOf(5, () => queue.post("run", { input: { n: 1 } }), 1)).toBe(1);
  });

  test("requests with a wrong key or an unknown operation do not count toward a limit", async () => {
    const queue = await startQueue({}, { rateLimits: limits });
    const url = `${queue.emulator.url}/v2/${queue.endpointId}/run`;
    for (let n = 0; n < 5; n += 1) {
      expect((await fetch(url, { method: "POST", headers: { authorization: "wrong" } })).status).toBe(401);
      expect((await queue.get("run")).status).toBe(404);
    }
    expect((await queue.post("run", { input: { n: 1 } })).status).toBe(200);
  });
});

describe("settings", () => {
  test("limits can be turned off", async () => {
    const queue = await startQueue({}, { rateLimits: { limits: "off" } });
    expect(await refusedOf(30, () => queue.post("purge-queue"))).toBe(0);
  });

  test("custom limits replace those of the table, and the other limits are kept", async () => {
    const queue = await startQueue(
      {},
      { rateLimits: { limits: { status: { perWindow: 3 }, run: { concurrent: 0 } } } },
    );
    expect(await refusedOf(5, () => queue.get("status/none"), 1)).toBe(2);
    expect((await queue.post("run", { input: { n: 1 } })).status).toBe(429);
    expect(await refusedOf(3, () => queue.post("purge-queue"), 1)).toBe(1);
  });
});
