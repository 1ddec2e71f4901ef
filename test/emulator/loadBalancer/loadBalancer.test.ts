import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type HttpHandler, manualClock } from "../../../emulator";
import { CANARY } from "../../support/emulated";
import {
  type LoadBalanced,
  type LoadBalancedOptions,
  plain,
  startLoadBalanced,
  startScripted,
  until,
} from "../../support/loadBalanced";

const MINUTE = 60_000;

/** Starts with a clock that moves only on request. */
async function startManual(options: LoadBalancedOptions = {}) {
  const clock = manualClock();
  const started = await startLoadBalanced({
    ...options,
    emulator: { coldStartMs: 30_000, ...options.emulator, clock },
  });
  return { ...started, clock };
}

const waiting = ({ emulator }: LoadBalanced) => emulator.journal.requests({ interface: "lb", outcome: "pending" });
const workers = ({ emulator, id }: LoadBalanced) => emulator.endpoints.get(id)?.pods ?? [];

describe("a request", () => {
  test("[lb.path] [lb.pass-on] [lb.worker-id] a request reaches a worker with its method, path, query, headers and body", async () => {
    const seen: unknown[] = [];
    const handler: HttpHandler = {
      async fetch(request, { workerId }) {
        const { pathname, search } = new URL(request.url);
        if (pathname === "/ping") return new Response();
        seen.push([request.method, pathname + search, request.headers.get("x-own"), await request.text()]);
        const headers = new Headers({ "x-worker": workerId, "content-type": "text/x-own" });
        headers.append("set-cookie", "a=1");
        headers.append("set-cookie", "b=2");
        return new Response("done", { status: 418, headers });
      },
    };
    await using app = await startLoadBalanced({ handler });
    const response = await plain(app, "/v1/a%20b?x=1&x=2?3", {
      method: "PATCH",
      body: "in",
      headers: { "x-own": "y" },
    });
    expect(seen).toEqual([["PATCH", "/v1/a%20b?x=1&x=2?3", "y", "in"]]);
    expect([response.status, await response.text()]).toEqual([418, "done"]);
    expect(response.headers.get("content-type")).toBe("text/x-own");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    const worker = response.headers.get("x-runpod-worker-id");
    expect(worker).toBe(response.headers.get("x-worker"));
    expect(worker).toBe(workers(app)[0]?.id);
    expect(app.emulator.journal.requests({ interface: "lb" })).toMatchObject([{ operation: "request", status: 418 }]);
  });

  test("[lb.key] [lb.unauthorized] [lb.own-responses] [lb.key-kept] a request requires the key, which the worker does not see", async () => {
    let authorization: string | null = "none";
    const handler: HttpHandler = {
      fetch(request) {
        if (!request.url.endsWith("/ping")) authorization = request.headers.get("authorization");
        return new Response("ok");
      },
    };
    await using app = await startLoadBalanced({ handler });
    for (const key of ["Bearer wrong-key", CANARY, ""]) {
      const refused = await plain(app, "/x", { headers: { authorization: key } });
      expect([refused.status, await refused.json()]).toEqual([401, { error: "Unauthorized" }]);
      expect(refused.headers.get("x-runpod-worker-id")).toBeNull();
    }
    expect(authorization).toBe("none");
    expect((await plain(app, "/x")).status).toBe(200);
    expect(authorization).toBeNull();
  });

  test("[lb.unknown-endpoint] [lb.queue-refused] a request is not routed to a queue endpoint, and the queue refuses everything except /health for a load balancer", async () => {
    await using app = await startLoadBalanced();
    const queue = app.emulator.endpoints.create({ name: "q", gpuIds: "AMPERE_16", templateId: "t" });
    expect((await plain({ ...app, id: queue.id }, "/x")).status).toBe(404);
    expect((await plain({ ...app, id: "none" }, "/x")).status).toBe(404);
    const headers = { authorization: CANARY };
    for (const operation of ["run", "status/a", "requests"]) {
      const method = operation === "run" ? "POST" : "GET";
      const refused = await fetch(`${app.emulator.url}/v2/${app.id}/${operation}`, { method, headers });
      expect([refused.status, await refused.json()]).toEqual([400, { error: "not allowed for QB API" }]);
    }
    const health = await fetch(`${app.emulator.url}/v2/${app.id}/health`, { headers });
    expect(health.status).toBe(200);
  });

  test("a request is refused if its host name may belong to another site", async () => {
    await using app = await startLoadBalanced();
    const { request } = await import("node:http");
    const status = await new Promise((resolve) => {
      const outgoing = request(`${app.emulator.url}/lb/${app.id}/x`, { headers: { host: "evil.example" } });
      outgoing.on("response", (incoming) => resolve(incoming.resume().statusCode)).end();
    });
    expect(status).toBe(403);
  });

  test("[lb.stream] a request is streamed in both directions, byte for byte", async () => {
    const { handler, chunks } = startScripted();
    await using app = await startLoadBalanced({ handler });
    const sent: Buffer[] = [];
    async function* upload() {
      for (let i = 0; i < 50; i++) {
        const chunk = randomBytes(20_000);
        sent.push(chunk);
        yield chunk;
        // The next piece is sent only after the worker has received this one.
        await until(() => chunks() >= sent.reduce((size, each) => size + each.length, 0));
      }
    }
    const response = await app.endpoint.fetch("/echo", { method: "POST", body: upload() });
    const hash = createHash("sha256");
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) hash.update(chunk);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(Buffer.concat(sent)).digest("hex"));
  });
});

