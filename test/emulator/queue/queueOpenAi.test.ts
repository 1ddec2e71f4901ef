import { setTimeout as pause } from "node:timers/promises";
import OpenAI, { APIError } from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { Handler } from "../../../emulator";
import { type QueueTest, startQueue, stopAll } from "../../support/queueClient";

afterEach(stopAll);

type Options = Parameters<typeof startQueue>[1];

/** An emulator in which one worker runs `handler`, and the `openai` package as a client of it. */
async function start(handler?: Handler, options: Options = {}, endpoint = {}) {
  const queue = await startQueue(endpoint, { ...(handler && { handlers: { worker: handler } }), ...options });
  return { queue, openai: openaiOf(queue) };
}

function openaiOf({ emulator, endpointId }: QueueTest, apiKey = emulator.apiKey) {
  return new OpenAI({ apiKey, baseURL: `${emulator.url}/v2/${endpointId}/openai/v1`, maxRetries: 0 });
}

const failure = (call: Promise<unknown>): Promise<APIError> =>
  call.then(
    () => {
      throw new Error("it should have failed");
    },
    (error) => error,
  );

const model = "emulated-model";
const hello: ChatCompletionMessageParam[] = [{ role: "user", content: "to be or not" }];

describe("the model of a worker without a handler, used by the openai package", () => {
  test("[queue.openai-model] lists and retrieves models", async () => {
    const { openai } = await start();
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual([model]);
    expect(await openai.models.retrieve(model)).toMatchObject({ id: model, object: "model" });
    expect(await failure(openai.models.retrieve("gpt"))).toMatchObject({
      status: 404,
      type: "NotFoundError",
      param: "model",
    });
  });

  test("[queue.openai-model] the model completes a chat with roles, content parts, n, usage and distinct ids", async () => {
    const { openai } = await start();
    const messages: ChatCompletionMessageParam[] = [
      { role: "system", content: "be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "to be" },
          { type: "text", text: " or not" },
        ],
      },
    ];
    const reply = await openai.chat.completions.create({ model: "any", messages, n: 2 });
    const choice = { message: { role: "assistant", content: "to be or not", refusal: null }, finish_reason: "stop" };
    expect(reply).toMatchObject({
      object: "chat.completion",
      model: "any",
      choices: [
        { index: 0, ...choice },
        { index: 1, ...choice },
      ],
    });
    expect(reply.usage).toEqual({ prompt_tokens: 6, completion_tokens: 8, total_tokens: 14 });
    const other = await openai.chat.completions.create({ model, messages: hello, max_completion_tokens: 2 });
    expect(other.choices[0]).toMatchObject({ message: { content: "to be" }, finish_reason: "length" });
    expect(other.id).not.toBe(reply.id);
  });

  test("[queue.openai-model] [queue.openai-stream] the model streams a chat with a role in the first chunk and usage in the last", async () => {
    const { openai } = await start();
    const body = { model, messages: hello, stream: true, stream_options: { include_usage: true } } as const;
    const chunks = [];
    for await (const chunk of await openai.chat.completions.create(body)) chunks.push(chunk);
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("to be or not");
    expect(chunks.at(-2)?.choices[0]).toMatchObject({ delta: {}, finish_reason: "stop" });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 4, completion_tokens: 4 } });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    const final = await openai.chat.completions.stream({ model, messages: hello, n: 2 }).finalChatCompletion();
    expect(final.choices.map(({ message }) => message.content)).toEqual(["to be or not", "to be or not"]);
  });

  test.each<[string, (openai: OpenAI) => Promise<unknown>, object]>([
    ["an unknown path", (openai) => openai.post("/audio/speech", { body: {} }), { status: 404 }],
    ["no messages", (openai) => openai.post("/chat/completions", { body: {} }), { status: 400, param: "messages" }],
    [
      "a wrong n",
      (openai) => openai.chat.completions.create({ model, messages: hello, n: 0 }),
      { status: 400, param: "n" },
    ],
    [
      "streamed without messages",
      (openai) => openai.post("/chat/completions", { body: { stream: true } }),
      { status: 400 },
    ],
  ])("[queue.openai-error] the model refuses %s with an error object", async (_, call, expected) => {
    const { openai } = await start();
    const error = await failure(call(openai));
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({ ...expected, type: expect.stringMatching(/Error$/) });
  });
});

