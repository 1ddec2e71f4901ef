import fc from "fast-check";
import { ConfigurationError, InvalidInputError, RequestTimeoutError, ServiceFaultError } from "../../../sdk";
import { CANARY, startEmulated, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

const ENDPOINT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc" } as const;

/** A server that keeps the headers and the time of each request, and responds with `status`. */
async function startEcho(status = 200, body = "{}") {
  const headers: NodeJS.Dict<string | string[]>[] = [];
  const server = await startRawServer((request, response) => {
    headers.push(request.headers);
    response.writeHead(status, { "x-request-id": `r${headers.length}` }).end(body);
  });
  return { ...server, headers };
}

describe("maxRetries of a call", () => {
  test.each([0, 1, 2])("%d: repeats the request at most that many times", async (maxRetries) => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ effect: { status: 503 } });
    for (const call of [
      () => emulated.client.endpoints.list({ maxRetries }),
      () => emulated.client.pods.get("p1", { maxRetries }),
      () => emulated.client.endpoint("e1").health({ maxRetries }),
      () => emulated.client.endpoint("e1").status("j1", { maxRetries }),
      () => emulated.client.endpoint("e1").job("j1").cancel({ maxRetries }),
    ]) {
      const sent = emulated.calls().length;
      expect(await emulated.failure(call())).toMatchObject({ code: "SERVICE_FAULT", attempts: maxRetries + 1 });
      expect(emulated.calls()).toHaveLength(sent + maxRetries + 1);
    }
  });

  test("0: still finds the endpoint of a create whose response was lost", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true }, times: 1 });
    emulated.emulator.faults.add({
      match: { operation: "saveEndpoint" },
      effect: { reset: true, when: "after" },
      times: 1,
    });
    const error = await emulated.failure(emulated.client.endpoints.create(ENDPOINT, { maxRetries: 0 }));
    expect(error).toMatchObject({ code: "CONNECTION", attempts: 1 });
    expect(await emulated.run(emulated.client.endpoints.create(ENDPOINT, { maxRetries: 0 }))).toMatchObject({
      name: "llama",
    });
    expect(await emulated.run(emulated.client.endpoints.list())).toHaveLength(1);
  });
});

describe("timeoutMs of a call", () => {
  test("timeoutMs of a call ends the call after that time, and not earlier", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ effect: { hang: true } });
    for (const call of [
      () => emulated.client.endpoints.list({ timeoutMs: 1_500 }),
      () => emulated.client.pods.get("p1", { timeoutMs: 1_500 }),
      () => emulated.client.endpoint("e1").health({ timeoutMs: 1_500 }),
      () => emulated.client.endpoint("e1").job("j1").status({ timeoutMs: 1_500 }),
    ]) {
      const begunAt = emulated.clock.monotonic();
      expect(await emulated.failure(call())).toBeInstanceOf(RequestTimeoutError);
      const tookMs = emulated.clock.monotonic() - begunAt;
      expect([tookMs >= 1_500, tookMs <= 2_000]).toEqual([true, true]);
    }
    expect(emulated.timers()).toBe(0);
  });

  test("timeoutMs of a call does not affect other readers of the same list", async () => {
    await using emulated = await startEmulated();
    await emulated.run(emulated.client.endpoints.create(ENDPOINT));
    emulated.emulator.faults.add({ match: { operation: "myself" }, effect: { hang: true }, times: 1 });
    const hurried = emulated.failure(emulated.client.endpoints.list({ timeoutMs: 500 }));
    expect(await emulated.run(emulated.client.endpoints.list())).toHaveLength(1);
    expect(await hurried).toBeInstanceOf(RequestTimeoutError);
  });
});

describe("headers", () => {
  test("headers of the client are sent with all requests, and headers of a call take precedence", async () => {
    await using server = await startEcho(503);
    await using client = clientOf(server, { retry: { maxAttempts: 1 }, headers: { "X-Team": "a", "X-Trace": "none" } });
    const headers = { "x-trace": "t1" };
    await expect(client.endpoints.list()).rejects.toBeInstanceOf(ServiceFaultError);
    await expect(client.endpoint("e1").health({ headers })).rejects.toBeInstanceOf(ServiceFaultError);
    expect(server.headers).toMatchObject([
      { "x-team": "a", "x-trace": "none" },
      { "x-team": "a", "x-trace": "t1" },
    ]);
    expect(() => clientOf(server, { headers: { Authorization: "Bearer other" } })).toThrow(ConfigurationError);
  });
});

