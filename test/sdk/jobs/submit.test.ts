import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { createClient } from "../../../sdk/client/client";
import {
  AuthenticationError,
  InvalidInputError,
  NotFoundError,
  RateLimitError,
  RejectedError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import type { RequestEvent } from "../../../sdk/transport/observers";
import { CANARY, withoutCanary } from "../../support/emulated";
import { startQueue } from "../../support/queue";
import { startRawServer } from "../../support/rawServer";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

const REQUEST = { input: { prompt: "Hi" } };

describe("a submit", () => {
  test("a submit sends the request unchanged, and returns a handle of the job [contract.run] [contract.bearer]", async () => {
    await using server = await startScriptedServer(() => ({ body: { id: "job-1", status: "IN_QUEUE" } }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    const request = {
      input: { a: [1, null, "ü"] },
      webhook: "https://example.com/hook",
      policy: { lowPriority: true },
    };
    const job = await client.endpoint("abc").run(request);
    expect(job).toMatchObject({ id: "job-1", endpointId: "abc" });
    const [sent] = server.requests;
    expect(sent).toMatchObject({ method: "POST", path: "/v2/abc/run", query: {} });
    expect(sent?.headers).toMatchObject({ authorization: `Bearer ${CANARY}`, "content-type": "application/json" });
    expect(JSON.parse(sent?.body ?? "")).toEqual(request);
    await client.close();
  });

  test("a submit is refused before any call when its request is invalid", async () => {
    await using emulated = await startQueue();
    const error = await emulated.failure(emulated.queue.run({ input: [] as object, policy: { ttl: 1 } }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect((error as InvalidInputError).problems).toHaveLength(2);
    expect(() => emulated.client.endpoint("../other")).toThrow(InvalidInputError);
    expect(emulated.calls()).toEqual([]);
  });

  test("a submit that gets 429 three times is sent a fourth time, after pauses of up to 0.5, 1 and 2 s", async () => {
    const events: RequestEvent[] = [];
    await using emulated = await startQueue({ client: { onRequest: (event) => events.push(event) } });
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 }, times: 3 });
    await emulated.run(emulated.queue.run(REQUEST));
    expect(events.map(({ status, attempt }) => [status, attempt])).toEqual([
      [429, 1],
      [429, 2],
      [429, 3],
      [200, 4],
    ]);
    const sentAt = emulated.emulator.journal.requests({ operation: "run" }).map(({ at }) => at);
    const pauses = sentAt.slice(1).map((at, n) => at - (sentAt[n] as number));
    expect(pauses.map((pause, n) => pause <= 500 * 2 ** n + 1)).toEqual([true, true, true]);
    expect(emulated.emulator.journal.requests({ operation: "run", outcome: "ok" })).toHaveLength(1);
  });

  test("a submit that gets 429 with Retry-After waits exactly as long as the header says", async () => {
    await using emulated = await startQueue();
    const effect = { status: 429, headers: { "retry-after": "7" } };
    emulated.emulator.faults.add({ match: { operation: "run" }, effect, times: 1 });
    await emulated.run(emulated.queue.run(REQUEST));
    const [first, second] = emulated.emulator.journal.requests({ operation: "run" });
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(7_000);
  });

  test("a submit that always gets 429 fails after six attempts, and certainly created no job", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 } });
    const error = await emulated.failure(emulated.queue.run(REQUEST));
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ attempts: 6, disposition: "wait" });
    expect(emulated.calls()).toHaveLength(6);
  });

  test.each([
    ["is cut after the body was sent", { reset: true, when: "after" }],
    ["is cut before the service did anything", { reset: true }],
    ["is a 500", { status: 500, when: "after" }],
    ["is a 502 with a web page", { html: true }],
    ["is cut in the middle", { reset: "midway" }],
    ["is truncated", { truncated: true }],
    ["never comes", { hang: true, when: "after" }],
  ] as const)("a submit whose connection or response %s is sent exactly once [contract.submit-lost]", async (_, effect) => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "run" }, effect });
    const error = await emulated.failure(emulated.queue.run(REQUEST));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.message).toMatch(/may have been submitted/);
    expect(emulated.calls()).toEqual(["run"]);
  });

  test("a submit whose response has no id is uncertain, and the error explains the problem with the response", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({
      match: { operation: "run" },
      effect: { status: 200, body: { status: "IN_QUEUE" } },
    });
    const error = await emulated.failure(emulated.queue.run(REQUEST));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(error.cause).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("id");
    expect(emulated.calls()).toHaveLength(1);
  });

  test("an idempotent submit is sent again if its response was lost", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 2 });
    const job = await emulated.run(emulated.queue.run(REQUEST, { idempotent: true }));
    expect(emulated.calls()).toEqual(["run", "run", "run"]);
    expect((await emulated.run(job.wait())).output).toEqual(REQUEST.input);
  });

  test("an idempotent submit is uncertain if it is refused only after a lost response", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 1 });
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 } });
    const error = await emulated.failure(emulated.queue.run(REQUEST, { idempotent: true }));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(error.cause).toBeInstanceOf(RateLimitError);
    expect(emulated.emulator.journal.operations({ operation: "run" })).toHaveLength(6);
  });

  test.each([
    [400, RejectedError],
    [401, AuthenticationError],
    [404, NotFoundError],
  ])("a submit that gets %d is not sent again", async (status, kind) => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status } });
    expect(await emulated.failure(emulated.queue.run(REQUEST))).toBeInstanceOf(kind);
    expect(emulated.calls()).toHaveLength(1);
  });

  test("a submit that could not connect certainly created no job", async () => {
    const client = createClient({ apiKey: CANARY, queueUrl: "http://127.0.0.1:1", retry: { maxAttempts: 2 } });
    const error = await client.endpoint("abc").run(REQUEST).catch(withoutCanary);
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    await client.close();
  });

  test("a submit is not sent again by the transport if a reused connection turns out to be closed", async () => {
    await using server = await startHangUpServer();
    const client = createClient({ apiKey: CANARY, queueUrl: server.url });
    const queue = client.endpoint("abc");
    await queue.run(REQUEST);
    const error = await queue.run(REQUEST).catch(withoutCanary);
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(server.requests()).toBe(2);
    await client.close();
  });
});

