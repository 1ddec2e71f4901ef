import OpenAI from "openai";
import { z } from "zod";
import { startEmulator } from "../../../emulator";
import { createClient } from "../../../sdk/client/client";
import { ConnectionError, RejectedError, RequestTimeoutError, ServiceFaultError } from "../../../sdk/errors/errors";
import { OpenAiStreamError, OpenAiStreamIncompleteError, SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { startQueue } from "../../support/queue";
import { clientOf, startRawServer } from "../../support/rawServer";
import { startScriptedServer } from "../../support/scriptedServer";

const PATH = "v1/chat/completions";
const body = { model: "m", messages: [{ role: "user", content: "to be or not" }] };

describe("openaiUrl", () => {
  test("openaiUrl is the base URL of the service's OpenAI interface", async () => {
    const client = createClient({ apiKey: CANARY, service: "runpod" });
    expect(client.endpoint("abc").openaiUrl).toBe("https://api.runpod.ai/v2/abc/openai/v1");
    const other = createClient({ apiKey: CANARY, queueUrl: "http://localhost:8080/base/v2/" });
    expect(other.endpoint("abc").openaiUrl).toBe("http://localhost:8080/base/v2/abc/openai/v1");
    await Promise.all([client.close(), other.close()]);
  });

  test("openaiUrl makes the openai package work with the endpoint", async () => {
    await using emulator = await startEmulator({ profile: "contract", coldStartMs: 0 });
    const fields = { name: "llama", gpuIds: "AMPERE_16", templateId: "template-1" };
    const { id } = emulator.endpoints.create({ ...fields, workersMin: 1, workersMax: 1 });
    const client = createClient({ apiKey: emulator.apiKey, queueUrl: emulator.url });
    const openai = new OpenAI({ apiKey: emulator.apiKey, baseURL: client.endpoint(id).openaiUrl, maxRetries: 0 });
    const reply = await openai.chat.completions.create({ model: "m", messages: [{ role: "user", content: "hello" }] });
    expect(reply.choices[0]?.message.content).toBe("hello");
    expect((await client.endpoint(id).health()).jobs).toMatchObject({ completed: 1 });
    await client.close();
  });
});

describe("openaiStream", () => {
  test("openaiStream yields the JSON of each event until [DONE], and sends stream: true in the body", async () => {
    await using emulated = await startQueue();
    const schema = z.object({ choices: z.array(z.object({ delta: z.object({ content: z.string().optional() }) })) });
    const read = async () => {
      let text = "";
      for await (const { choices } of await emulated.queue.openaiStream(PATH, { body, schema })) {
        text += choices[0]?.delta.content ?? "";
      }
      return text;
    };
    expect(await emulated.run(read())).toBe("to be or not");
  });

  /** Reads the stream of a server that sends `pieces`, then ends the response unless it stalls. */
  async function eventsOf(pieces: readonly (string | Buffer)[], { end = true, ...options } = {}) {
    await using server = await startRawServer(async (incoming, outgoing) => {
      incoming.resume();
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      for (const piece of pieces) {
        outgoing.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      if (end) outgoing.end();
    });
    const client = clientOf(server);
    const events: unknown[] = [];
    try {
      for await (const event of await client.endpoint("ep").openaiStream(PATH, { body, ...options }))
        events.push(event);
      return { events };
    } catch (error) {
      return { events, error: withoutCanary(error) };
    } finally {
      await client.close();
    }
  }

  test("openaiStream reads comments, CRLF, multi-line data, and characters whose bytes arrive separately", async () => {
    const character = Buffer.from('data: "ü"\n\n');
    const pieces = [
      ": ping\r\n\r\ndata: {\r\ndata: ",
      '"a": 1}\r',
      "\n\r\n",
      character.subarray(0, 8),
      character.subarray(8),
      "data: [DONE]\n\n",
    ];
    expect(await eventsOf(pieces)).toEqual({ events: [{ a: 1 }, "ü"] });
  });

  test("openaiStream ends at [DONE] even if the server keeps the connection open", async () => {
    expect(await eventsOf(["data: 1\n\ndata: [DONE]\n\ndata: 2\n\n"], { end: false })).toEqual({ events: [1] });
    expect(await eventsOf(["data: 1\n\ndata: [DONE] \n\n"], { end: false })).toEqual({ events: [1] });
  });

  test.each<[string, string[], unknown[]]>([
    ["after some events", ["data: 1\n\n", "data: 2"], [1, 2]],
    ["after comments alone", [": ping\n\n"], []],
    ["after an event that ends no stream", ['data: {"type":"response.created"}\n\n'], [{ type: "response.created" }]],
  ])("a stream that ends without [DONE] %s is reported as incomplete", async (_, pieces, received) => {
    const { events, error } = await eventsOf(pieces);
    expect(events).toEqual(received);
    expect(error).toBeInstanceOf(OpenAiStreamIncompleteError);
    expect(error).toMatchObject({ code: "OPENAI_STREAM_INCOMPLETE", eventsRead: received.length });
    expect(error?.message).toMatch(/the stream ended without data: \[DONE\], after \d events, so the rest is missing/);
  });

  test.each([
    "response.completed",
    "response.incomplete",
    "response.failed",
    "message_stop",
  ])("a stream of another API ends with that API's own last event %s", async (type) => {
    expect(await eventsOf([`event: ${type}\ndata: {"type":"${type}"}\n\n`])).toEqual({ events: [{ type }] });
  });

  test("a stalled stream ends with a RequestTimeoutError after timeoutMs", async () => {
    const { events, error } = await eventsOf(["data: 1\n\n"], { end: false, timeoutMs: 300 } as object);
    expect(events).toEqual([1]);
    expect(error).toBeInstanceOf(RequestTimeoutError);
    expect(error?.message).toContain("no data arrived for 0.3 s");
  });

  test.each<[string, string, RegExp, string]>([
    [
      "an error event",
      'data: {"error":{"message":"out of memory","type":"E","code":500}}\n\n',
      /out of memory/,
      "OPENAI_STREAM",
    ],
    [
      "an event of the type error",
      'data: {"type":"error","message":"no","code":"c"}\n\n',
      /error: no/,
      "OPENAI_STREAM",
    ],
    ["the object error", 'data: {"object":"error","message":"too long","code":400}\n\n', /: too long/, "OPENAI_STREAM"],
    ["an event named error", 'event: error\ndata: {"message":"lost","code":"c"}\n\n', /: lost/, "OPENAI_STREAM"],
    ["an event named error with text", "event: error\ndata: out of memory\n\n", /: out of memory/, "OPENAI_STREAM"],
    ["an event that is not JSON", "data: {cut\n\n", /not complete JSON/, "UNREADABLE_RESPONSE"],
    ["an event that was cut off", 'data: {"a":', /not complete JSON/, "UNREADABLE_RESPONSE"],
    ["nothing", "", /not a stream of server-sent events/, "UNEXPECTED_RESPONSE"],
    ["no events", '{"object":"chat.completion"}', /not a stream of server-sent events/, "UNEXPECTED_RESPONSE"],
    [
      "a key in an error",
      `data: {"error":{"message":"key ${CANARY}","type":"${CANARY}"}}\n\n`,
      /redacted/,
      "OPENAI_STREAM",
    ],
  ])("a stream with %s yields the events before it and then throws", async (_, text, message, code) => {
    const before = text === "" || text.startsWith("{") ? [] : ["data: 1\n\n"];
    const { events, error } = await eventsOf([...before, text]);
    expect(events).toHaveLength(before.length);
    expect(error).toMatchObject({ code });
    expect(error?.message).toMatch(message);
  });

  test("openaiStream throws when an event does not match the schema or the worker fails during the stream", async () => {
    await using emulated = await startQueue({
      handler: function* () {
        yield { n: 1 };
        throw new Error("out of memory");
      },
    });
    const read = async (schema?: { parse(value: unknown): unknown }) => {
      for await (const _ of await emulated.queue.openaiStream(PATH, { body, schema }));
    };
    expect(await emulated.failure(read(z.object({ n: z.string() })))).toMatchObject({
      code: "OUTPUT_MISMATCH",
      output: { n: 1 },
    });
    const error = await emulated.failure(read());
    expect(error).toBeInstanceOf(OpenAiStreamError);
    expect(error).toMatchObject({ type: "InternalServerError", errorCode: "500" });
  });

  test("a stream whose connection breaks throws and is not sent again", async () => {
    await using emulated = await startQueue();
    emulated.emulator.faults.add({ match: { operation: "openai" }, effect: { reset: "midway" }, times: 1 });
    const read = async () => {
      for await (const _ of await emulated.queue.openaiStream(PATH, { body }));
    };
    const error = await emulated.failure(read());
    expect([ConnectionError, SubmitUncertainError].some((Class) => error instanceof Class)).toBe(true);
    expect(emulated.calls()).toEqual(["openai"]);
  });

  test("a job that fails before its first event makes the request throw an error", async () => {
    await using emulated = await startQueue({
      handler: () => {
        throw new Error("out of memory");
      },
    });
    const error = await emulated.failure(emulated.queue.openaiStream(PATH, { body }));
    expect(error).toBeInstanceOf(SubmitUncertainError);
    expect((error as Error).cause).toBeInstanceOf(ServiceFaultError);
  });
});

test.each([
  [{ code: 404, object: "error", message: `no model ${CANARY}` }, "an error: no model [redacted]"],
  [{ err: "api", traceback: "Traceback\n  line 1\nValueError: too long\n" }, "an error: ValueError: too long"],
  [{ error: { message: "context length", type: "BadRequestError" } }, "an error: context length"],
])("a response with status 200 and an error in its body throws: %j", async (response, message) => {
  await using server = await startScriptedServer(() => ({ body: response }));
  const client = clientOf(server);
  const failure = withoutCanary(
    await client
      .endpoint("a")
      .openai(PATH, { body })
      .catch((error: unknown) => error),
  );
  expect(failure).toBeInstanceOf(RejectedError);
  expect(failure.message).toContain(message);
  expect(server.requests).toHaveLength(1);
  await client.close();
});

test("a response of Cloudflare with error code 1010 is not blamed on the key", async () => {
  await using server = await startScriptedServer(() => ({ status: 403, body: "error code: 1010" }));
  const client = clientOf(server);
  await expect(client.endpoints.list()).rejects.toThrow(/Cloudflare.*header User-Agent.*not because of the key/);
  await client.close();
});
