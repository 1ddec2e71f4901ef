import { spawnSync } from "node:child_process";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { RequestTimeoutError, UnexpectedResponseError } from "../../../sdk/errors/errors";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

const LIST = JSON.stringify({ data: { myself: { endpoints: [] } } });
const ONCE = { retry: { maxAttempts: 1 } };

const failed = (call: Promise<unknown>) =>
  call
    .then(
      () => undefined,
      (reason: unknown) => reason,
    )
    .then(withoutCanary);

describe("a response that a gateway changed in transit is read", () => {
  test.each([
    ["gzip", gzipSync(LIST)],
    ["x-gzip", gzipSync(LIST)],
    ["deflate", deflateSync(LIST)],
    ["gzip", Buffer.concat([gzipSync(LIST), Buffer.alloc(100)])],
    // Two parts are one body (RFC 1952, File format).
    ["gzip", Buffer.concat([gzipSync(LIST.slice(0, 9)), gzipSync(LIST.slice(9))])],
    ["br", brotliCompressSync(LIST)],
    ["gzip, br", brotliCompressSync(gzipSync(LIST))],
    ["identity", Buffer.from(LIST)],
    ["", Buffer.from(`\uFEFF${LIST}`)],
  ])("a body with the encoding %p is read", async (encoding, body) => {
    await using server = await startRawServer((_incoming, outgoing) => {
      if (encoding) outgoing.setHeader("content-encoding", encoding);
      outgoing.end(body);
    });
    const client = clientOf(server, ONCE);
    expect(await client.endpoints.list()).toEqual([]);
    await client.close();
  });

  test("a streamed response with an encoding is read", async () => {
    await using server = await startRawServer((_incoming, outgoing) => {
      outgoing.writeHead(200, { "content-encoding": "gzip" });
      outgoing.end(gzipSync('data: "one"\n\ndata: [DONE]\n\n'));
    });
    const client = clientOf(server, ONCE);
    const events = [];
    for await (const event of await client.endpoint("ep").openaiStream("v1/models")) events.push(event);
    expect(events).toEqual(["one"]);
    await client.close();
  });
});

