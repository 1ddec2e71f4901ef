import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { manualClock } from "../../../emulator";
import { createClient } from "../../../sdk/client/client";
import { AuthenticationError, InvalidInputError, NoQueueError, RateLimitError } from "../../../sdk/errors/errors";
import { type FetchOptions, workerIdOf } from "../../../sdk/index";
import {
  NoWorkerError,
  ProcessingTimeoutError,
  RequestUncertainError,
  WorkerGoneError,
  WorkerTimeoutError,
  WorkerUnreachableError,
} from "../../../sdk/loadBalancer/loadBalancerErrors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { startLoadBalanced, startScripted, until } from "../../support/loadBalanced";
import { startRawServer } from "../../support/rawServer";

/**
 * A client of a server that answers each request as scripted, and the requests that it received.
 */
async function startRaw(...answers: ((outgoing: ServerResponse, incoming: IncomingMessage) => unknown)[]) {
  const received: { url: string | undefined; key: string | undefined }[] = [];
  const server = await startRawServer((incoming, outgoing) => {
    incoming.resume();
    received.push({ url: incoming.url, key: incoming.headers.authorization });
    answers[Math.min(received.length, answers.length) - 1]?.(outgoing, incoming);
  });
  const client = createClient({ apiKey: CANARY, queueUrl: server.url });
  return {
    received,
    server,
    client,
    fetch: (path: string, options?: FetchOptions) => client.endpoint("ep").fetch(path, options),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const answer =
  (status: number, body = "", headers: Record<string, string> = {}) =>
  (outgoing: ServerResponse) =>
    outgoing.writeHead(status, headers).end(body);

const failure = async (promise: Promise<unknown>) =>
  withoutCanary(
    await promise.then(
      () => undefined,
      (error) => error,
    ),
  );

describe("the URL", () => {
  test("the URL uses its own host at RunPod, and a path below the queue's URL elsewhere", async () => {
    const runpod = createClient({ apiKey: CANARY, service: "runpod" });
    expect(runpod.endpoint("Abc1").loadBalancerUrl).toBe("https://abc1.api.runpod.ai");
    expect(() => runpod.endpoint("a.b").loadBalancerUrl).toThrow(InvalidInputError);
    const other = createClient({ apiKey: CANARY, service: "runpod", queueUrl: "http://localhost:1/base/v2" });
    expect(other.endpoint("abc").loadBalancerUrl).toBe("http://localhost:1/base/lb/abc");
    await Promise.all([runpod.close(), other.close()]);
  });

  test.each([
    "v1/models",
    "",
    "//evil.example/x",
    "///evil.example",
    "https://evil.example/x",
    "https://evil.example@127.0.0.1/x",
    "/../../other/x",
    "/a/../b",
    "/a/%2e%2E/b",
    "/a/..%2f..%2fb",
    "/a/..%5c..%5cb",
    "/a/.\t./b",
    "/\\evil.example",
    "/a#b",
    "/a b",
    "/a\r\nhost: x",
    "javascript:alert(1)",
  ])("the URL refuses the path %j before any request", async (path) => {
    await using raw = await startRaw(answer(200));
    expect(await failure(raw.fetch(path))).toBeInstanceOf(InvalidInputError);
    expect(raw.received).toEqual([]);
  });

  test("the URL may be below the endpoint's own URL, but not on another origin or endpoint", async () => {
    await using raw = await startRaw(answer(200));
    const endpoint = raw.client.endpoint("ep");
    for (const url of [
      new URL("https://evil.example/lb/ep/x"),
      `${raw.server.url}/lb/ep2/x`,
      `${raw.server.url}/v2/ep/run`,
    ]) {
      expect(await failure(endpoint.fetch(url))).toBeInstanceOf(InvalidInputError);
    }
    expect(raw.received).toEqual([]);
    await endpoint.fetch(new URL(`${endpoint.loadBalancerUrl}/v1/x?a=b%20c`));
    expect(raw.received).toEqual([{ url: "/lb/ep/v1/x?a=b%20c", key: `Bearer ${CANARY}` }]);
  });
});

describe("the key", () => {
  test("the key is not sent after a redirect, which is returned to the caller", async () => {
    await using other = await startRaw(answer(200));
    await using raw = await startRaw(answer(307, "", { location: `${other.server.url}/x` }));
    const response = await raw.fetch("/x");
    expect([response.status, response.headers.get("location")]).toEqual([307, `${other.server.url}/x`]);
    expect(other.received).toEqual([]);
  });

  test("the key is replaced by the caller's own authorization", async () => {
    await using raw = await startRaw(answer(200));
    await raw.fetch("/x", { headers: new Headers({ Authorization: "Bearer own" }) });
    expect(raw.received[0]?.key).toBe("Bearer own");
  });
});

describe("a request", () => {
  test("a request reaches the worker unchanged, with any kind of body", async () => {
    await using app = await startLoadBalanced({ fields: { workersMin: 1 } });
    const form = new FormData();
    form.set("a", "1");
    async function* stream() {
      yield Buffer.from("str");
      yield Buffer.from("eam");
    }
    const bodies: [NonNullable<FetchOptions["body"]>, string][] = [
      ["text", "text"],
      [Buffer.from("bytes"), "bytes"],
      [new Uint8Array([97, 98]).buffer, "ab"],
      [new Blob(["blob"]), "blob"],
      [new URLSearchParams({ a: "b c" }), "a=b+c"],
      [stream(), "stream"],
      [new Blob(["web stream"]).stream() as unknown as AsyncIterable<Uint8Array>, "web stream"],
    ];
    for (const [body, text] of bodies) {
      const response = await app.endpoint.fetch("/v1/x?y=1", { method: "post", body });
      expect(await response.json()).toMatchObject({ method: "POST", path: "/v1/x?y=1", body: text });
    }
    const sent = (await (await app.endpoint.fetch("/f", { method: "POST", body: form })).json()) as { body: string };
    expect(sent.body).toContain('name="a"');
    expect(await (await app.endpoint.fetch("/x", { method: "HEAD" })).text()).toBe("");
  });

  test.each<[string, object]>([
    ["a body over 30 MB", { method: "POST", body: Buffer.alloc(30_000_001) }],
    ["an object as its body", { method: "POST", body: { a: 1 } }],
    ["a header of the connection", { headers: { host: "evil.example" } }],
    ["a header with a line break", { headers: { a: `b\r\n${CANARY}` } }],
    ["a method that is none", { method: "GET /x" }],
    ["CONNECT", { method: "connect" }],
    ["a worker's id that is none", { worker: { id: "a b" } }],
    ["a mode that is none", { worker: { id: "a", mode: "sticky" } }],
    ["an unknown option", { redirect: "follow" }],
  ])("with %s is refused before it is sent", async (_name, options) => {
    await using raw = await startRaw(answer(200));
    expect(await failure(raw.fetch("/x", options))).toBeInstanceOf(InvalidInputError);
    expect(raw.received).toEqual([]);
  });

  test("a request may have headers of any name, such as constructor and __proto__", async () => {
    const headerOf = ({ rawHeaders }: IncomingMessage, name: string) => rawHeaders[rawHeaders.indexOf(name) + 1];
    await using raw = await startRaw((outgoing, incoming) => {
      const names = ["constructor", "__proto__"];
      for (const name of names) outgoing.setHeader(name, `got ${headerOf(incoming, name)}`);
      outgoing.end("ok");
    });
    const headers: [string, string][] = [
      ["constructor", "a"],
      ["__proto__", "b"],
    ];
    for (const given of [headers, Object.fromEntries(headers)]) {
      const response = await raw.fetch("/x", { headers: given });
      expect([response.headers.get("constructor"), response.headers.get("__proto__")]).toEqual(["got a", "got b"]);
    }
    const repeated = await raw.fetch("/x", { headers: [...headers, ["Constructor", "c"]] });
    expect(repeated.headers.get("constructor")).toBe("got a, c");
  });

  test.each([
    "a locked stream",
    "a stream that was read",
    "a destroyed stream",
  ])("with %s as its body is refused before it is sent", async (which) => {
    await using raw = await startRaw(answer(200));
    const locked = new Blob(["x"]).stream();
    locked.getReader();
    const read = Readable.from(["x"]);
    for await (const _ of read);
    const body = { "a locked stream": locked, "a stream that was read": read }[which] ?? new Readable().destroy();
    const error = await failure(raw.fetch("/x", { method: "POST", body: body as AsyncIterable<Uint8Array> }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(raw.received).toEqual([]);
  });

  test("a request can name a preferred worker, and the response names the worker that responded", async () => {
    await using app = await startLoadBalanced({ fields: { workersMin: 2, workersMax: 2 } });
    const id = workerIdOf(await app.endpoint.fetch("/x")) as string;
    for (const mode of [undefined, "preferred", "strict", "strict-resume"] as const) {
      expect(workerIdOf(await app.endpoint.fetch("/x", { worker: { id, mode } }))).toBe(id);
    }
    const gone = await failure(app.endpoint.fetch("/x", { worker: { id: "gone", mode: "strict" } }));
    expect(gone).toBeInstanceOf(WorkerGoneError);
    expect(gone).toMatchObject({ code: "WORKER_GONE", status: 404, body: '{"error":"affinity_worker_gone"}' });
    expect(workerIdOf(new Response())).toBeUndefined();
  });

  test("a request is held during a cold start for longer than an attempt may normally take, and is then served", async () => {
    const clock = manualClock();
    await using app = await startLoadBalanced({ emulator: { clock, coldStartMs: 100_000 }, client: { clock } });
    const response = app.endpoint.fetch("/v1/models");
    await until(() => app.emulator.journal.requests({ outcome: "pending" }).length === 1);
    await clock.advance(100_000);
    expect((await response).status).toBe(200);
    expect(app.emulator.journal.requests({ interface: "lb" })).toHaveLength(1);
  });

  test("a request fails with an error after two minutes without a worker, and is not repeated", async () => {
    const clock = manualClock();
    await using app = await startLoadBalanced({ emulator: { clock, coldStartMs: 600_000 }, client: { clock } });
    const error = failure(app.endpoint.fetch("/v1/models"));
    await until(() => app.emulator.journal.requests({ outcome: "pending" }).length === 1);
    await clock.advance(120_000);
    expect(await error).toBeInstanceOf(NoWorkerError);
    expect(await error).toMatchObject({ code: "NO_WORKER", disposition: "wait", status: 400 });
    expect(app.emulator.journal.requests({ interface: "lb" })).toHaveLength(1);
  });

  test("a request can be aborted before the response and while the response body is read", async () => {
    const { handler } = startScripted();
    await using app = await startLoadBalanced({ handler });
    const controller = new AbortController();
    const held = app.endpoint.fetch("/held", { signal: controller.signal });
    await until(() => app.emulator.journal.requests({ outcome: "pending" }).length === 1);
    controller.abort(new Error("enough"));
    await expect(held).rejects.toThrow("enough");
    const reading = new AbortController();
    async function* endless() {
      for (;;) yield Buffer.alloc(50_000);
    }
    const body = endless();
    const response = await app.endpoint.fetch("/echo", { method: "POST", body, signal: reading.signal });
    reading.abort(new Error("read enough"));
    await expect(response.arrayBuffer()).rejects.toThrow("read enough");
  });
});

describe("the response", () => {
  test("the response is streamed byte by byte, and ends when the client is closed", async () => {
    const sent = randomBytes(5_000_000);
    await using raw = await startRaw(
      (outgoing) => outgoing.end(sent),
      (outgoing) => outgoing.write("first"),
    );
    const hash = createHash("sha256");
    const { body } = await raw.fetch("/x");
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(sent).digest("hex"));
    const open = await raw.fetch("/x");
    const reader = (open.body as ReadableStream<Uint8Array>).getReader();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("first");
    const next = reader.read();
    void raw.client.close();
    await expect(next).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
  });

  test.each<[number, string, Record<string, string>]>([
    [400, "timed out waiting for worker", { "x-runpod-worker-id": "w" }],
    [404, '{"error":"affinity_worker_gone"}', { "x-runpod-worker-id": "w" }],
    [401, "own login", { "x-runpod-worker-id": "w" }],
    [429, "own limit", { "x-runpod-worker-id": "w" }],
    [502, "own gateway", { "x-runpod-worker-id": "w" }],
    [400, "x".repeat(10_000), {}],
    [404, "no such route", {}],
    [500, "crashed", {}],
    [503, "loading", {}],
  ])("the response is returned, not thrown, if an app responds with the status %d", async (status, body, headers) => {
    await using raw = await startRaw(answer(status, body, headers));
    const response = await raw.fetch("/x");
    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(raw.received).toHaveLength(1);
  });

  test.each([
    [401, '{"error":"Unauthorized"}', AuthenticationError],
    [400, '{"error":"timed out waiting for worker"}', NoWorkerError],
    [400, "no workers available", NoWorkerError],
    [400, '{"error":"worker_timeout"}', WorkerTimeoutError],
    [404, '{"error":"affinity_worker_gone"}', WorkerGoneError],
    [502, "<html>Bad gateway</html>", WorkerUnreachableError],
    [524, "", ProcessingTimeoutError],
  ])("the response causes an error after one request if the service responds with the status %d and the body %j", async (status, body, type) => {
    await using raw = await startRaw(answer(status, `${body}${CANARY}`));
    const error = await failure(raw.fetch("/x?secret=1"));
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ status });
    expect(String(error)).toContain("GET of /lb/ep/x at endpoint ep");
    expect(String(error)).not.toContain("secret=1");
    expect(raw.received).toHaveLength(1);
  });
});

describe("a repeat", () => {
  test("a repeat follows a 429 of the service or a failed connection", async () => {
    await using raw = await startRaw(answer(429), answer(200, "ok"));
    expect(await (await raw.fetch("/x", { method: "POST", body: "b" })).text()).toBe("ok");
    expect(raw.received).toHaveLength(2);
    const client = createClient({ apiKey: CANARY, queueUrl: "http://127.0.0.1:1", retry: { maxAttempts: 2 } });
    const error = await failure(client.endpoint("ep").fetch("/x"));
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    expect(error).toMatchObject({ attempts: 2 });
    await client.close();
  });

  test("a repeat is never made when the body is a stream", async () => {
    await using raw = await startRaw(answer(429), answer(200));
    async function* body() {
      yield Buffer.from("once");
    }
    expect(await failure(raw.fetch("/x", { method: "POST", body: body() }))).toBeInstanceOf(RateLimitError);
    expect(raw.received).toHaveLength(1);
  });

  test.each([
    "GET",
    "POST",
  ])("a repeat is never made for a %s that was sent, because its effect is unknown", async (method) => {
    await using raw = await startRaw((outgoing) => outgoing.socket?.destroy());
    const error = await failure(raw.fetch("/x", { method }));
    expect(error).toBeInstanceOf(RequestUncertainError);
    expect(error).toMatchObject({ code: "REQUEST_UNCERTAIN", cause: { code: "CONNECTION" } });
    expect(raw.received).toHaveLength(1);
  });

  test("a repeat does not follow a timeout", async () => {
    await using raw = await startRaw(() => {});
    const error = await failure(raw.fetch("/x", { timeoutMs: 50 }));
    expect(error).toMatchObject({ code: "REQUEST_UNCERTAIN", cause: { code: "REQUEST_TIMEOUT" } });
    expect(raw.received).toHaveLength(1);
  });
});

test("a hundred simultaneous requests are each served once", async () => {
  await using app = await startLoadBalanced({ fields: { scalerValue: 20, workersMin: 2 } });
  const responses = await Promise.all(Array.from({ length: 100 }, (_, i) => app.endpoint.fetch(`/x?i=${i}`)));
  const paths = await Promise.all(responses.map(async (each) => ((await each.json()) as { path: string }).path));
  expect(new Set(paths).size).toBe(100);
  expect(app.emulator.journal.requests({ interface: "lb", status: 200 })).toHaveLength(100);
});

test("a queue call on a load-balancing endpoint fails, and the error advises to use fetch", async () => {
  await using app = await startLoadBalanced();
  const error = await failure(app.endpoint.run({ input: {} }));
  expect(error).toBeInstanceOf(NoQueueError);
  expect(error).toMatchObject({ code: "NO_QUEUE", status: 400 });
  expect(String(error)).toContain("load-balancing endpoint, which has no queue");
  expect(String(error)).toContain('.fetch("/your/path")');
  expect(await app.endpoint.health()).toMatchObject({ workers: { idle: 0 } });
});
