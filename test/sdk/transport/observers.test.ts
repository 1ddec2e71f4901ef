import { Console } from "node:console";
import { Writable } from "node:stream";
import { inspect } from "node:util";
import type { RequestEvent, RetryEvent } from "../../../sdk/transport/observers";
import { CANARY, startEmulated } from "../../support/emulated";
import { startQueue } from "../../support/queue";

/** A logger of pino's shape, which needs its `this`, and what it was told. */
class Log {
  readonly lines: { readonly level: string; readonly details: object; readonly message: string }[] = [];
  debug(details: object, message: string) {
    this.lines.push({ level: "debug", details, message });
  }
  info(details: object, message: string) {
    this.lines.push({ level: "info", details, message });
  }
  warn(details: object, message: string) {
    this.lines.push({ level: "warn", details, message });
  }
  error(details: object, message: string) {
    this.lines.push({ level: "error", details, message });
  }
}

describe("the events of a client", () => {
  test("the events of a client are sent for every request over all three APIs", async () => {
    const events: RequestEvent[] = [];
    await using emulated = await startEmulated({ client: { onRequest: (event) => events.push(event) } });
    const input = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc" } as const;
    const { id } = await emulated.run(emulated.client.endpoints.create(input));
    await emulated.failure(emulated.client.pods.get("nowhere"));
    await emulated.run(emulated.client.endpoint(id).health());
    expect(events.map(({ operation, attempt, status }) => [operation, attempt, status])).toEqual([
      ["myself", 1, 200],
      ["saveEndpoint", 1, 200],
      ["getPod", 1, 404],
      ["health", 1, 200],
    ]);
    expect(events.at(-1)).toMatchObject({ description: `the health at endpoint ${id}`, ms: expect.any(Number) });
  });

  test("the events of a client contain each attempt, its duration, and the reason if no response arrived", async () => {
    const events: RequestEvent[] = [];
    await using emulated = await startQueue({ client: { onRequest: (event) => events.push(event) } });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { hang: true }, times: 1 });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { status: 503 }, times: 1 });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { reset: true }, times: 1 });
    await emulated.run(emulated.queue.health());
    expect(events).toMatchObject([
      { attempt: 1, error: "REQUEST_TIMEOUT", ms: 30_000 },
      { attempt: 2, status: 503 },
      { attempt: 3, error: "CONNECTION" },
      { attempt: 4, status: 200 },
    ]);
    expect(events[0]).not.toHaveProperty("status");
  });

  test("go to a pino-like logger: debug for success, info for retries, warn for failures", async () => {
    const log = new Log();
    await using emulated = await startQueue({ client: { logger: log } });
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 }, times: 1 });
    await emulated.run(emulated.queue.run({ input: { n: 1 }, policy: { ttl: 10_000, executionTimeout: 20_000 } }));
    expect(log.lines.map(({ level }) => level)).toEqual(["warn", "warn", "info", "debug"]);
    expect(log.lines[0]?.message).toMatch(/ttl .*shorter/);
    expect(log.lines[1]).toMatchObject({ details: { operation: "run", attempt: 1, status: 429 } });
    expect(log.lines[2]?.message).toMatch(/^the submit of a job at endpoint .*: attempt 2 in \d+ ms, after 429$/);
    expect(log.lines[3]?.message).toMatch(/^the submit of a job at endpoint .*: 200 in \d+ ms$/);
  });

  test("go to a function, or to the console with the message first", async () => {
    const lines: unknown[][] = [];
    const logger = (...line: unknown[]) => lines.push(line);
    await using emulated = await startQueue({ client: { logger } });
    await emulated.run(emulated.queue.health());
    expect(lines).toEqual([
      ["debug", expect.stringMatching(/^the health at/), expect.objectContaining({ status: 200 })],
    ]);
    const chunks: string[] = [];
    const stdout = new Writable({
      write: (chunk, _, done) => {
        chunks.push(String(chunk));
        done();
      },
    });
    await using that = await startQueue({ client: { logger: new Console({ stdout }) } });
    await that.run(that.queue.health());
    expect(chunks.join("")).toMatch(/^the health at endpoint .*: 200 in \d+ ms \{/);
  });

  test("the events of a client are not logged without an observer", async () => {
    const levels = ["debug", "info", "log", "warn", "error"] as const;
    const spies = levels.map((level) => jest.spyOn(console, level).mockImplementation(() => {}));
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { status: 503 }, times: 1 });
    await emulated.run(emulated.queue.health());
    expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([]);
    for (const spy of spies) spy.mockRestore();
  });

  test("announce each retry before its pause", async () => {
    const events: RetryEvent[] = [];
    await using emulated = await startQueue({ client: { onRetry: (event) => events.push(event) } });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { status: 503 }, times: 1 });
    emulated.emulator.faults.add({ match: { operation: "health" }, effect: { reset: true }, times: 1 });
    await emulated.run(emulated.queue.health());
    expect(events).toEqual([
      expect.objectContaining({ operation: "health", attempt: 1, status: 503, error: "SERVICE_FAULT" }),
      expect.objectContaining({ operation: "health", attempt: 2, error: "CONNECTION" }),
    ]);
    expect(events[0]?.delayMs).toBeLessThanOrEqual(500);
    expect(events[1]).not.toHaveProperty("status");
  });

  test.each([
    [
      "throw",
      () => {
        throw new Error("the user's");
      },
    ],
    ["reject", () => Promise.reject(new Error("the user's"))],
  ])("the events of a client change nothing when logger and callback %s", async (_, failing) => {
    const logger = { debug: failing, info: failing, warn: failing, error: failing };
    await using emulated = await startQueue({ client: { logger, onRequest: failing, onRetry: failing } });
    emulated.emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 }, times: 1 });
    const job = await emulated.run(
      emulated.queue.run({ input: { a: 1 }, policy: { ttl: 10_000, executionTimeout: 20_000 } }),
    );
    expect((await emulated.run(job.wait())).output).toEqual({ a: 1 });
  });
});