describe("a response that cannot be read has a typed error", () => {
  async function listAnswered(headers: Record<string, string>, write: (end: (body: Buffer) => void) => void) {
    await using server = await startRawServer((_incoming, outgoing) => {
      outgoing.writeHead(200, headers);
      write((body) => outgoing.end(body));
    });
    const client = clientOf(server, ONCE);
    const error = await failed(client.endpoints.list());
    await client.close();
    return error;
  }

  test.each(["gzip", "br", "deflate"])("a damaged body: %s", async (encoding) => {
    const error = await listAnswered({ "content-encoding": encoding }, (end) => end(Buffer.from(LIST)));
    expect(error).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    expect(error.message).toContain("cannot be decompressed");
  });

  test.each([
    ["text", "more"],
    ["a line break", "\r\n"],
    ["one byte", "x"],
    ["the beginning of another part", gzipSync(LIST).subarray(0, 9)],
  ])("gzip with %s after its end, sent immediately or later", async (_what, rest) => {
    for (const isLate of [false, true]) {
      const send = (outgoing: ServerResponse) => {
        outgoing.writeHead(200, { "content-encoding": "gzip" });
        if (!isLate) return outgoing.end(Buffer.concat([gzipSync(LIST), Buffer.from(rest)]));
        outgoing.write(gzipSync(LIST));
        return setTimeout(() => outgoing.end(rest), 20);
      };
      let submits = 0;
      await using server = await startRawServer((incoming, outgoing) => {
        if (incoming.url?.endsWith("/run")) submits++;
        send(outgoing);
      });
      const client = clientOf(server);
      const once = { maxRetries: 0 };
      const read = await failed(client.endpoints.list(once));
      expect(read).toMatchObject({
        code: "UNREADABLE_RESPONSE",
        message: expect.stringContaining("cannot be decompressed"),
      });
      const submitted = await failed(client.endpoint("ep").run({ input: {} }));
      expect([submitted.constructor, submits]).toEqual([SubmitUncertainError, 1]);
      await client.close();
    }
  });

  test("an encoding that was not requested", async () => {
    const error = await listAnswered({ "content-encoding": "pack200" }, (end) => end(Buffer.from(LIST)));
    expect(error).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    expect(error.message).toContain('the encoding "pack200" is not known');
  });

  test("a body with more than five encodings", async () => {
    const layers = (count: number) => {
      let body = Buffer.from(LIST);
      for (let n = 0; n < count; n++) body = gzipSync(body);
      return { headers: { "content-encoding": Array(count).fill("gzip").join(", ") }, body };
    };
    const { headers, body } = layers(6);
    const error = await listAnswered(headers, (end) => end(body));
    expect(error).toMatchObject({ code: "UNREADABLE_RESPONSE" });
    expect(error.message).toContain("it has 6 encodings, and 5 at most are decoded");
  });

  test("a body of 65 MB", async () => {
    const error = await listAnswered({}, (end) => end(Buffer.alloc(65 * 1024 * 1024, " ")));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("larger than 64 MB");
  });

  test("a body of 65 MB compressed to a few kilobytes", async () => {
    const bomb = gzipSync(Buffer.alloc(65 * 1024 * 1024, " "));
    const error = await listAnswered({ "content-encoding": "gzip" }, (end) => end(bomb));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error.message).toContain("larger than 64 MB");
  });

  test.each([
    ["a list in a list", "[".repeat(100_000) + "]".repeat(100_000)],
    ["an account of lists", `{"data":{"myself":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
    ["data of lists", `{"data":{"other":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`],
    ["errors of lists", `{"errors":[{"message":"no","x":${"[".repeat(100_000)}${"]".repeat(100_000)}}]}`],
  ])("%s, nested a hundred thousand levels deep", async (_what, body) => {
    const error = await listAnswered({}, (end) => end(Buffer.from(body)));
    expect(error).toHaveProperty("code");
    expect(error).not.toBeInstanceOf(RangeError);
  });
});

describe("status 408", () => {
  test("status 408 for a read is retried", async () => {
    let count = 0;
    await using server = await startRawServer((_incoming, outgoing) => {
      if (++count === 1) outgoing.writeHead(408);
      outgoing.end(LIST);
    });
    const client = clientOf(server);
    expect(await client.endpoints.list()).toEqual([]);
    expect(count).toBe(2);
    await client.close();
  });

  test("status 408 for a submit makes the result uncertain, and the submit is not retried", async () => {
    let count = 0;
    await using server = await startRawServer((_incoming, outgoing) => {
      count++;
      outgoing.writeHead(408).end();
    });
    const client = clientOf(server);
    const error = await failed(client.endpoint("ep").run({ input: {} }));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect(error.cause).toBeInstanceOf(RequestTimeoutError);
    expect(count).toBe(1);
    await client.close();
  });
});

const UNSIGNED = spawnSync("openssl", [
  ..."req -x509 -newkey rsa:2048 -nodes -keyout - -subj /CN=localhost -days 1".split(" "),
]).stdout?.toString();

(UNSIGNED ? test : test.skip)("a certificate that nobody vouches for is not tried again", async () => {
  let connections = 0;
  const server = createTlsServer({ key: UNSIGNED, cert: UNSIGNED });
  server.on("connection", () => connections++);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = clientOf({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
  const error = await failed(client.endpoints.list());
  expect(error).toMatchObject({ code: "UNTRUSTED_CERTIFICATE" });
  expect(error).toMatchObject({ disposition: "stop", attempts: 1 });
  expect(connections).toBe(1);
  await client.close();
  server.close();
});

test("many waits on one signal cause no leak warning in Node.js", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.name);
  process.on("warning", onWarning);
  await using server = await startRawServer((_incoming, outgoing) => {
    outgoing.end(JSON.stringify({ id: "job-1", status: "IN_PROGRESS" }));
  });
  const client = clientOf(server);
  const controller = new AbortController();
  const { signal } = controller;
  const queue = client.endpoint("ep");
  const waits = Array.from({ length: 30 }, (_, n) => queue.job(`job-${n}`).wait({ signal }));
  const calls = Array.from({ length: 30 }, () => queue.requests({ signal }));
  const lists = Array.from({ length: 30 }, () => client.endpoints.find("ep-1", { signal }));
  const all = Promise.allSettled([...waits, ...calls, ...lists]);
  await new Promise((resolve) => setTimeout(resolve, 300));
  controller.abort(new Error(`enough ${CANARY.length}`));
  const ended = await all;
  expect(ended.slice(0, 30).every(({ status }) => status === "rejected")).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
  await client.close();
});

describe("a refusal whose body cannot be decompressed", () => {
  test.each([
    [429, "gzip", "RATE_LIMITED"],
    [401, "gzip", "AUTHENTICATION"],
    [404, "zstd", "NOT_FOUND"],
  ])("the error for a damaged body with the status %d depends only on the status", async (status, encoding, code) => {
    await using server = await startRawServer((incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(status, { "content-encoding": encoding }).end();
    });
    const client = clientOf(server, ONCE);
    expect(await failed(client.endpoint("ep").run({ input: {} }))).toMatchObject({ code });
    expect(await failed(client.endpoint("ep").openaiStream("v1/models", { body: {} }))).toMatchObject({ code });
    await client.close();
  });
});