describe("a request to /openai/*", () => {
  test("[queue.openai] [queue.openai-input] a request to /openai/* becomes a job for a worker, and a handler receives its path and its body", async () => {
    const inputs: unknown[] = [];
    const { queue, openai } = await start(({ input }) => {
      inputs.push(input);
      return { id: "own", choices: [{ message: { content: "by hand" } }] };
    });
    const reply = await openai.chat.completions.create({ model, messages: hello });
    expect(reply.choices[0]?.message.content).toBe("by hand");
    await openai.models.list();
    expect(inputs).toEqual([
      { openai_route: "/v1/chat/completions", openai_input: { model, messages: hello } },
      { openai_route: "/v1/models", openai_input: {} },
    ]);
    expect((await queue.health()).jobs).toMatchObject({ completed: 2 });
  });

  test("[queue.openai] a request to /openai/* waits for a worker", async () => {
    const { queue, openai } = await start(undefined, {}, { workersMin: 0, workersMax: 0 });
    let isOver = false;
    const reply = openai.models.list().finally(() => {
      isOver = true;
    });
    while ((await queue.health()).jobs.inQueue === 0) await pause(5);
    await queue.clock.advance(60_000);
    expect(isOver).toBe(false);
    queue.emulator.endpoints.change(queue.endpointId, { workersMax: 1, workersMin: 1 });
    await queue.clock.advance(10_000);
    expect((await reply).data).toHaveLength(1);
  });

  test("[queue.openai-stream] a request to /openai/* streams the pieces as the worker yields them, and appends the end marker", async () => {
    const { queue, openai } = await start(async function* (_, { sleep }) {
      for (const content of ["one", " two"]) {
        yield { choices: [{ index: 0, delta: { content } }] };
        await sleep(1_000);
      }
    });
    const stream = await openai.chat.completions.create({ model, messages: hello, stream: true });
    const reader = stream[Symbol.asyncIterator]();
    const textOf = async () => (await reader.next()).value?.choices[0]?.delta.content;
    expect(await textOf()).toBe("one");
    await queue.clock.advance(1_000);
    expect(await textOf()).toBe(" two");
    await queue.clock.advance(1_000);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  test("[queue.openai-stream] a request to /openai/* sends strings unchanged, and an output that is not streamed as a single event", async () => {
    const raw = ": a comment\n\ndata: {}\n\ndata: [DONE]\n\n";
    const strings = await startQueue(
      {},
      {
        handlers: {
          worker: function* () {
            yield raw;
          },
        },
      },
    );
    expect((await strings.post("openai/v1/chat/completions", { stream: true })).text).toBe(raw);
    const whole = await startQueue({}, { handlers: { worker: () => ({ a: 1 }) } });
    expect((await whole.post("openai/v1/chat/completions", { stream: true })).text).toBe(
      'data: {"a":1}\n\ndata: [DONE]\n\n',
    );
  });

  test.each([
    false,
    true,
  ])("[queue.openai-error] a request to /openai/* returns an error object if its handler throws (stream: %p)", async (stream) => {
    const { openai } = await start(() => {
      throw new Error("out of memory");
    });
    const error = await failure(openai.chat.completions.create({ model, messages: hello, stream }));
    expect(error).toMatchObject({ status: 500, type: "InternalServerError", param: null });
    expect(error.message).toContain("out of memory");
  });

  test("[queue.openai-error] a request to /openai/* ends its stream with an error event if its handler throws or its worker dies", async () => {
    let runs = 0;
    const { queue, openai } = await start(async function* (_, { crash, sleep }) {
      yield { choices: [{ delta: { content: "one" } }] };
      await sleep(1_000);
      if (++runs === 1) throw new Error("out of memory");
      crash();
    });
    for (const problem of ["out of memory", "the worker was lost"]) {
      const stream = await openai.chat.completions.create({ model, messages: hello, stream: true });
      const reader = stream[Symbol.asyncIterator]();
      expect((await reader.next()).value?.choices[0]?.delta.content).toBe("one");
      const next = failure(reader.next());
      await queue.clock.advance(60_000);
      expect((await next).message).toContain(problem);
    }
    await queue.clock.advance(60_000);
    expect((await queue.health()).jobs).toMatchObject({ inQueue: 0, inProgress: 0 });
  });

  test("[queue.openai-error] a request to /openai/* returns a worker's error with its status", async () => {
    const { openai } = await start(() => ({ error: { message: "too long", type: "BadRequestError", code: 413 } }));
    expect(await failure(openai.models.list())).toMatchObject({ status: 413 });
  });

  test("[queue.openai-error] a request to /openai/* returns an error object if it is not JSON or if its job is purged", async () => {
    const { queue } = await start(undefined, {}, { workersMin: 0, workersMax: 0 });
    const wrong = await queue.post("openai/v1/chat/completions", "{");
    expect([wrong.status, wrong.body.error.type]).toEqual([400, "BadRequestError"]);
    const { answer } = await queue.begin("openai/v1/models", undefined, "GET");
    while ((await queue.health()).jobs.inQueue === 0) await pause(5);
    await queue.post("purge-queue");
    expect((await answer).body.error).toMatchObject({ code: 500, message: expect.stringContaining("removed") });
  });

  test.each([
    false,
    true,
  ])("[queue.openai-cut] a request to /openai/* cancels its job if the client closes the connection (stream: %p)", async (stream) => {
    let jobId = "";
    const { queue, openai } = await start(async function* ({ id }, { sleep }) {
      jobId = id;
      yield { choices: [] };
      await sleep(600_000);
    });
    const controller = new AbortController();
    const options = { signal: controller.signal };
    const call = openai.chat.completions.create({ model, messages: hello, stream }, options);
    if (stream) await call;
    else while ((await queue.health()).jobs.inProgress === 0) await pause(5);
    controller.abort();
    await call.catch(() => {});
    while ((await queue.health()).jobs.inProgress > 0) await pause(5);
    expect(await queue.job(jobId)).toMatchObject({ status: "CANCELLED" });
  });

  test("[queue.wrong-key] [queue.rate-limits] a request to /openai/* is refused before a job is created if the key is wrong or the limit is exceeded", async () => {
    const limits = { openai: { perWindow: 1 } };
    const { queue, openai } = await start(undefined, { rateLimits: { limits } });
    expect(await failure(openaiOf(queue, "wrong").models.list())).toMatchObject({ status: 401 });
    await openai.models.list();
    expect(await failure(openai.models.list())).toMatchObject({ status: 429 });
    expect((await queue.health()).jobs).toMatchObject({ completed: 1 });
  });
});
