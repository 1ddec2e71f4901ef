import { startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";
import { startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

const megabyte = 1_000_000;

/** A body of exactly `bytes` bytes. */
const bodyOf = (bytes: number, character = "x") => {
  const frame = JSON.stringify({ input: { text: "" } });
  const text = character.repeat(Math.floor((bytes - frame.length) / Buffer.byteLength(character)));
  const body = JSON.stringify({ input: { text } });
  return body + " ".repeat(bytes - Buffer.byteLength(body));
};

describe("keys", () => {
  test.each([
    ["bare", (key: string) => key],
    ["as Bearer", (key: string) => `Bearer ${key}`],
  ])("[queue.key] the key is accepted %s", async (_, header) => {
    const { emulator, endpointId } = await startQueue();
    const headers = { authorization: header(emulator.apiKey) };
    expect((await send(`${emulator.url}/v2/${endpointId}/health`, { headers })).status).toBe(200);
  });

  test.each([
    ["a wrong key", { authorization: "Bearer wrong" }],
    ["a wrong bare key", { authorization: "wrong" }],
    ["a key without permission", { authorization: "Bearer restricted" }],
    ["no key", {}],
  ])("[queue.wrong-key] [queue.unauthorized-body] %s returns 401", async (_, headers) => {
    const { emulator, endpointId } = await startQueue({}, { restrictedApiKey: "restricted" });
    const { status, body } = await send(`${emulator.url}/v2/${endpointId}/health`, {
      headers: headers as Record<string, string>,
    });
    expect([status, body]).toEqual([401, { status: 401, title: "Unauthorized", detail: expect.any(String) }]);
  });

  test("an api_key in the query is not accepted", async () => {
    const { emulator, endpointId } = await startQueue();
    const { status } = await send(`${emulator.url}/v2/${endpointId}/health?api_key=${emulator.apiKey}`);
    expect(status).toBe(401);
  });
});

describe("what is not there", () => {
  test.each([
    "POST run",
    "POST runsync",
    "GET status/x",
    "GET stream/x",
    "POST cancel/x",
    "POST purge-queue",
    "GET health",
  ])("[queue.unknown-endpoint] %s of an unknown endpoint returns 404", async (operation) => {
    const emulator = await startEmulator({ profile: "contract" });
    const [method, path] = operation.split(" ");
    const headers = { authorization: emulator.apiKey };
    const answer = await send(`${emulator.url}/v2/nothing/${path}`, { method, headers } as RequestInit);
    await emulator.stop();
    expect([answer.status, answer.body]).toEqual([404, expect.objectContaining({ status: 404, title: "Not Found" })]);
  });

  test.each([
    "GET status/nothing",
    "GET stream/nothing",
    "POST cancel/nothing",
    "POST retry/nothing",
  ])("[queue.unknown-job] [queue.error-body] %s returns 404", async (operation) => {
    const queue = await startQueue();
    const [method, path = ""] = operation.split(" ");
    const { status, body, headers } = await (method === "GET" ? queue.get(path) : queue.post(path));
    expect([status, body]).toEqual([
      404,
      { status: 404, title: "Not Found", detail: expect.stringContaining("nothing") },
    ]);
    expect(headers.get("x-emulator-fidelity")).toBe("assumed");
  });

  test("a job of one endpoint cannot be read through another endpoint", async () => {
    const queue = await startQueue();
    const id = await queue.run({});
    const other = queue.emulator.endpoints.create({ name: "other", gpuIds: "AMPERE_16", templateId: "t" });
    const headers = { authorization: queue.emulator.apiKey };
    expect((await send(`${queue.emulator.url}/v2/${other.id}/status/${id}`, { headers })).status).toBe(404);
  });

  test.each([
    "GET run",
    "POST status/x",
    "GET nothing",
    "POST run/x",
    "GET status",
    "POST health",
    "GET status/x/y",
    "GET ",
  ])("[queue.unknown-operation] %s returns 404", async (operation) => {
    const queue = await startQueue();
    const [method, path = ""] = operation.split(" ");
    expect((await (method === "GET" ? queue.get(path) : queue.post(path, {}))).status).toBe(404);
  });
});

describe("malformed requests", () => {
  test.each([
    ["no body", undefined],
    ["no JSON", "{"],
    ["an array", "[]"],
    ["null", "null"],
    ["no input", {}],
    ["an input that is null", { input: null }],
    ["an input that is a string", { input: "a" }],
    ["an input that is an array", { input: [] }],
    ["a policy that is no object", { input: { n: 1 }, policy: 5 }],
    ["a lowPriority that is no boolean", { input: { n: 1 }, policy: { lowPriority: "yes" } }],
    ["a webhook that is no URL", { input: { n: 1 }, webhook: "example" }],
    ["a webhook of another scheme", { input: { n: 1 }, webhook: "ftp://example.com" }],
    ["a webhook that is no string", { input: { n: 1 }, webhook: 5 }],
    ["an s3Config that is no object", { input: { n: 1 }, s3Config: "a" }],
    ["an s3Config with a number", { input: { n: 1 }, s3Config: { accessId: 5 } }],
  ])("[queue.bad-request] %s makes /run and /runsync return 400, and no job is created", async (_, body) => {
    const queue = await startQueue();
    for (const operation of ["run", "runsync"]) {
      const { status, body: problem } = await queue.post(operation, body);
      expect([status, problem]).toEqual([400, { status: 400, title: "Bad Request", detail: expect.any(String) }]);
    }
    expect((await queue.get("requests")).body.requests).toEqual([]);
  });

  test.each([
    ["executionTimeout", 4_999, 5_000],
    ["executionTimeout", 604_800_001, 604_800_000],
    ["executionTimeout", 5_000.5, 5_001],
    ["executionTimeout", "6000", 6_000],
    ["ttl", 9_999, 10_000],
    ["ttl", 604_800_001, 604_800_000],
    ["ttl", -1, 10_001],
  ])("[queue.out-of-range] [queue.execution-timeout-limits] [queue.ttl-limits] a policy.%s of %p is refused, and one of %p is accepted", async (field, wrong, right) => {
    const queue = await startQueue();
    const refused = await queue.post("run", { input: { n: 1 }, policy: { [field]: wrong } });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(field)]);
    expect((await queue.post("run", { input: { n: 1 }, policy: { [field]: right } })).status).toBe(200);
  });

  test.each([
    "999",
    "300001",
    "1e4",
    "5000.5",
    "-5000",
    "abc",
    "",
  ])("[queue.out-of-range] [queue.runsync-wait] a wait of %p is refused, and no job is created", async (wait) => {
    const queue = await startQueue();
    const { status, headers } = await queue.post(`runsync?wait=${wait}`, { input: { n: 1 } });
    expect([status, headers.get("x-emulator-fidelity")]).toEqual([400, "assumed"]);
    expect((await queue.get("requests")).body.requests).toEqual([]);
  });

  test.each(["9999", "604800001", "abc"])("[queue.out-of-range] a ttl of %p in /status is refused", async (ttl) => {
    const queue = await startQueue();
    const id = await queue.run({});
    expect((await queue.get(`status/${id}?ttl=${ttl}`)).status).toBe(400);
    expect((await queue.get(`status/${id}`)).status).toBe(200);
  });

  test("[queue.bad-request] /openai/* without JSON returns 400", async () => {
    const queue = await startQueue();
    expect((await queue.post("openai/v1/chat/completions", "{")).status).toBe(400);
  });

  test("[queue.null-fields] an optional field that is null counts as absent", async () => {
    const policy = { executionTimeout: null, lowPriority: null, ttl: null };
    for (const more of [{ policy }, { policy: null }, { webhook: null, s3Config: null, policy: {} }]) {
      const queue = await startQueue();
      expect(await queue.post("run", { input: { n: 1 }, ...more })).toMatchObject({ status: 200 });
      // The default time to live of a job is 24 hours, its execution timeout 10 minutes.
      await queue.clock.runUntilIdle();
      expect((await queue.get("requests")).body.requests).toMatchObject([{ status: "COMPLETED" }]);
    }
  });

  test("unknown fields are ignored", async () => {
    const queue = await startQueue();
    expect((await queue.post("run", { input: { n: 1 }, color: "red", policy: { size: 1 } })).status).toBe(200);
  });
});

describe("sizes", () => {
  test.each([
    ["run", 10 * megabyte],
    ["runsync", 20 * megabyte],
  ])("[queue.sizes] [queue.too-large] /%s accepts a body of %d bytes, but not one byte more", async (operation, limit) => {
    const queue = await startQueue({}, { handlers: { worker: () => "done" } });
    const { answer } = await queue.begin(operation, bodyOf(limit));
    await queue.clock.runUntilIdle();
    expect((await answer).status).toBe(200);
    const { status, headers } = await queue.post(operation, bodyOf(limit + 1));
    expect([status, headers.get("x-emulator-fidelity")]).toEqual([400, "assumed"]);
  });

  test("[queue.sizes] sizes are measured in bytes, not characters", async () => {
    const queue = await startQueue({}, { handlers: { worker: () => "done" } });
    const body = JSON.stringify({ input: { text: "€".repeat(3.5 * megabyte) } });
    expect(body.length).toBeLessThan(10 * megabyte);
    expect((await queue.post("run", body)).status).toBe(400);
  });
});
