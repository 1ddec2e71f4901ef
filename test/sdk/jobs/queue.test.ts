import { createClient } from "../../../sdk/client/client";
import {
  AuthenticationError,
  ConfigurationError,
  NotFoundError,
  RateLimitError,
  RejectedError,
  ServiceFaultError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { CANARY } from "../../support/emulated";
import { sleeper, startQueue } from "../../support/queue";
import { addressesOf, startScriptedServer } from "../../support/scriptedServer";

describe("reading a job", () => {
  test("a read of a job returns every field of the contract, any additional fields, and times in milliseconds [contract.status] [contract.job-fields]", async () => {
    await using emulated = await startQueue({ handler: sleeper, emulator: { profile: "observed" } });
    const { id } = await emulated.run(emulated.queue.run({ input: { ms: 3_000 } }));
    await emulated.clock.advance(5_000);
    expect(await emulated.run(emulated.queue.status(id))).toMatchObject({
      id,
      status: "COMPLETED",
      delayTime: expect.any(Number),
      executionTime: 3_000,
      output: { slept: 3_000 },
      workerId: expect.any(String),
    });
    emulated.emulator.faults.add({
      match: { operation: "status" },
      effect: { status: 200, body: { id, status: "PAUSED", retries: 1, error: null, brandNew: { a: 1 } } },
    });
    expect(await emulated.run(emulated.queue.status(id))).toMatchObject({ status: "PAUSED", brandNew: { a: 1 } });
  });

  test.each([
    ["no id", { status: "COMPLETED" }],
    ["an empty id", { id: "", status: "COMPLETED" }],
    ["an error's number where the state should be", { id: "a", status: 401 }],
    ["a list", [{ id: "a", status: "COMPLETED" }]],
    ["nothing", null],
  ])("a read of a job throws an error about %s with a redacted excerpt [contract.job-id] [contract.other-shape]", async (_, body) => {
    await using emulated = await startQueue();
    const withKey = body && !Array.isArray(body) ? { ...body, note: CANARY } : body;
    emulated.emulator.faults.add({ match: { operation: "status" }, effect: { status: 200, body: withKey } });
    const error = await emulated.failure(emulated.queue.status("a"));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(emulated.calls()).toHaveLength(1);
  });

  test.each([
    ["returns 500", { status: 500 }],
    ["returns 502 with a web page", { html: true }],
    ["is cut", { reset: true }],
    ["has half a response", { truncated: true }],
    ["has no response", { hang: true }],
    ["is refused with 429", { status: 429 }],
  ] as const)("a read that %s is sent again", async (_, effect) => {
    await using emulated = await startQueue();
    const { id } = await emulated.run(emulated.queue.run({ input: {} }));
    emulated.emulator.faults.add({ match: { operation: "status" }, effect, times: 2 });
    expect(await emulated.run(emulated.queue.status(id))).toMatchObject({ id });
    expect(emulated.emulator.journal.operations({ operation: "status" })).toHaveLength(3);
  });
});

describe("each error of the contract", () => {
  test.each([
    [400, RejectedError, "REJECTED", 1],
    [401, AuthenticationError, "AUTHENTICATION", 1],
    [403, RejectedError, "REJECTED", 1],
    [404, NotFoundError, "NOT_FOUND", 1],
    [429, RateLimitError, "RATE_LIMITED", 6],
    [500, ServiceFaultError, "SERVICE_FAULT", 6],
  ])("status %d causes a %p with an error code of its own [contract.error-statuses]", async (status, kind, code, calls) => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { status } });
    const error = await emulated.failure(emulated.queue.health());
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(`responded with ${status}`);
    expect(emulated.calls()).toHaveLength(calls);
  });

  test("a wrong key causes an authentication error that does not show the key", async () => {
    await using emulated = await startQueue();
    const client = createClient({ apiKey: `${CANARY}-wrong`, ...addressesOf(emulated.emulator) });
    const error = await emulated.failure(client.endpoint(emulated.endpointId).health());
    expect(error).toBeInstanceOf(AuthenticationError);
    await client.close();
  });

  test("an endpoint that does not exist causes a not-found error", async () => {
    await using emulated = await startQueue();
    expect(await emulated.failure(emulated.client.endpoint("nowhere").run({ input: {} }))).toBeInstanceOf(
      NotFoundError,
    );
  });

  test("a response that is an HTML page causes an error that says so", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { html: true, status: 200 } });
    const error = await emulated.failure(emulated.queue.health());
    expect(error).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    expect(error.message).toContain("an HTML page");
  });

  test("a missing URL is reported when the queue is first used", () => {
    const client = createClient({ apiKey: CANARY });
    expect(() => client.endpoint("abc")).toThrow(ConfigurationError);
  });
});

