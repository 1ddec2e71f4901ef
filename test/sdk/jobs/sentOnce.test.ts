import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Socket } from "node:net";
import { createClient } from "../../../sdk/client/client";
import { NotFoundError, RateLimitError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { PurgeUncertainError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { startQueue } from "../../support/queue";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

const LOST = { reset: true, when: "after" } as const;

describe("a purge of the queue", () => {
  test.each([
    ["was lost", LOST],
    ["was lost before the service did anything", { reset: true }],
    ["is a fault of the service", { status: 500, when: "after" }],
    ["is a web page", { html: true }],
    ["has another shape", { status: 200, body: { removed: "many" } }],
  ] as const)("a purge whose response %s is not sent again, and the error says what to check [contract.purge-lost]", async (_, effect) => {
    await using emulated = await startQueue({ workers: 0, emulator: { coldStartMs: 600_000 } });
    await emulated.run(emulated.queue.run({ input: {} }));
    emulated.emulator.faults.add({ match: { operation: "purge-queue" }, effect, times: 1 });
    const error = await emulated.failure(emulated.queue.purgeQueue());
    expect(error).toBeInstanceOf(PurgeUncertainError);
    expect(error).toMatchObject({ code: "PURGE_UNCERTAIN", disposition: "stop", cause: expect.any(Error) });
    expect(error.message).toMatch(/may have taken effect.*jobs that were submitted since.*health\(\)/);
    expect(emulated.emulator.journal.operations({ operation: "purge-queue" })).toHaveLength(1);
  });

  test("a purge of the queue does not remove a job that was submitted afterwards", async () => {
    await using emulated = await startQueue({ workers: 0, emulator: { coldStartMs: 60_000 } });
    const before = await emulated.run(emulated.queue.run({ input: {} }));
    emulated.emulator.faults.add({ match: { operation: "purge-queue" }, effect: LOST, times: 1 });
    const purge = emulated.failure(emulated.queue.purgeQueue());
    const after = await emulated.run(emulated.queue.run({ input: { kept: true } }));
    await purge;
    expect((await emulated.run(after.wait())).output).toEqual({ kept: true });
    expect(await emulated.failure(before.status())).toBeInstanceOf(NotFoundError);
  });

  test("a purge that is refused with 429 is sent again, and finally fails as refused", async () => {
    await using emulated = await startQueue();
    const rule = emulated.emulator.faults.add({
      match: { operation: "purge-queue" },
      effect: { status: 429 },
      times: 2,
    });
    expect(await emulated.run(emulated.queue.purgeQueue())).toEqual({ removed: 0, status: "completed" });
    emulated.emulator.faults.remove(rule.id);
    emulated.emulator.faults.add({ match: { operation: "purge-queue" }, effect: { status: 429 } });
    expect(await emulated.failure(emulated.queue.purgeQueue())).toBeInstanceOf(RateLimitError);
  });
});

/** A client of a server that gives this response to everything. */
async function respondingWith(body: unknown, status = 200) {
  const server = await startScriptedServer(() => ({ status, body }));
  const client = createClient({ apiKey: CANARY, ...addressesOf(server), retry: { maxAttempts: 1 } });
  return {
    queue: client.endpoint("abc"),
    requests: server.requests,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("a response with a field of another type", () => {
  const RESULT = { id: "job-1", status: "COMPLETED", output: { paid: true } };

  test.each([
    [
      { delayTime: "12", executionTime: "1.5", retries: "0" },
      { delayTime: 12, executionTime: 1.5, retries: 0 },
    ],
    [{ workerId: 5 }, { workerId: "5" }],
    [{ delayTime: "a while", executionTime: {}, retries: [], workerId: {} }, {}],
    [
      { delayTime: null, workerId: null },
      { delayTime: null, workerId: null },
    ],
    [{ executionTime: "" }, {}],
  ])("a response with a field of another type keeps the result next to that field: %j is read as %j", async (odd, read) => {
    await using emulated = await respondingWith({ ...RESULT, ...odd });
    for (const job of [
      await emulated.queue.status("job-1"),
      await emulated.queue.job("job-1").wait(),
      await emulated.queue.runSync({ input: {} }),
    ]) {
      expect(job).toEqual({ ...RESULT, ...read });
    }
  });

  test("a number is accepted as an id", async () => {
    await using emulated = await respondingWith({ ...RESULT, id: 17 });
    expect(await emulated.queue.status("17")).toEqual({ ...RESULT, id: "17" });
    expect((await emulated.queue.run({ input: {} })).id).toBe("17");
  });

  test("numeric strings are read in the responses of purge and health, and in the statistics of a stream chunk", async () => {
    await using purge = await respondingWith({ removed: "3", status: "completed" });
    expect(await purge.queue.purgeQueue()).toEqual({ removed: 3, status: "completed" });
    const jobs = { completed: "1", failed: 0, inProgress: 0, inQueue: "2", retried: 0 };
    await using health = await respondingWith({ jobs, workers: { idle: "1", running: 0, throttled: "none" } });
    expect(await health.queue.health()).toEqual({
      jobs: { ...jobs, completed: 1, inQueue: 2 },
      workers: { idle: 1, running: 0 },
    });
  });
});

describe("a submit whose response is odd", () => {
  test.each([
    ["no state", { id: "job-1" }],
    ["a number as the state", { id: "job-1", status: 200 }],
  ])("a submit whose response is odd succeeds if the response contains an id and %s", async (_, body) => {
    await using emulated = await respondingWith(body);
    expect((await emulated.queue.run({ input: {} })).id).toBe("job-1");
    expect(emulated.requests).toHaveLength(1);
  });

  test("a submit whose response is odd continues with /status if /runsync returns an id but no state", async () => {
    const complete = { id: "job-1", status: "COMPLETED", output: 4 };
    await using server = await startScriptedServer(({ path }) => ({
      body: path.endsWith("/runsync") ? { id: "job-1", status: null } : complete,
    }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    expect(await client.endpoint("abc").runSync({ input: {} })).toEqual(complete);
    expect(server.requests.filter(({ path }) => path.endsWith("/runsync"))).toHaveLength(1);
    await client.close();
  });

  test.each([
    ["no id", { status: "IN_QUEUE" }, undefined],
    ["half of its JSON, with the id", '{"id":"job-1","status":"IN_Q', "job-1"],
    ["half of its JSON, without the id", '{"status":"IN_QUEUE","id":"jo', undefined],
    ["an id that could not be asked for", { id: "../run", status: "IN_QUEUE" }, "../run"],
    ["an id that is far too long", { id: "x".repeat(300), status: "IN_QUEUE" }, "x".repeat(300)],
    ["an id that holds the key", { id: `${CANARY}/`, status: "IN_QUEUE" }, "[redacted]/"],
  ])("a submit whose response is odd causes an error that contains the job's id, if the response contains one: %s", async (_, body, jobId) => {
    await using emulated = await respondingWith(body);
    for (const submit of [() => emulated.queue.run({ input: {} }), () => emulated.queue.runSync({ input: {} })]) {
      const error = withoutCanary(await submit().catch((reason: unknown) => reason));
      expect(error).toBeInstanceOf(SubmitUncertainError);
      expect((error as SubmitUncertainError).jobId).toBe(jobId);
      expect(error.message.length).toBeLessThan(1_500);
      if (jobId === "job-1") expect(error.message).toContain('client.endpoint("abc").job("job-1")');
    }
    expect(emulated.requests).toHaveLength(2);
  });

  test("a submit whose response is odd yields no id from an error response, because the id may belong to the error", async () => {
    await using emulated = await respondingWith({ id: "error-17", error: "overloaded" }, 500);
    expect(await emulated.queue.run({ input: {} }).catch(withoutCanary)).toMatchObject({
      code: "SUBMIT_UNCERTAIN",
      jobId: undefined,
    });
  });

  test("a submit whose response is odd returns the result that the response contains, regardless of the id", async () => {
    await using emulated = await respondingWith({ id: "a/b", status: "COMPLETED", output: "paid" });
    expect((await emulated.queue.runSync({ input: {} })).output).toBe("paid");
  });
});

describe("a response about another job", () => {
  test.each([
    ["status", (queue) => queue.status("job-1")],
    ["wait", (queue) => queue.job("job-1").wait()],
    ["cancel", (queue) => queue.job("job-1").cancel()],
    ["stream", (queue) => queue.job("job-1").stream().next()],
  ] as [
    string,
    (queue: ReturnType<ReturnType<typeof createClient>["endpoint"]>) => Promise<unknown>,
  ][])("a response about another job is refused by %s", async (_, call) => {
    await using emulated = await respondingWith({ id: "job-2", status: "COMPLETED", output: "another's", stream: [] });
    const error = withoutCanary(await call(emulated.queue).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("id: must be job-1");
  });

  test("a response about another job does not count as the response to a retry", async () => {
    await using server = await startScriptedServer(({ path }) => ({
      body: { id: path.includes("/retry/") ? "job-2" : "job-1", status: "FAILED" },
    }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    const error = await client.endpoint("abc").job("job-1").retry().catch(withoutCanary);
    expect(error).toMatchObject({ code: "RETRY_UNCERTAIN", jobId: "job-1" });
    expect(server.requests.filter(({ path }) => path.includes("/retry/"))).toHaveLength(1);
    await client.close();
  });
});

describe("a wait that nobody waits for any more", () => {
  /** Takes connections and never responds. */
  async function startSilentServer() {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket
        .on("error", () => {})
        .on("close", () => sockets.delete(socket))
        .resume();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      open: () => sockets.size,
      async [Symbol.asyncDispose]() {
        for (const socket of sockets) socket.destroy();
        server.close();
        await once(server, "close");
      },
    };
  }

  const patience = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  test.each([
    "is aborted",
    "has come to its deadline",
    "is ended by close()",
  ])("a wait that is no longer needed because it %s leaves no request behind, and close() does not wait for it", async (how) => {
    await using server = await startSilentServer();
    const client = createClient({ apiKey: CANARY, queueUrl: server.url });
    const job = client.endpoint("abc").job("job-1");
    const controller = new AbortController();
    const timeoutMs = how === "has come to its deadline" ? 300 : undefined;
    const waits = [
      job.wait({ signal: controller.signal, timeoutMs }).catch((error: unknown) => error),
      job.wait({ signal: controller.signal, timeoutMs }).catch((error: unknown) => error),
    ];
    while (server.open() === 0) await patience(5);
    if (how === "is aborted") controller.abort(new Error("enough"));
    if (how === "is ended by close()") client.close();
    await Promise.all(waits);
    const startedAt = performance.now();
    await client.close();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    while (server.open() > 0) await patience(5);
  });

  test("a wait that nobody waits for any more continues for the other waits", async () => {
    await using server = await startScriptedServer((_, number) => ({
      body: { id: "job-1", status: number < 3 ? "IN_PROGRESS" : "COMPLETED", output: 1 },
    }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    const job = client.endpoint("abc").job("job-1");
    const controller = new AbortController();
    const first = job.wait({ signal: controller.signal }).catch((error: unknown) => error);
    const second = job.wait();
    controller.abort("enough");
    expect(await first).toBe("enough");
    expect((await second).output).toBe(1);
    await client.close();
  });
});
