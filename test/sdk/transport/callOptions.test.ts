import fc from "fast-check";
import { createWebhookReceiver, InvalidInputError } from "../../../sdk";
import { withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

/** A server that counts requests, and a client of it. */
async function startCounting(body = "{}") {
  let requests = 0;
  const server = await startRawServer((_, response) => {
    requests++;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const client = clientOf(server, { retry: { maxAttempts: 1 } });
  return {
    client,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

type Client = Awaited<ReturnType<typeof startCounting>>["client"];

const NEW = { name: "a", gpuIds: "AMPERE_16", templateId: "t" } as const;
const INPUT = { input: { a: 1 } };

async function first(items: AsyncIterable<unknown>): Promise<unknown> {
  for await (const item of items) return item;
  return undefined;
}

/** Every call that takes options, with the options as they are. */
// biome-ignore lint/suspicious/noExplicitAny: a program in JavaScript passes anything
const CALLS: Readonly<Record<string, (client: Client, options: any) => unknown>> = {
  "endpoints.create": (client, options) => client.endpoints.create(NEW, options),
  "endpoints.update": (client, options) => client.endpoints.update("e", { workersMax: 1 }, options),
  "endpoints.list": (client, options) => client.endpoints.list(options),
  "endpoints.listReadable": (client, options) => client.endpoints.listReadable(options),
  "endpoints.find": (client, options) => client.endpoints.find("e", options),
  "endpoints.get": (client, options) => client.endpoints.get("e", options),
  "endpoints.scaleToZero": (client, options) => client.endpoints.scaleToZero("e", options),
  "endpoints.delete": (client, options) => client.endpoints.delete("e", options),
  "endpoints.recycleWorkers": (client, options) =>
    client.endpoints.recycleWorkers("e", { workersMin: 0, workersMax: 1 }, options),
  "endpoints.getServerlessDiscount": (client, options) => client.endpoints.getServerlessDiscount(options),
  "templates.create": (client, options) => client.templates.create({ name: "t", imageName: "i" }, options),
  "templates.delete": (client, options) => client.templates.delete("t", options),
  "templates.find": (client, options) => client.templates.find("t", options),
  "volumes.create": (client, options) =>
    client.volumes.create({ name: "v", size: 10, dataCenterId: "EU-RO-1" }, options),
  "volumes.delete": (client, options) => client.volumes.delete("v", options),
  "registryAuths.create": (client, options) =>
    client.registryAuths.create({ name: "r", username: "u", password: "secret-password" }, options),
  "registryAuths.delete": (client, options) => client.registryAuths.delete("r", options),
  "pods.get": (client, options) => client.pods.get("p", options),
  run: (client, options) => client.endpoint("e").run(INPUT, options),
  runSync: (client, options) => client.endpoint("e").runSync(INPUT, options),
  runMany: (client, options) => first(client.endpoint("e").runMany([{ a: 1 }], options)),
  job: (client, options) => client.endpoint("e").job("j", options),
  "queue.status": (client, options) => client.endpoint("e").status("j", options),
  purgeQueue: (client, options) => client.endpoint("e").purgeQueue(options),
  health: (client, options) => client.endpoint("e").health(options),
  requests: (client, options) => client.endpoint("e").requests(options),
  openai: (client, options) => client.endpoint("e").openai("v1/models", options),
  openaiStream: (client, options) => client.endpoint("e").openaiStream("v1/models", options),
  "job.status": (client, options) => client.endpoint("e").job("j").status(options),
  "job.wait": (client, options) => client.endpoint("e").job("j").wait(options),
  "job.stream": (client, options) => first(client.endpoint("e").job("j").stream(options)),
  "job.cancel": (client, options) => client.endpoint("e").job("j").cancel(options),
  "job.retry": (client, options) => client.endpoint("e").job("j").retry(options),
};

async function failure(call: () => unknown): Promise<InvalidInputError> {
  try {
    await call();
  } catch (error) {
    return withoutCanary(error) as unknown as InvalidInputError;
  }
  throw new Error("the call succeeded");
}

describe("options of a call that do not exist", () => {
  test.each(
    Object.entries(CALLS),
  )("options of a call that do not exist are refused before anything is sent: %s", async (name, call) => {
    await using emulated = await startCounting();
    for (const options of [
      { timeOutMs: 5 },
      { maxRetry: 1 },
      { onResponse: () => {} },
      { timeout: undefined },
      null,
      5,
      "timeoutMs",
      [],
      () => 1,
      new AbortController().signal,
    ]) {
      const error = await failure(() => call(emulated.client, options));
      expect([name, error.constructor, error.code]).toEqual([name, InvalidInputError, "INVALID_INPUT"]);
    }
    expect(emulated.requests()).toBe(0);
  });

  test.each([
    [{ timeOutMs: 5 }, /"timeOutMs": is not an option: did you mean timeoutMs\?/],
    [{ maxRetry: 1 }, /"maxRetry": is not an option: did you mean maxRetries\?/],
    [{ abortSignal: 1 }, /"abortSignal": is not an option: did you mean signal\?/],
    [{ verbose: true }, /"verbose": is not an option: the options are timeoutMs, maxRetries, signal, headers/],
    [{ idempotent: true }, /"idempotent": is not an option/],
    [{ a: 1, timeoutMs: -1 }, /"a": is not an option.*; timeoutMs: must be a number of milliseconds > 0/],
    [JSON.parse('{"__proto__": 5}'), /^(?!.*\[object)/],
    [{ ["x".repeat(100_000)]: 1 }, /^.{0,300}$/],
    [5, /options: must be an object with timeoutMs, maxRetries, signal, headers/],
  ])("options of a call that do not exist are named in the error, with the nearest known option", async (options, message) => {
    await using emulated = await startCounting('{"jobs":1}');
    const error = await failure(() => emulated.client.endpoint("e").health(options as object));
    expect(error.message).toMatch(message);
  });

  test("options of a call that do not exist are refused whatever their names", async () => {
    // Names of Object.prototype, such as "toString", are not seen as options: a library may have
    // added one to all objects.
    const optionName = fc.string({ minLength: 1 }).filter((name) => !(name in Object.prototype));
    await using emulated = await startCounting("{}");
    await fc.assert(
      fc.asyncProperty(fc.dictionary(optionName, fc.jsonValue(), { minKeys: 1 }), async (options) => {
        const error = await failure(() => emulated.client.endpoint("e").requests(options));
        expect(error).toBeInstanceOf(InvalidInputError);
      }),
      { numRuns: 200, examples: [[{ constructor2: 1 }]] },
    );
    expect(emulated.requests()).toBe(0);
  });

  test("options of a call that do not exist are not reported if a library has added properties to all objects", async () => {
    await using emulated = await startCounting();
    const prototype = Object.prototype as unknown as Record<string, unknown>;
    prototype.added = () => {};
    try {
      expect(await emulated.client.endpoint("e").requests({ timeoutMs: 5_000 })).toEqual({});
    } finally {
      delete prototype.added;
    }
  });
});

describe("options of a wrong type are refused before anything is sent", () => {
  test.each([
    ["run", { signal: new AbortController() }],
    ["run", { idempotent: "false" }],
    ["run", { schema: {} }],
    ["runSync", { onAbort: "Cancel" }],
    ["runSync", { timeoutMs: 1_999 }],
    ["runSync", { timeoutMs: "9000" }],
    ["runSync", { wait: 999 }],
    ["runSync", { wait: 300_001 }],
    ["runMany", { concurrency: 0 }],
    ["runMany", { request: "none" }],
    ["runMany", { onAbort: true }],
    ["job", { submittedAt: "yesterday" }],
    ["job", { submittedAt: new Date("yesterday") }],
    ["job", { ttl: 9_999 }],
    ["job.status", { ttl: 604_800_001 }],
    ["job.status", { ttl: 10_000.5 }],
    ["job.wait", { timeoutMs: Number.NaN }],
    ["job.wait", { timeoutMs: "5" }],
    ["job.wait", { onAbort: "cancelled" }],
    ["job.wait", { onStatus: "log" }],
    ["job.wait", { signal: "abort" }],
    ["job.stream", { onGap: true }],
    ["openai", { method: "DELETE" }],
    ["openai", { body: { stream: true } }],
    ["openaiStream", { body: { stream: false } }],
    ["openai", { body: () => 1 }],
    ["pods.get", { includeMachine: "false" }],
    ["endpoints.create", { onNameTaken: "adopt" }],
    ["endpoints.find", { maxAgeMs: "1" }],
    ["endpoints.delete", { drainTimeoutMs: -1 }],
    ["templates.delete", { releaseTimeoutMs: Number.NaN }],
  ])("%s: %p", async (name, options) => {
    await using emulated = await startCounting();
    const error = await failure(() => CALLS[name]?.(emulated.client, options));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.problems.map(({ property }) => property.split(".")[0])).toEqual(Object.keys(options));
    expect(emulated.requests()).toBe(0);
  });
});

describe("other arguments that are not valid are refused before anything is sent", () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;

  test.each([
    undefined,
    null,
    5,
    10n,
    Symbol("s"),
    circular,
    { id: "j", key: "x".repeat(10_000) },
    "",
    "a/b",
    ["j"],
  ])("an invalid id is refused: %#", async (id) => {
    await using emulated = await startCounting();
    const queue = emulated.client.endpoint("e");
    for (const call of [
      () => emulated.client.endpoint(id as string),
      () => queue.job(id as string),
      () => queue.status(id as string),
      () => emulated.client.pods.get(id as string),
    ]) {
      const error = await failure(call);
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error.message.length).toBeLessThan(300);
    }
    expect(emulated.requests()).toBe(0);
  });

  test.each([undefined, null, "", 5, { id: "e" }])("%p is refused as the id of a record", async (given) => {
    await using emulated = await startCounting(
      '{"data":{"myself":{"endpoints":[],"podTemplates":[],"networkVolumes":[]}}}',
    );
    const id = given as string;
    for (const call of [
      () => emulated.client.endpoints.get(id),
      () => emulated.client.endpoints.find(id),
      () => emulated.client.endpoints.update(id, { workersMax: 1 }),
      () => emulated.client.endpoints.scaleToZero(id),
      () => emulated.client.endpoints.delete(id),
      () => emulated.client.templates.delete(id),
      () => emulated.client.volumes.delete(id),
    ]) {
      expect(await failure(call)).toBeInstanceOf(InvalidInputError);
    }
    expect(emulated.requests()).toBe(0);
  });

  test.each([
    undefined,
    "",
    "/v1/chat/completions",
    "v1/../x",
    "v1/models?a=1",
    5,
  ])("%p is refused as a path", async (path) => {
    await using emulated = await startCounting();
    for (const call of ["openai", "openaiStream"] as const) {
      const error = await failure(() => emulated.client.endpoint("e")[call](path as string));
      expect(error).toBeInstanceOf(InvalidInputError);
      expect(error.message).toContain('such as "v1/chat/completions"');
    }
    expect(emulated.requests()).toBe(0);
  });

  test.each([
    undefined,
    null,
    {},
    { input: undefined },
    { input: Promise.resolve({ a: 1 }) },
    { input: new Map([["a", 1]]) },
    { input: new Set([1]) },
    { input: {}, toJSON: () => undefined },
  ])("an invalid request is refused: %#", async (request) => {
    await using emulated = await startCounting();
    expect(await failure(() => emulated.client.endpoint("e").run(request as never))).toBeInstanceOf(InvalidInputError);
    expect(emulated.requests()).toBe(0);
  });

  test.each([
    undefined,
    {},
    { endpoint: "e" },
    { onJob: () => {}, onError: () => {} },
    { endpoint: { endpointId: "e", status: () => {} }, onJob: () => {} },
    { endpoint: { endpointId: "e", status: () => {} }, onJob: () => {}, onError: () => {}, token: 5 },
    { endpoint: { endpointId: "e", status: () => {} }, onJob: () => {}, onError: () => {}, secret: "a".repeat(20) },
  ])("invalid options of a webhook receiver are refused: %#", async (options) => {
    expect(await failure(() => createWebhookReceiver(options as never))).toBeInstanceOf(InvalidInputError);
  });
});