describe("the rest of the queue", () => {
  test.each([
    "contract",
    "observed",
  ] as const)("health counts jobs and workers in the %s profile [contract.health]", async (profile) => {
    await using emulated = await startQueue({ handler: sleeper, emulator: { profile } });
    for (let n = 0; n < 3; n++) await emulated.run(emulated.queue.run({ input: { ms: 60_000 } }));
    const { jobs, workers } = await emulated.run(emulated.queue.health());
    expect(jobs).toEqual({ completed: 0, failed: 0, inProgress: 1, inQueue: 2, retried: 0 });
    expect(workers).toMatchObject({ idle: 0, running: 1, ...(profile === "observed" && { throttled: 0 }) });
  });

  test("a purge removes waiting jobs, while jobs in progress continue [contract.purge-queue] [contract.purge-result]", async () => {
    await using emulated = await startQueue({ handler: sleeper });
    const [running, waiting] = [
      await emulated.run(emulated.queue.run({ input: { ms: 10_000 } })),
      await emulated.run(emulated.queue.run({ input: { ms: 10_000 } })),
    ];
    expect(await emulated.run(emulated.queue.purgeQueue())).toEqual({ removed: 1, status: "completed" });
    expect((await emulated.run(running.wait())).output).toEqual({ slept: 10_000 });
    expect(await emulated.failure(waiting.status())).toBeInstanceOf(NotFoundError);
  });

  test("the rest of the queue requests returns the response in the service's own shape [contract.requests]", async () => {
    await using emulated = await startQueue();
    const { id } = await emulated.run(emulated.queue.run({ input: {} }));
    expect(await emulated.run(emulated.queue.requests())).toMatchObject({ requests: [{ id }] });
  });
});

describe("the OpenAI interface", () => {
  const body = { model: "m", messages: [{ role: "user", content: "to be or not" }] };

  test("the OpenAI interface forwards a path and a body, and types the response by a schema [contract.openai]", async () => {
    await using emulated = await startQueue();
    const schema = { parse: (value: unknown) => (value as { choices: { message: { content: string } }[] }).choices };
    const [choice] = await emulated.run(emulated.queue.openai("v1/chat/completions", { body, schema }));
    expect(choice?.message.content).toBe("to be or not");
    expect(await emulated.run(emulated.queue.openai("v1/models"))).toMatchObject({ object: "list" });
    expect(emulated.emulator.journal.requests().map(({ method }) => method)).toEqual(["POST", "GET"]);
  });

  test("the OpenAI interface does not resend a generation whose response was lost, but does resend reads", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "openai" }, effect: { reset: true, when: "after" }, times: 2 });
    expect(await emulated.failure(emulated.queue.openai("v1/chat/completions", { body }))).toBeInstanceOf(
      SubmitUncertainError,
    );
    expect(emulated.calls()).toHaveLength(1);
    await emulated.run(emulated.queue.openai("v1/models"));
    expect(emulated.calls()).toHaveLength(3);
  });

  test("the OpenAI interface fails when the stream is refused, breaks, or is aborted by its signal", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "openai" }, effect: { status: 404 }, times: 1 });
    const options = { body: { ...body, stream: true } };
    expect(await emulated.failure(emulated.queue.openaiStream("v1/chat/completions", options))).toBeInstanceOf(
      NotFoundError,
    );

    const readAll = async (signal?: AbortSignal) => {
      const chunks = await emulated.queue.openaiStream("v1/chat/completions", { ...options, signal });
      for await (const _ of chunks);
    };
    emulated.emulator.faults.add({ match: { operation: "openai" }, effect: { reset: "midway" }, times: 1 });
    expect(await emulated.failure(readAll())).toMatchObject({
      name: expect.stringMatching(/ConnectionError|SubmitUncertainError/),
    });
    const reason = new Error("enough");
    expect(await emulated.failure(readAll(AbortSignal.abort(reason)))).toBe(reason);
  });

  test.each([
    "../run",
    "v1/../../run",
    "v1//models",
    "",
    "v1/models?x=1",
  ])("the OpenAI interface refuses the path %p", async (path) => {
    await using server = await startScriptedServer(() => ({ body: {} }));
    const client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    await expect(client.endpoint("abc").openai(path)).rejects.toThrow(/path/);
    expect(server.requests).toHaveLength(0);
    await client.close();
  });
});
