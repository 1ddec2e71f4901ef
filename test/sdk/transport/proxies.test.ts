import type { Socket } from "node:net";
import { createClient } from "../../../sdk/client/client";
import { ConfigurationError, type ServerlessGpuError } from "../../../sdk/errors/errors";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";
import { startScriptedServer } from "../../support/scriptedServer";
import { PASSWORD, startProxy, type Tunnel } from "../../support/tunnelProxy";

const VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "NO_PROXY", "no_proxy"];
const before = { ...process.env };

beforeEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

afterEach(() => {
  for (const name of VARIABLES) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});

const EMPTY_LIST = { body: { data: { myself: { endpoints: [] } } } };

async function failed(call: Promise<unknown>): Promise<Error> {
  const error = withoutCanary(await call.catch((reason: unknown) => reason));
  expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain(PASSWORD);
  return error;
}

describe("a client", () => {
  test("a client uses the proxy from HTTP_PROXY with its user and password", async () => {
    await using proxy = await startProxy();
    await using server = await startScriptedServer(() => EMPTY_LIST);
    process.env.HTTP_PROXY = proxy.url;
    const client = clientOf(server);
    expect(await client.endpoints.list()).toEqual([]);
    const authorization = `Basic ${Buffer.from(`user:${PASSWORD}`).toString("base64")}`;
    expect(proxy.asked).toEqual([{ host: server.url.replace("http://", ""), authorization }]);
    await client.close();
  });

  test("a client treats a proxy without a protocol as an HTTP proxy", async () => {
    await using proxy = await startProxy();
    await using server = await startScriptedServer(() => EMPTY_LIST);
    process.env.http_proxy = proxy.host;
    const client = clientOf(server);
    await client.endpoints.list();
    expect(proxy.asked).toHaveLength(1);
    await client.close();
  });

  test("a client bypasses the proxy if NO_PROXY names the host or if the proxy is only for https", async () => {
    await using proxy = await startProxy();
    await using server = await startScriptedServer(() => EMPTY_LIST);
    process.env.HTTP_PROXY = proxy.url;
    process.env.NO_PROXY = "example.com,127.0.0.1";
    const named = clientOf(server);
    await named.endpoints.list();
    await named.close();
    delete process.env.NO_PROXY;
    delete process.env.HTTP_PROXY;
    process.env.HTTPS_PROXY = proxy.url;
    const other = clientOf(server);
    await other.endpoints.list();
    await other.close();
    expect(proxy.asked).toEqual([]);
    expect(server.requests).toHaveLength(2);
  });

  test("a client names a proxy that cannot be reached, without the proxy's password", async () => {
    const proxy = await startProxy();
    await proxy[Symbol.asyncDispose]();
    process.env.HTTPS_PROXY = proxy.url;
    const client = clientOf({ url: "https://api.example.com" }, { retry: { maxAttempts: 1 } });
    const error = await failed(client.endpoints.list());
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    expect(error.message).toContain(
      `HTTPS_PROXY is set: check the proxy http://${proxy.host}, or add the host to NO_PROXY`,
    );
    await client.close();
  });

  test.each([
    "not a url at all",
    `ftp://user:${PASSWORD}@proxy`,
    "http://",
  ])("a client refuses %p as a proxy", (value) => {
    process.env.HTTPS_PROXY = value;
    const make = () => createClient({ apiKey: CANARY, queueUrl: "https://api.example.com" });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(/^HTTPS_PROXY must be the http\(s\) URL of a proxy/);
    expect(make).not.toThrow(PASSWORD);
  });
});

describe("a proxy that makes no tunnel: nothing was submitted, so the client tries again", () => {
  const refusals: readonly (readonly [string, Tunnel])[] = [
    ["status 503", (socket) => void socket.end("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n")],
    ["status 502", (socket) => void socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")],
    ["a reset", (socket) => void socket.resetAndDestroy()],
    ["a closed connection", (socket) => void socket.end()],
    ["silence", () => undefined],
  ];

  test.each(refusals)("%s", async (_what, refuse) => {
    let jobs = 0;
    await using proxy = await startProxy((socket, number) => (number === 1 ? refuse(socket, number) : "tunnel"));
    await using server = await startScriptedServer(() => ({ body: { id: `job-${++jobs}`, status: "IN_QUEUE" } }));
    process.env.HTTP_PROXY = proxy.url;
    const client = clientOf(server, { attemptTimeoutMs: 500 });
    const job = await client.endpoint("ep").run({ input: {} });
    expect(job.id).toBe("job-1");
    expect(jobs).toBe(1);
    expect(proxy.asked).toHaveLength(2);
    // A pending tunnel ends with the proxy.
    void client.close();
  });

  test("a proxy that always closes the connection is used only once per attempt", async () => {
    await using proxy = await startProxy((socket) => void socket.end());
    process.env.HTTPS_PROXY = proxy.url;
    const client = clientOf({ url: "https://api.example.com" }, { retry: { maxAttempts: 2 } });
    const error = await failed(client.endpoint("ep").run({ input: {} }));
    expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
    expect((error as ServerlessGpuError).attempts).toBe(2);
    expect(proxy.asked).toHaveLength(2);
    await client.close();
  });
});

test("a submit is uncertain if its tunnel breaks after the request was sent", async () => {
  let jobs = 0;
  const tunnels: Socket[] = [];
  await using proxy = await startProxy((socket) => {
    tunnels.push(socket);
    return "tunnel";
  });
  await using server = await startRawServer(async (incoming) => {
    for await (const _chunk of incoming);
    jobs++;
    for (const socket of tunnels) socket.resetAndDestroy();
  });
  process.env.HTTP_PROXY = proxy.url;
  const client = clientOf(server);
  expect(await failed(client.endpoint("ep").run({ input: {} }))).toBeInstanceOf(SubmitUncertainError);
  expect(jobs).toBe(1);
  await client.close();
});

test("a proxy's password that is not percent-encoded is refused and not shown", () => {
  process.env.HTTP_PROXY = `http://user:${PASSWORD}%@127.0.0.1:9`;
  const make = () => clientOf({ url: "http://127.0.0.1:9" });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(/HTTP_PROXY.*percent-encoded/);
  expect(make).not.toThrow(PASSWORD);
});

test.each([
  [407, "PROXY_AUTHENTICATION", 1],
  [502, "CANNOT_CONNECT", 2],
])("a proxy that refuses the tunnel with %d is named together with its status", async (status, code, attempts) => {
  await using proxy = await startProxy((socket) => {
    socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    return undefined;
  });
  process.env.HTTP_PROXY = proxy.url;
  const client = clientOf({ url: "http://127.0.0.1:9" }, { retry: { maxAttempts: 2 } });
  const error = await client
    .endpoint("ep")
    .run({ input: {} })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code, message: expect.stringContaining(`status ${status}`) });
  expect(proxy.asked).toHaveLength(attempts);
  await client.close();
});