describe("a cold start", () => {
  test("[lb.hold] a cold start holds a request and serves it when the worker is ready", async () => {
    await using app = await startManual();
    const response = plain(app, "/v1/models");
    await until(() => waiting(app).length === 1);
    await app.clock.advance(29_000);
    expect(waiting(app)).toHaveLength(1);
    await app.clock.advance(2_000);
    expect((await response).status).toBe(200);
  });

  test("[lb.hold] a cold start ends the hold with 400 after two minutes", async () => {
    await using app = await startManual({ emulator: { coldStartMs: 10 * MINUTE } });
    const response = plain(app, "/v1/models");
    await until(() => waiting(app).length === 1);
    await app.clock.advance(2 * MINUTE - 1);
    expect(waiting(app)).toHaveLength(1);
    await app.clock.advance(1);
    const refused = await response;
    expect([refused.status, await refused.json()]).toEqual([400, { error: "timed out waiting for worker" }]);
  });

  test("[lb.health] [lb.health-interval] a cold start continues while /ping responds with 204, and ends when /ping responds with 200", async () => {
    let pings = 0;
    const handler: HttpHandler = {
      fetch: (request) => new Response(null, { status: !request.url.endsWith("/ping") || ++pings > 10 ? 200 : 204 }),
    };
    await using app = await startManual({ handler, emulator: { coldStartMs: 0 } });
    const response = plain(app, "/x");
    await until(() => waiting(app).length === 1);
    await app.clock.advance(9_000);
    expect([pings, waiting(app).length]).toEqual([10, 1]);
    await app.clock.advance(1_000);
    expect((await response).status).toBe(200);
    const said = app.emulator.journal.workerOutput().map(({ line }) => line);
    expect(said).toEqual([
      "the health check responded with 204: the worker is still starting",
      "the health check responded with 200: the worker is healthy",
    ]);
  });

  test("[lb.health] a cold start sends no requests to an unhealthy worker until it is healthy again", async () => {
    let status = 200;
    const handler: HttpHandler = {
      fetch: (request) => new Response(null, { status: request.url.endsWith("/ping") ? status : 200 }),
    };
    await using app = await startManual({ handler, emulator: { coldStartMs: 0 }, fields: { workersMin: 1 } });
    await app.clock.advance(0);
    expect((await plain(app, "/x")).status).toBe(200);
    status = 500;
    await app.clock.advance(1_000);
    const held = plain(app, "/x");
    await until(() => waiting(app).length === 1);
    await app.clock.advance(5_000);
    expect(waiting(app)).toHaveLength(1);
    status = 200;
    await app.clock.advance(1_000);
    expect((await held).status).toBe(200);
  });
});

