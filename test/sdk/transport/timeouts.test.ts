import { spawnSync } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createClient } from "../../../sdk/client/client";
import { CodedError, RequestTimeoutError } from "../../../sdk/errors/errors";
import { CANARY, type Emulated, startEmulated, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

const INPUT = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" } as const;
const myself = { operation: "myself" };

/**
 * Aborts the call after a virtual time. Returns its error, and the time from the abort to the
 * error.
 */
async function abortAfter(emulated: Emulated, ms: number, start: (signal: AbortSignal) => Promise<unknown>) {
  const controller = new AbortController();
  const reason = new Error("enough");
  const failing = start(controller.signal).then(
    () => undefined,
    (error: unknown) => error,
  );
  await emulated.clock.advance(ms);
  const abortedAt = emulated.clock.now();
  controller.abort(reason);
  // No time passes on the clock here: a pause that is not ended would never end.
  const error = await failing;
  // A deletion that was under way says what has become of the endpoint, and keeps the reason as its
  // cause.
  const isInterrupted = error instanceof CodedError && error.code === "INTERRUPTED";
  expect(isInterrupted ? String(error.cause) : error).toEqual(isInterrupted ? String(reason) : reason);
  expect(emulated.clock.now()).toBe(abortedAt);
  expect(getEventListeners(controller.signal, "abort")).toHaveLength(0);
  return { calls: emulated.calls().length, timers: emulated.timers() };
}

describe("an attempt", () => {
  test("an attempt may take 30 s to respond, and is then aborted and repeated", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect: { hang: true }, times: 2 });
    await emulated.run(emulated.client.endpoints.list());
    const entries = emulated.emulator.journal.requests();
    expect(entries.map(({ outcome }) => outcome)).toEqual(["cut", "cut", "ok"]);
    for (const { durationMs } of entries.slice(0, 2)) {
      expect(durationMs).toBeGreaterThanOrEqual(30_000);
      expect(durationMs).toBeLessThan(30_400);
    }
    expect(emulated.timers()).toBe(0);
  });

  test("an attempt may take as long as the client's option allows", async () => {
    await using emulated = await startEmulated({ client: { attemptTimeoutMs: 1_500, retry: { maxAttempts: 1 } } });
    emulated.emulator.faults.add({ match: myself, effect: { hang: true } });
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error.message).toMatch(/^the list of endpoints: no complete response within 1.5 s\. /);
    expect(emulated.timers()).toBe(0);
  });

  test("an attempt has a time limit for the whole response, including the body", async () => {
    const server = createServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "application/json" });
      outgoing.write('{"data": {"myself": {"endpoints": [');
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const graphqlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ apiKey: CANARY, graphqlUrl, attemptTimeoutMs: 50, retry: { maxAttempts: 1 } });
    await expect(client.endpoints.list()).rejects.toThrow(RequestTimeoutError);
    await client.close();
    server.closeAllConnections();
    server.close();
  });
});

describe("a call", () => {
  test("a call ends within 120 s, regardless of its attempts", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect: { hang: true } });
    const startedAt = emulated.clock.now();
    const error = await emulated.failure(emulated.client.endpoints.list());
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error.message).toMatch(/given up after [45] attempts in 120 s/);
    expect(emulated.clock.now() - startedAt).toBeLessThanOrEqual(120_200);
    expect(emulated.timers()).toBe(0);
  });

  test("a call ends within the time that the client's option allows", async () => {
    await using emulated = await startEmulated({ client: { retry: { maxElapsedMs: 10_000, maxAttempts: 99 } } });
    emulated.emulator.faults.add({ match: myself, effect: { status: 503 } });
    const startedAt = emulated.clock.now();
    await emulated.failure(emulated.client.endpoints.list());
    expect(emulated.clock.now() - startedAt).toBeLessThanOrEqual(10_200);
    expect(emulated.calls().length).toBeLessThan(60);
  });

  test("a call leaves no timer and no listener when it succeeds", async () => {
    await using emulated = await startEmulated();
    const { signal } = new AbortController();
    const created = await emulated.run(emulated.client.endpoints.create(INPUT, { signal }));
    await emulated.run(emulated.client.endpoints.update(created.id, { workersMax: 1 }, { signal }));
    await emulated.run(emulated.client.endpoints.delete(created.id, { signal }));
    await emulated.run(emulated.client.endpoints.getServerlessDiscount({ signal }));
    expect(emulated.timers()).toBe(0);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });
});

