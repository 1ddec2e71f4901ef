import { inspect } from "node:util";
import fc from "fast-check";
import { Agent, type Dispatcher } from "undici";
import { type ClientOptions, ConfigurationError, createClient, type ServerlessGpuError } from "../../../sdk";
import { CANARY, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";
import { addressesOf } from "../../support/scriptedServer";

const SETTINGS = { apiKey: CANARY, queueUrl: "http://127.0.0.1:9" };

/** Returns the error of bad options, after a check that it does not show the key. */
function refusal(options: unknown): Error {
  try {
    createClient(options as ClientOptions);
  } catch (error) {
    return withoutCanary(error);
  }
  throw new Error(`${inspect(options)} should have been refused`);
}

/** Runs with these variables, and no others of ours. */
async function withEnvironment<T>(variables: Record<string, string>, run: () => T | Promise<T>): Promise<T> {
  const before = { ...process.env };
  for (const name of Object.keys(process.env)) if (name.startsWith("SERVERLESS_GPU_")) delete process.env[name];
  Object.assign(process.env, variables);
  try {
    return await run();
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  }
}

describe("options that are not valid", () => {
  test.each<[object, RegExp]>([
    [{ retry: { maxAttempts: 0 } }, /retry\.maxAttempts must be a whole number ≥ 1/],
    [{ retry: { maxAttempts: 1.5 } }, /retry\.maxAttempts must be a whole number ≥ 1/],
    [{ retry: { maxElapsedMs: Number.NaN } }, /retry\.maxElapsedMs must be a number of milliseconds > 0/],
    [{ retry: { maxElapsed: 5 } }, /"retry\.maxElapsed" does not exist: did you mean maxElapsedMs\?/],
    [{ retry: 3 }, /retry must be an object/],
    [{ attemptTimeoutMs: 0 }, /attemptTimeoutMs must be a number of milliseconds > 0/],
    [{ attemptTimeoutMs: -5 }, /attemptTimeoutMs/],
    [{ attemptTimeoutMs: Number.NaN }, /attemptTimeoutMs/],
    [{ attemptTimeoutMs: "30" }, /attemptTimeoutMs/],
    [{ rateLimits: null }, /rateLimits must be "off", or an object/],
    [{ rateLimits: "on" }, /rateLimits must be "off", or an object/],
    [{ rateLimits: { requestsPerWorker: -1 } }, /rateLimits must be "off", or an object/],
    [{ apiKey: 12345678 }, /apiKey must be a string/],
    [{ apikey: CANARY }, /"apikey" does not exist: did you mean apiKey\?/],
    [{ queueURL: "http://a" }, /did you mean queueUrl\?/],
    [{ wholly: 1 }, /"wholly" does not exist$/],
    [{ service: "runpad" }, /the service "runpad" is unknown/],
    [{ queueUrl: 5 }, /queueUrl must be a string/],
    [{ logger: { log() {} } }, /logger must be a function, or an object with the methods debug, info, warn, error/],
    [{ onRequest: {} }, /onRequest must be a function/],
    [{ onRetry: "x" }, /onRetry must be a function/],
    [{ dispatcher: {} }, /dispatcher must be a dispatcher of undici/],
    [{ clock: {} }, /clock must have now, monotonic and schedule/],
    [{ acceptWords: "NEW" }, /acceptWords must be a list of strings/],
  ])("such as %j are named in the error, which explains how to fix them", (options, message) => {
    const error = refusal({ ...SETTINGS, ...options });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(message);
  });

  test.each([null, "key", 5, []])("%j is refused as an options argument", (options) => {
    expect(refusal(options).message).toMatch(/the argument must be an object/);
  });

  test("options that are not valid are all reported at once", () => {
    const { message } = refusal({ ...SETTINGS, retries: 3, attemptTimeoutMs: -1 });
    expect(message).toMatch(/attemptTimeoutMs must be .*"retries" does not exist: did you mean retry\?/);
  });

  test("options of any shape either cause a configuration error or create a client", async () => {
    const names = ["retry", "attemptTimeoutMs", "rateLimits", "logger", "onRequest", "dispatcher", "clock", "queueUrl"];
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), fc.anything()), async (options) => {
        try {
          await createClient({ ...SETTINGS, ...options } as ClientOptions).close();
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigurationError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

test("an option that is undefined falls back to its default", async () => {
  let requests = 0;
  await using server = await startRawServer((_, response) => {
    requests++;
    response.writeHead(requests === 1 ? 503 : 200).end("{}");
  });
  const options = { retry: { maxElapsedMs: undefined, maxAttempts: undefined }, attemptTimeoutMs: undefined };
  await using client = clientOf(server, { ...options, rateLimits: undefined, logger: undefined, onRetry: undefined });
  expect(await client.endpoint("e1").requests()).toEqual({});
  expect(requests).toBe(2);
});

describe("a client without options", () => {
  test("a client without options takes the key, the service and the URLs from the environment", async () => {
    const keys: unknown[] = [];
    await using server = await startRawServer((request, response) => {
      keys.push(request.headers.authorization);
      response.end("{}");
    });
    const variables = { SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_QUEUE_URL: server.url };
    await withEnvironment(variables, async () => {
      await using client = createClient();
      await client.endpoint("e1").requests();
      await using observed = createClient({ onRequest: () => {} });
      await observed.endpoint("e1").requests();
    });
    expect(keys).toEqual([`Bearer ${CANARY}`, `Bearer ${CANARY}`]);
  });

  test.each<[string, Record<string, string>, string]>([
    [
      "everything",
      {},
      "there is no API key (set SERVERLESS_GPU_API_KEY) and no service (set SERVERLESS_GPU_SERVICE=runpod, or ",
    ],
    [
      "the key",
      { SERVERLESS_GPU_SERVICE: "runpod" },
      "there is no API key (set SERVERLESS_GPU_API_KEY) in the environment",
    ],
    ["the service", { SERVERLESS_GPU_API_KEY: CANARY }, "there is no service (set SERVERLESS_GPU_SERVICE=runpod, or "],
  ])("says in one sentence that %s is missing", async (_, variables, message) => {
    const error = await withEnvironment(variables, () => refusal(undefined));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message.startsWith(message)).toBe(true);
    expect(error.message).not.toMatch(/\. [A-Z]/);
  });

  test.each([
    ["v2", undefined, "GET /v2"],
    ["v2", "graphql", "GET /v2"],
    ["graphql", "v2", "POST /graphql"],
    [undefined, "v2", "GET /v2"],
    [undefined, undefined, "POST /graphql"],
  ] as const)("a client without options uses the API %s from the options rather than %s from the environment", async (api, variable, request) => {
    const requests: string[] = [];
    await using server = await startRawServer(({ method, url }, response) => {
      requests.push(`${method} ${url}`);
      response.writeHead(401).end("{}");
    });
    const key = { SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_GRAPHQL_URL: server.url };
    const variables = variable === undefined ? key : { ...key, SERVERLESS_GPU_API: variable };
    await withEnvironment(variables, async () => {
      await using client = createClient({ api });
      await expect(client.endpoints.list()).rejects.toThrow("401");
      await using own = createClient({ api, apiKey: CANARY, graphqlUrl: server.url });
      await expect(own.endpoints.list()).rejects.toThrow("401");
    });
    expect(requests).toEqual([expect.stringMatching(request), expect.stringMatching(request)]);
  });

  test("a client without options never sends the environment's key to a URL in the options", async () => {
    await withEnvironment({ SERVERLESS_GPU_API_KEY: CANARY, SERVERLESS_GPU_SERVICE: "runpod" }, () => {
      expect(refusal({ queueUrl: "http://127.0.0.1:9" }).message).toMatch(/no API key.*settingsFromEnvironment/);
      expect(refusal({ service: "runpod" }).message).toMatch(/no API key.*settingsFromEnvironment/);
    });
  });
});

describe("a user's dispatcher", () => {
  test("a user's dispatcher sends all requests instead of the client's own connections and proxies, and stays open", async () => {
    await using server = await startRawServer((_, response) => response.end("{}"));
    const agent = new Agent();
    const paths: unknown[] = [];
    const noting: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
      paths.push(options.path);
      return dispatch(options, handler);
    };
    await withEnvironment({ HTTP_PROXY: "http://127.0.0.1:1" }, async () => {
      const client = clientOf(server, { dispatcher: agent.compose(noting) });
      await client.endpoint("e1").requests();
      await client.close();
      await expect(client.endpoint("e1").requests()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
      await expect(client.endpoints.list()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
      await expect(client.pods.get("p1")).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
    });
    expect(paths).toEqual(["/v2/e1/requests"]);
    const { statusCode } = await agent.request({ origin: server.url, path: "/", method: "GET" });
    expect(statusCode).toBe(200);
    await agent.close();
  });

  test.each([
    [
      "throws",
      () => {
        throw Object.assign(new Error("invalid onConnect method"), { code: "UND_ERR_INVALID_ARG" });
      },
    ],
    [
      "reports",
      (_: unknown, handler: Dispatcher.DispatchHandler) => {
        const error = Object.assign(new Error("invalid onConnect method"), { code: "UND_ERR_INVALID_ARG" });
        handler.onResponseError?.({} as Dispatcher.DispatchController, error);
        return false;
      },
    ],
  ])("a dispatcher from another version of undici that %s causes an error that explains the problem", async (_, dispatch) => {
    await using client = createClient({ ...SETTINGS, dispatcher: { dispatch } as unknown as Dispatcher });
    await expect(client.endpoint("e1").run({ input: {} })).rejects.toMatchObject({
      code: "CONFIGURATION",
      message: expect.stringMatching(/dispatcher rejected the request .*undici 7/),
    });
  });

  test("a user's dispatcher is not mistaken for a proxy from the environment", async () => {
    await withEnvironment({ HTTP_PROXY: "http://127.0.0.1:1" }, async () => {
      await using client = createClient({ ...SETTINGS, dispatcher: new Agent(), retry: { maxAttempts: 1 } });
      const error = await client
        .endpoint("e1")
        .health()
        .catch((failure: Error) => failure);
      expect(error).toMatchObject({ code: "CANNOT_CONNECT", message: expect.not.stringMatching(/HTTP_PROXY/) });
    });
  });
});

test("close() ends silent requests, pauses and waits for the rate limit, and reports the requests that were still pending", async () => {
  const lines: string[] = [];
  let silent = 0;
  let onSilent = () => {};
  const bothAreSilent = new Promise<void>((resolve) => {
    onSilent = resolve;
  });
  await using server = await startRawServer((request, response) => {
    if (request.url?.includes("busy")) response.writeHead(429, { "retry-after": "100" }).end();
    else if (++silent === 2) onSilent();
  });
  let onPause = () => {};
  const pauses = new Promise<void>((resolve) => {
    onPause = resolve;
  });
  const client = createClient({
    apiKey: "k",
    queueUrl: server.url,
    logger: (level, message) => lines.push(`${level} ${message}`),
    onRetry: () => onPause(),
  });
  const failed = (call: Promise<unknown>) => call.then(String, (error: ServerlessGpuError) => error.code);
  const calls = [
    failed(client.endpoint("e1").run({ input: {} })),
    failed(client.endpoint("e1").health()),
    failed(client.endpoint("busy").health()),
  ];
  await Promise.all([bothAreSilent, pauses]);
  const startedAt = performance.now();
  await client.close();
  expect(await Promise.all(calls)).toEqual(["SUBMIT_UNCERTAIN", "CLIENT_CLOSED", "CLIENT_CLOSED"]);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(lines).toContain("warn the client was closed while 2 requests had no response yet");
});

test("await using closes the client at the end of the block", async () => {
  await using server = await startRawServer((_, response) => response.end("{}"));
  const after = await (async () => {
    await using client = createClient({ apiKey: CANARY, ...addressesOf(server) });
    await client.endpoint("e1").requests();
    return client;
  })();
  await expect(after.endpoint("e1").requests()).rejects.toMatchObject({ code: "CLIENT_CLOSED" });
});