describe("workers", () => {
  test("[lb.scaling] [lb.least-busy] [lb.idle-timeout] scale with the open requests, and stop after idleTimeout", async () => {
    const { handler, respond } = startScripted();
    await using app = await startManual({ handler, emulator: { coldStartMs: 0 }, fields: { scalerValue: 2 } });
    const responses = Array.from({ length: 5 }, () => plain(app, "/held"));
    await until(() => waiting(app).length === 5);
    await app.clock.advance(0);
    expect(workers(app)).toHaveLength(3);
    const later = Array.from({ length: 4 }, () => plain(app, "/held"));
    await until(() => waiting(app).length === 9);
    respond();
    const served = (await Promise.all([...responses, ...later])).map(({ headers }) =>
      headers.get("x-runpod-worker-id"),
    );
    const counts = [...new Set(served)].map((id) => served.filter((each) => each === id).length);
    expect(counts).toHaveLength(3);
    expect(Math.max(...counts)).toBeLessThanOrEqual(5);
    await until(() => waiting(app).length === 0);
    await app.clock.advance(4_900);
    expect(workers(app)).toHaveLength(3);
    await app.clock.advance(200);
    expect(workers(app)).toHaveLength(0);
  });

  test("[lb.affinity] [lb.strict] [lb.strict-resume] workers are chosen by X-Runpod-Worker-Id", async () => {
    await using app = await startManual({ emulator: { coldStartMs: 0 }, fields: { scalerValue: 1 } });
    const pinned = (worker: string) => plain(app, "/x", { headers: { "x-runpod-worker-id": worker } });
    const first = plain(app, "/x");
    await until(() => waiting(app).length === 1);
    await app.clock.advance(0);
    const id = (await first).headers.get("x-runpod-worker-id") as string;
    for (const worker of [id, `strict ${id}`, "other"]) {
      const response = await pinned(worker);
      expect([response.status, response.headers.get("x-runpod-worker-id")]).toEqual([200, id]);
    }
    const gone = await pinned("strict other");
    expect([gone.status, await gone.json()]).toEqual([404, { error: "affinity_worker_gone" }]);
    await app.clock.advance(MINUTE);
    expect(workers(app)).toHaveLength(0);
    expect((await pinned(`strict ${id}`)).status).toBe(404);
    const resumed = pinned(`strict-resume ${id}`);
    await until(() => waiting(app).length === 1);
    await app.clock.advance(0);
    expect((await resumed).headers.get("x-runpod-worker-id")).toBe(id);
  });

  test("[lb.strict] workers keep a strict request waiting for at most five minutes", async () => {
    let status = 200;
    const handler: HttpHandler = {
      fetch: (request) => new Response(null, { status: request.url.endsWith("/ping") ? status : 200 }),
    };
    await using app = await startManual({ handler, emulator: { coldStartMs: 0 }, fields: { workersMin: 1 } });
    await app.clock.advance(0);
    const id = (await plain(app, "/x")).headers.get("x-runpod-worker-id");
    status = 500;
    await app.clock.advance(1_000);
    const held = plain(app, "/x", { headers: { "x-runpod-worker-id": `strict ${id}` } });
    await until(() => waiting(app).length === 1);
    await app.clock.advance(5 * MINUTE - 1);
    expect(waiting(app)).toHaveLength(1);
    await app.clock.advance(1);
    expect(await (await held).json()).toEqual({ error: "worker_timeout" });
  });

  test("[lb.processing] workers have 5.5 minutes to process a request", async () => {
    const { handler } = startScripted();
    await using app = await startManual({ handler, emulator: { coldStartMs: 0 }, fields: { workersMin: 1 } });
    await app.clock.advance(0);
    const response = plain(app, "/held");
    await until(() => waiting(app).length === 1);
    await sleep(20);
    await app.clock.advance(5.5 * MINUTE - 1);
    expect(waiting(app)).toHaveLength(1);
    await app.clock.advance(1);
    expect((await response).status).toBe(524);
  });

  test("[lb.unreachable] [lb.no-retry] workers fail their requests with 502 when they are lost, without a retry", async () => {
    const { handler, requests } = startScripted();
    await using app = await startLoadBalanced({ handler, fields: { workersMin: 1 } });
    app.emulator.faults.add({ effect: { killWorker: true }, times: 1 });
    expect((await plain(app, "/held")).status).toBe(502);
    expect(requests()).toBeLessThanOrEqual(1);
    expect((await plain(app, "/x")).status).toBe(200);
  });

  test("[lb.wrong-ports] workers return 502 and stop after 8 minutes if their ports are not exposed", async () => {
    const seed = {
      templates: [{ id: "t", name: "t", imageName: "i", env: [{ key: "PORT", value: "8000" }], ports: "80/http" }],
    };
    await using app = await startManual({ emulator: { coldStartMs: 0, seed }, fields: { workersMin: 1 } });
    await app.clock.advance(0);
    expect((await plain(app, "/x")).status).toBe(502);
    const [worker] = workers(app);
    await app.clock.advance(8 * MINUTE);
    expect(workers(app).map(({ id }) => id)).not.toContain(worker?.id);
  });

  test("workers keep no request open after a client closes its connection", async () => {
    const { handler, aborted } = startScripted();
    await using app = await startLoadBalanced({ handler });
    const controller = new AbortController();
    const response = plain(app, "/held", { signal: controller.signal });
    await until(() => waiting(app).length === 1);
    controller.abort();
    await expect(response).rejects.toThrow();
    await until(() => aborted() || waiting(app).length === 0);
    expect((await plain(app, "/x")).status).toBe(200);
  });
});