describe("an abort", () => {
  test("an abort before the call sends nothing", async () => {
    await using emulated = await startEmulated();
    const signal = AbortSignal.abort(new Error("enough"));
    const { endpoints, pods } = emulated.client;
    const calls = [
      endpoints.list({ signal }),
      endpoints.get("ep", { signal }),
      endpoints.create(INPUT, { signal }),
      endpoints.delete("ep", { signal }),
      endpoints.getServerlessDiscount({ signal }),
      pods.get("pod", { signal }),
    ];
    for (const call of calls) await expect(call).rejects.toThrow("enough");
    expect(emulated.calls()).toEqual([]);
    expect(emulated.timers()).toBe(0);
  });

  test("an abort ends a request that hangs, and closes its connection", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: myself, effect: { hang: true } });
    const left = await abortAfter(emulated, 10_000, (signal) =>
      emulated.client.endpoints.getServerlessDiscount({ signal }),
    );
    expect(left).toEqual({ calls: 1, timers: 0 });
  });

  test("an abort ends a pause of 30 s at once, and leaves no timer", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ effect: { status: 429, headers: { "retry-after": "30" } } });
    const left = await abortAfter(emulated, 10_000, (signal) => emulated.client.pods.get("pod-1", { signal }));
    expect(left).toEqual({ calls: 1, timers: 0 });
    await emulated.clock.advance(120_000);
    expect(emulated.calls()).toHaveLength(1);
  });

  test("an abort ends the attempts of a list that no other reader waits for", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ effect: { status: 429, headers: { "retry-after": "30" } } });
    await abortAfter(emulated, 10_000, (signal) => emulated.client.endpoints.list({ signal }));
    await emulated.clock.advance(120_000);
    expect(emulated.calls()).toHaveLength(1);
    expect(emulated.timers()).toBe(0);
  });

  test("an abort ends a wait for lists to catch up", async () => {
    await using emulated = await startEmulated();
    const left = await abortAfter(emulated, 2_000, (signal) => emulated.client.endpoints.find("nowhere", { signal }));
    expect(left).toEqual({ calls: 1, timers: 0 });
  });

  test("an abort ends the wait before the search for a create whose response was lost", async () => {
    await using emulated = await startEmulated();
    emulated.emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { reset: true } });
    const left = await abortAfter(emulated, 2_000, (signal) => emulated.client.endpoints.create(INPUT, { signal }));
    expect(left).toEqual({ calls: 2, timers: 0 });
  });

  test("an abort ends the wait for workers to stop, and another deletion completes the work", async () => {
    await using emulated = await startEmulated({ emulator: { drainMs: 60_000 } });
    const { id } = emulated.emulator.endpoints.create({ ...INPUT, workersMin: 1 });
    await emulated.clock.advance(1_000);
    const left = await abortAfter(emulated, 20_000, (signal) => emulated.client.endpoints.delete(id, { signal }));
    expect(left.timers).toBe(0);
    await emulated.run(emulated.client.endpoints.delete(id));
    expect(emulated.emulator.endpoints.get(id)).toBeUndefined();
  });

  test("an abort without a reason rejects with an AbortError", async () => {
    await using emulated = await startEmulated();
    await expect(emulated.client.endpoints.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      name: "AbortError",
    });
  });
});

describe("where nothing responds", () => {
  test("the error names the URL but not the key", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const graphqlUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.close();
    await once(server, "close");
    const client = createClient({ apiKey: CANARY, graphqlUrl, retry: { maxAttempts: 1 } });
    const error = withoutCanary(await client.endpoints.list().catch((reason: unknown) => reason));
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    expect(error.message).toBe(
      `the list of endpoints: nothing is listening at ${graphqlUrl}. Check the URL, or start the emulator if you use it`,
    );
    await client.close();
  });

  test("a closed client reports that it is closed", async () => {
    const client = createClient({ apiKey: CANARY, graphqlUrl: "http://127.0.0.1:1" });
    await client.close();
    const error = withoutCanary(await client.endpoints.list().catch((reason: unknown) => reason));
    expect(error).toMatchObject({ code: "CLIENT_CLOSED" });
  });
});

/** A key and a self-signed certificate, as PEM. `undefined` without openssl. */
const UNSIGNED = spawnSync("openssl", [
  ..."req -x509 -newkey rsa:2048 -nodes -keyout - -subj /CN=localhost -days 1".split(" "),
]).stdout?.toString();

describe("when no TLS connection can be made", () => {
  async function submitTo(server: ReturnType<typeof createServer>) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const queueUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const client = createClient({ apiKey: CANARY, queueUrl, retry: { maxAttempts: 1 } });
    const submitting = client.endpoint("llama").run({ input: {} });
    const error = await submitting.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    await client.close();
    server.close();
    return { error: withoutCanary(error), host: queueUrl };
  }

  test("nothing is submitted to a server that speaks plain HTTP, and the error explains why", async () => {
    const { error, host } = await submitTo(createServer());
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    expect(error).toMatchObject({ message: expect.stringContaining(`${host} does not speak TLS`) });
  });

  (UNSIGNED ? test : test.skip)("because nobody vouches for the certificate, the same", async () => {
    const { error, host } = await submitTo(createTlsServer({ key: UNSIGNED, cert: UNSIGNED }));
    expect(error).toMatchObject({ code: "UNTRUSTED_CERTIFICATE" });
    expect(error).toMatchObject({ message: expect.stringContaining(`the certificate of ${host} is not trusted`) });
  });
});

test("a wait ends when its reads have been too slow for longer than the maximum outage", async () => {
  await using server = await startRawServer((_incoming, outgoing) => {
    const timer = setInterval(() => outgoing.write(" "), 100);
    outgoing.on("close", () => clearInterval(timer));
  });
  const client = clientOf(server, { attemptTimeoutMs: 500, retry: { maxElapsedMs: 1_000 } });
  await expect(client.endpoint("ep").job("job-1").wait()).rejects.toMatchObject({ code: "REQUEST_TIMEOUT" });
  await client.close();
}, 60_000);
