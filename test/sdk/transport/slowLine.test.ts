import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { RequestTimeoutError } from "../../../sdk/errors/errors";
import { withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

const RECORD = { id: "job-1", status: "COMPLETED" };

/** Keeps the program from doing anything else. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("a large result over a slow connection is read, although it takes far longer than an attempt normally may", async () => {
  await using server = await startRawServer(async (_incoming, outgoing) => {
    const text = JSON.stringify({ ...RECORD, output: "x".repeat(10_000) });
    for (let at = 0; at < text.length; at += 1_000) {
      outgoing.write(text.slice(at, at + 1_000));
      await pause(100);
    }
    outgoing.end();
  });
  const client = clientOf(server, { attemptTimeoutMs: 400, retry: { maxAttempts: 1 } });
  const job = await client.endpoint("ep").job("job-1").wait();
  expect(job.output).toHaveLength(10_000);
  await client.close();
});

test("a slow upload of a large request does not count as a lost submit", async () => {
  let jobs = 0;
  await using server = await startRawServer(async (incoming, outgoing) => {
    for await (const _chunk of incoming) await pause(10);
    jobs++;
    outgoing.end(JSON.stringify({ id: "job-1", status: "IN_QUEUE" }));
  });
  const client = clientOf(server, { attemptTimeoutMs: 300, retry: { maxElapsedMs: 1_000 } });
  const startedAt = performance.now();
  const job = await client.endpoint("ep").run({ input: { image: "x".repeat(8_000_000) } });
  expect(job.id).toBe("job-1");
  expect(jobs).toBe(1);
  expect(performance.now() - startedAt).toBeGreaterThan(500);
  await client.close();
});

test("a response that stalls midway ends once no byte has arrived for the time of an attempt", async () => {
  await using server = await startRawServer(async (_incoming, outgoing) => {
    for (let chunk = 0; chunk < 3; chunk++) {
      outgoing.write(" ");
      await pause(200);
    }
  });
  const client = clientOf(server, { attemptTimeoutMs: 400, retry: { maxAttempts: 1 } });
  const startedAt = performance.now();
  const error = await client.endpoints.list().catch((reason: unknown) => reason);
  expect(withoutCanary(error)).toBeInstanceOf(RequestTimeoutError);
  expect(performance.now() - startedAt).toBeGreaterThan(700);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await client.close();
});

test("an endless response ends with the call's own time limit", async () => {
  await using server = await startRawServer(async (_incoming, outgoing) => {
    const timer = setInterval(() => outgoing.write(" "), 50);
    await once(outgoing, "close");
    clearInterval(timer);
  });
  const client = clientOf(server, { attemptTimeoutMs: 400, retry: { maxElapsedMs: 1_000, maxAttempts: 1 } });
  const startedAt = performance.now();
  await expect(client.endpoints.list()).rejects.toThrow(RequestTimeoutError);
  expect(performance.now() - startedAt).toBeLessThan(30_000);
  await client.close();
});

test("a program that is busy for longer than an attempt may take does not lose the response to a submit", async () => {
  let jobs = 0;
  await using server = await startRawServer((incoming, outgoing) => {
    incoming.resume();
    outgoing.end(JSON.stringify({ id: `job-${++jobs}`, status: "IN_QUEUE" }));
    // The server in this process is also blocked, and its response is already in flight.
    setImmediate(() => block(900));
  });
  const client = clientOf(server, { attemptTimeoutMs: 300, retry: { maxElapsedMs: 60_000 } });
  for (let round = 1; round <= 3; round++) {
    const job = await client.endpoint("ep").run({ input: {} });
    expect(job.id).toBe(`job-${round}`);
  }
  await client.close();
});

describe("the stream of an OpenAI-compatible server", () => {
  const startStalling = () =>
    startRawServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.write('data: "one"\n\n');
    });

  async function readAll(events: AsyncIterable<unknown>): Promise<void> {
    for await (const _event of events);
  }

  test("the stream of an OpenAI-compatible server ends when no data arrives for its timeoutMs", async () => {
    await using server = await startStalling();
    const client = clientOf(server);
    const stream = await client.endpoint("ep").openaiStream("v1/chat/completions", { body: {}, timeoutMs: 500 });
    const startedAt = performance.now();
    const error = withoutCanary(await readAll(stream).catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error.message).toContain("no data arrived for 0.5 s");
    expect(performance.now() - startedAt).toBeLessThan(30_000);
    await client.close();
  });

  test("the stream of an OpenAI-compatible server continues beyond its timeoutMs as long as data arrives or its reader is busy", async () => {
    await using server = await startRawServer(async (_incoming, outgoing) => {
      for (const piece of ["a", "b", "c", "d"]) {
        outgoing.write(`data: "${piece}"\n\n`);
        await pause(250);
      }
      outgoing.end("data: [DONE]\n\n");
    });
    const client = clientOf(server);
    const stream = await client.endpoint("ep").openaiStream("v1/models", { timeoutMs: 600 });
    let text = "";
    for await (const event of stream) {
      text += event;
      if (text === "a") await pause(800);
    }
    expect(text).toBe("abcd");
    await client.close();
  });

  test("the stream of an OpenAI-compatible server ends when the client is closed, whether or not it was read, and close does not hang", async () => {
    await using server = await startStalling();
    const client = clientOf(server);
    const queue = client.endpoint("ep");
    const read = await queue.openaiStream("v1/chat/completions", { body: {} });
    await queue.openaiStream("v1/chat/completions", { body: {} });
    const reading = readAll(read).catch((reason: unknown) => reason);
    await pause(50);
    await client.close();
    expect(withoutCanary(await reading)).toMatchObject({ code: "CLIENT_CLOSED" });
  }, 30_000);

  test("a stream whose reader stops early closes its connection", async () => {
    await using server = await startStalling();
    const client = clientOf(server);
    for await (const _chunk of await client.endpoint("ep").openaiStream("v1/models")) break;
    await client.close();
    const connections = () => new Promise((resolve) => server.server.getConnections((_, count) => resolve(count)));
    while ((await connections()) !== 0) await pause(10);
  }, 30_000);
});