describe("limits", () => {
  test("[lb.body-limit] a request body can contain up to 30 MB", async () => {
    await using app = await startLoadBalanced({ fields: { workersMin: 1 } });
    const ok = await plain(app, "/x", { method: "POST", body: Buffer.alloc(25_000_000) });
    expect(ok.status).toBe(200);
    await ok.body?.cancel();
    expect((await plain(app, "/x", { method: "POST", body: Buffer.alloc(30_000_001) })).status).toBe(413);
  });

  test("[lb.body-limit] a chunked body is cut off at 30 MB, and the worker never sees the rest", async () => {
    const received: unknown[] = [];
    const handler: HttpHandler = {
      async fetch(request) {
        if (request.url.endsWith("/ping")) return new Response();
        const body = await request.arrayBuffer().then(
          ({ byteLength }) => byteLength,
          () => "broken off",
        );
        received.push(body);
        return new Response("read");
      },
    };
    await using app = await startLoadBalanced({ handler });
    const chunked = (megabytes: number) => {
      const chunks = Array.from({ length: megabytes }, () => Buffer.alloc(1_000_000));
      const body = Readable.toWeb(Readable.from(chunks, { objectMode: false }));
      return plain(app, "/x", { method: "POST", body, duplex: "half" } as unknown as RequestInit);
    };
    expect([(await chunked(30)).status, received]).toEqual([200, [30_000_000]]);
    expect((await chunked(31)).status).toBe(413);
    await until(() => received.length === 2);
    expect(received[1]).toBe("broken off");
    expect((await chunked(1)).status).toBe(200);
  });

  test.each([
    ["returns nothing", () => undefined, "the handler must return a Response, with a status from 200 to 599"],
    ["returns an error", () => Response.error(), "the handler must return a Response, with a status from 200 to 599"],
    ["throws an object without a text", () => Promise.reject(Object.create(null)), "a value without a text was thrown"],
  ])("a handler that %s responds with 500 and the reason", async (_, respond, reason) => {
    const fetch = (request: Request) => (request.url.endsWith("/ping") ? new Response() : (respond() as Response));
    await using app = await startLoadBalanced({ handler: { fetch } });
    const response = await plain(app, "/x");
    expect([response.status, await response.text()]).toEqual([500, `Internal Server Error: ${reason}\n`]);
  });

  test("[lb.response-limit] a response body can contain up to 30 MB", async () => {
    const handler: HttpHandler = {
      fetch: (request) => new Response(request.url.endsWith("/ping") ? "" : Buffer.alloc(30_000_001)),
    };
    await using app = await startLoadBalanced({ handler });
    const response = await plain(app, "/x");
    await expect(response.arrayBuffer()).rejects.toThrow();
  });
});