describe("the key", () => {
  test("the key appears in no object of a client, and in nothing that the client's logger receives", async () => {
    const log = new Log();
    await using emulated = await startQueue({ client: { logger: log } });
    const input = { name: CANARY, gpuIds: "AMPERE_24", templateId: "abc" } as const;
    await emulated.run(emulated.client.endpoints.create(input));
    const job = await emulated.run(emulated.queue.run({ input: {} }));
    const stream = job.stream();
    await emulated.failure(emulated.client.pods.get(CANARY));
    await emulated.failure(emulated.queue.status(CANARY));
    for (const shown of [
      emulated.client,
      emulated.client.endpoints,
      emulated.client.pods,
      emulated.queue,
      job,
      stream,
      log.lines,
    ]) {
      expect(inspect(shown, { depth: 20, showHidden: true, getters: true })).not.toContain(CANARY);
      expect(JSON.stringify(shown) ?? "").not.toContain(CANARY);
      expect(String(shown)).not.toContain(CANARY);
    }
  });

  test("the key and a job's storage secret appear in no error, whatever the service responds", async () => {
    await using emulated = await startQueue();
    const accessSecret = "canary-storage-secret-9f";
    const request = {
      input: {},
      s3Config: { accessId: "id", accessSecret, bucketName: "b", endpointUrl: "https://s3" },
    };
    for (const effect of [
      { status: 400, body: { detail: `bad s3Config ${accessSecret}, key ${CANARY}` } },
      { status: 500, body: `${CANARY} ${encodeURIComponent(accessSecret)}` },
      { status: 200, body: { s3Config: { accessSecret }, authorization: `Bearer ${CANARY}` } },
    ]) {
      emulated.emulator.faults.add({ match: { operation: "run" }, effect, times: 1 });
      const error = await emulated.failure(emulated.queue.run(request));
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("canary-storage");
    }
    await emulated.run(emulated.queue.run(request));
    emulated.emulator.faults.add({
      match: { operation: "status" },
      effect: { status: 200, body: { id: "a", status: "FAILED", error: { message: `denied: ${accessSecret}` } } },
    });
    const error = await emulated.failure(emulated.queue.job("a").wait());
    expect(error.message).toContain("denied");
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain("canary-storage");
  });
});