/** Responds to the first request of all, then hangs up on each at its last byte. */
async function startHangUpServer() {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      if (!data.toString().includes('{"input"')) return;
      requests++;
      if (requests > 1) return void socket.destroy();
      const body = '{"id":"job-1","status":"IN_QUEUE"}';
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

test("a submit accepts undefined for each optional field", async () => {
  await using emulated = await startQueue();
  const policy = { executionTimeout: undefined, lowPriority: undefined, ttl: undefined };
  const s3Config = { accessId: undefined, accessSecret: undefined, bucketName: undefined, endpointUrl: undefined };
  await emulated.run(emulated.queue.run({ input: {}, webhook: undefined, policy, s3Config }));
  await emulated.run(emulated.queue.run({ input: {}, policy: undefined, s3Config: undefined }));
});

describe("an aborted submit", () => {
  type Line = readonly [level: string, message: string];

  async function abortedAt(
    url: string,
    submit: (client: ReturnType<typeof createClient>, signal: AbortSignal) => unknown,
    until: () => Promise<void>,
  ) {
    const lines: Line[] = [];
    const logger = (level: string, message: string) => void lines.push([level, message]);
    await using client = createClient({ apiKey: CANARY, queueUrl: url, logger });
    const controller = new AbortController();
    const submitting = Promise.resolve(submit(client, controller.signal)).catch((error: unknown) => error);
    await until();
    controller.abort(new Error("enough"));
    expect(await submitting).toMatchObject({ message: "enough" });
    return lines.filter(([level]) => level === "error").map(([, message]) => message);
  }

  test.each<[string, (client: ReturnType<typeof createClient>, signal: AbortSignal) => unknown]>([
    ["run", (client, signal) => client.endpoint("ep").run(REQUEST, { signal })],
    ["runSync", (client, signal) => client.endpoint("ep").runSync(REQUEST, { signal })],
    ["openai", (client, signal) => client.endpoint("ep").openai("v1/embeddings", { body: {}, signal })],
  ])("%s logs at level error that a paid job may be running if the request was sent", async (_name, submit) => {
    await using server = await startRawServer(() => {});
    const arrival = once(server.server, "request");
    const errors = await abortedAt(server.url, submit, async () => void (await arrival));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(
      /at endpoint ep was aborted after it was sent. A job may run, and you may be charged for it/,
    );
  });

  test("logs nothing if it was never sent or was refused", async () => {
    const submit = (client: ReturnType<typeof createClient>, signal: AbortSignal) =>
      client.endpoint("ep").run(REQUEST, { signal });
    const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 100));
    // A server that accepts no TLS handshake: the connection is never made.
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    expect(await abortedAt(`https://localhost:${port}`, submit, pause)).toEqual([]);
    silent.close();
    await using refusing = await startRawServer((_, response) => response.writeHead(429).end());
    expect(await abortedAt(refusing.url, submit, pause)).toEqual([]);
  });
});