describe("headers of a call", () => {
  test("headers of a call are sent with each attempt over all three APIs, in addition to the client's headers", async () => {
    await using server = await startEcho(503);
    const client = clientOf(server, { retry: { maxAttempts: 2 } });
    const headers = { "X-Trace": "t1", "User-Agent": "mine/2" };
    await expect(client.endpoints.list({ headers })).rejects.toBeInstanceOf(ServiceFaultError);
    await expect(client.pods.get("p1", { headers })).rejects.toBeInstanceOf(ServiceFaultError);
    await expect(client.endpoint("e1").health({ headers })).rejects.toBeInstanceOf(ServiceFaultError);
    expect(server.headers).toHaveLength(6);
    for (const received of server.headers) expect(received).toMatchObject({ "x-trace": "t1", "user-agent": "mine/2" });
    expect(server.headers.at(-1)).toMatchObject({ authorization: `Bearer ${CANARY}` });
    await client.close();
  });

  test.each([
    ["Authorization", "Bearer other", /set by the client/],
    ["content-type", "text/plain", /set by the client/],
    ["Host", "elsewhere", /set by the client/],
    ["x-a", "1\r\nauthorization: Bearer other", /line breaks/],
    ["x-a\r\nhost", "1", /not the name of a header/],
    ["", "1", /not the name of a header/],
    ["x-a", "€", /Latin-1/],
    ["x-a", 1 as unknown as string, /must be a string/],
  ])("%j: %j is refused before anything is sent", async (name, value, message) => {
    await using server = await startEcho();
    const client = clientOf(server);
    for (const call of [
      () => client.endpoints.create(ENDPOINT, { headers: { [name]: value } }),
      () => client.pods.get("p1", { headers: { [name]: value } }),
      () => client.endpoint("e1").run({ input: {} }, { headers: { [name]: value } }),
    ]) {
      const error = withoutCanary(
        await call().then(
          () => undefined,
          (failure: unknown) => failure,
        ),
      );
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error.message).toMatch(message);
      expect(error.message).not.toContain("other");
    }
    expect(server.headers).toEqual([]);
    await client.close();
  });

  test("headers of any kind are sent unchanged, or refused", async () => {
    await using server = await startEcho(200, '{"jobs":{},"workers":{}}');
    const client = clientOf(server);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 12 }), async (value) => {
        const before = server.headers.length;
        const call = client.endpoint("e1").requests({ headers: { "x-a": value } });
        const error: unknown = await call.then(
          () => undefined,
          (failure: unknown) => failure,
        );
        if (error !== undefined) {
          expect(error).toBeInstanceOf(InvalidInputError);
          expect(server.headers).toHaveLength(before);
        } else {
          // Spaces around a value are not part of it (RFC 9110, Field Values).
          expect(server.headers.at(-1)?.["x-a"]).toBe(value.replace(/^[ \t]+|[ \t]+$/g, ""));
        }
      }),
      { numRuns: 300 },
    );
    await client.close();
  });
});

describe("bad options of a call", () => {
  test.each([
    { timeoutMs: 0 },
    { timeoutMs: -1 },
    { timeoutMs: Number.NaN },
    { timeoutMs: "5" as unknown as number },
    { maxRetries: -1 },
    { maxRetries: 0.5 },
    { maxRetries: Number.POSITIVE_INFINITY },
    { headers: [] as unknown as Record<string, string> },
    { headers: new Map() as unknown as Record<string, string> },
    { headers: "x-a: 1" as unknown as Record<string, string> },
  ])("%j: cause an InvalidInputError, and nothing is sent", async (options) => {
    await using server = await startEcho();
    const client = clientOf(server);
    for (const call of [
      () => client.endpoints.create(ENDPOINT, options),
      () => client.endpoints.list(options),
      () => client.endpoints.delete("e1", options),
      () => client.pods.get("p1", options),
      () => client.endpoint("e1").run({ input: {} }, options),
      () => client.endpoint("e1").purgeQueue(options),
      () => client.endpoint("e1").job("j1").retry(options),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(InvalidInputError);
    }
    expect(server.headers).toEqual([]);
    await client.close();
  });
});

describe("withResponse", () => {
  test("resolves with the value and its response, over all three APIs", async () => {
    await using emulated = await startEmulated();
    const created = await emulated.run(emulated.client.endpoints.create(ENDPOINT).withResponse());
    expect(created).toMatchObject({ data: { name: "llama" }, response: { status: 200 } });
    const { data: listed, response } = await emulated.run(emulated.client.endpoints.list().withResponse());
    expect([listed.length, response.headers["content-type"]]).toEqual([1, "application/json"]);
    const queue = emulated.client.endpoint(created.data.id);
    const { data: job } = await emulated.run(queue.run({ input: { a: 1 } }).withResponse());
    expect(await emulated.run(queue.status(job.id).withResponse())).toMatchObject({
      data: { id: job.id },
      response: { status: 200 },
    });
    expect(await emulated.run(job.status().withResponse())).toMatchObject({
      data: { id: job.id },
      response: { status: 200 },
    });
    expect(await emulated.run(job.cancel().withResponse())).toMatchObject({ response: { status: 200 } });
    expect(await emulated.run(queue.health().withResponse())).toMatchObject({
      data: { jobs: {} },
      response: { status: 200 },
    });
  });

  test("withResponse returns the last attempt's response with the service's request id", async () => {
    let count = 0;
    await using server = await startRawServer((_, response) => {
      count++;
      response
        .writeHead(count === 1 ? 503 : 200, { "x-request-id": `r${count}`, "set-cookie": ["a=1", "b=2"] })
        .end("{}");
    });
    const client = clientOf(server);
    const { response } = await client.endpoint("e1").requests().withResponse();
    expect(response).toMatchObject({ status: 200, requestId: "r2", headers: { "set-cookie": ["a=1", "b=2"] } });
    await client.close();
  });

  test("rejects with the error of the call, and leaves no unhandled rejection", async () => {
    const client = clientOf({ url: "http://127.0.0.1:1" }, { retry: { maxAttempts: 1 } });
    await expect(client.endpoint("e1").health().withResponse()).rejects.toMatchObject({ code: "CANNOT_CONNECT" });
    await client.close();
  });

  test("withResponse shares a list between readers, which all receive its response", async () => {
    await using emulated = await startEmulated();
    const all = await emulated.run(Promise.all([1, 2, 3].map(() => emulated.client.endpoints.list().withResponse())));
    expect(all.map(({ response }) => response.status)).toEqual([200, 200, 200]);
    expect(emulated.calls()).toEqual(["myself"]);
  });
});
