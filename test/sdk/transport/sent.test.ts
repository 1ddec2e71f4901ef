import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { SubmitUncertainError } from "../../../sdk/jobs/jobErrors";
import { withoutCanary } from "../../support/emulated";
import { clientOf, startRawServer } from "../../support/rawServer";

/** Codes that the system gives before a connection is made, and after. */
const CODES = ["EHOSTUNREACH", "ENETUNREACH", "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"];

/**
 * Ends a connection with this error when the service has its request. Returns a function that stops
 * that.
 */
function breakOnArrival({ arrivals }: Service, code: string, when: (path: string) => boolean): () => void {
  const onHeaders = (message: unknown) => {
    const { request, socket } = message as {
      request: { path: string };
      socket: { destroy(error: Error): void };
    };
    if (when(request.path)) arrivals.once("request", () => socket.destroy(Object.assign(new Error(code), { code })));
  };
  subscribe("undici:client:sendHeaders", onHeaders);
  return () => unsubscribe("undici:client:sendHeaders", onHeaders);
}

type Service = Awaited<ReturnType<typeof startService>>;

/** A service that counts what it does. It tells `arrivals` of each request before it responds. */
async function startService() {
  const arrivals = new EventEmitter();
  const endpoints: object[] = [];
  let jobs = 0;
  const server = await startRawServer(async (incoming, outgoing) => {
    let body = "";
    for await (const chunk of incoming) body += chunk;
    if (incoming.url?.endsWith("/run")) jobs++;
    if (body.includes("saveEndpoint")) {
      endpoints.push({ id: `ep-${endpoints.length + 1}`, name: "llama", gpuIds: "AMPERE_24", templateId: "t" });
    }
    const data = body.includes("saveEndpoint") ? { saveEndpoint: endpoints.at(-1) } : { myself: { endpoints } };
    const response = incoming.url?.endsWith("/run") ? { id: `job-${jobs}`, status: "IN_QUEUE" } : { data };
    arrivals.emit("request");
    outgoing.end(JSON.stringify(response));
  });
  return { ...server, arrivals, endpoints, jobs: () => jobs, [Symbol.asyncDispose]: server[Symbol.asyncDispose] };
}

describe.each(CODES)("an established connection that ends with %s", (code) => {
  test("an established connection makes a submit uncertain, and the submit is not sent again", async () => {
    await using service = await startService();
    const client = clientOf(service);
    const stop = breakOnArrival(service, code, (path) => path.endsWith("/run"));
    const error = await client
      .endpoint("ep")
      .run({ input: {} })
      .catch((reason: unknown) => reason);
    stop();
    expect(withoutCanary(error)).toBeInstanceOf(SubmitUncertainError);
    expect(service.jobs()).toBe(1);
    await client.close();
  });
});

test("a create over a connection that ends with EHOSTUNREACH creates one endpoint and finds it", async () => {
  await using service = await startService();
  const client = clientOf(service);
  let isFirst = true;
  const stop = breakOnArrival(service, "EHOSTUNREACH", (path) => {
    const isCreate = path.startsWith("/graphql") && service.endpoints.length === 0 && !isFirst;
    isFirst = false;
    return isCreate;
  });
  const made = await client.endpoints.create({ name: "llama", gpuIds: "AMPERE_24", templateId: "t" });
  stop();
  expect(made.id).toBe("ep-1");
  expect(service.endpoints).toHaveLength(1);
  await client.close();
});

test("a server that resets the connection after the request makes a submit uncertain", async () => {
  let count = 0;
  await using server = await startRawServer((incoming) => {
    count++;
    incoming.socket.resetAndDestroy();
  });
  const client = clientOf(server);
  await expect(client.endpoint("ep").run({ input: {} })).rejects.toThrow(SubmitUncertainError);
  expect(count).toBe(1);
  await client.close();
});

test("a connection that cannot be established is retried, and the error says that nothing was sent", async () => {
  // It accepts connections but never speaks TLS, so no request can begin.
  const sockets: Socket[] = [];
  const silent = createServer((socket) => sockets.push(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const client = clientOf(
    { url: `https://127.0.0.1:${(silent.address() as AddressInfo).port}` },
    { attemptTimeoutMs: 300, retry: { maxAttempts: 2, maxElapsedMs: 60_000 } },
  );
  const error = withoutCanary(
    await client
      .endpoint("ep")
      .run({ input: {} })
      .catch((reason: unknown) => reason),
  );
  expect(error).toMatchObject({ code: "CANNOT_CONNECT" });
  expect(error.message).toMatch(
    /could not connect to https:.* in time, so nothing was sent.*given up after 2 attempts/,
  );
  for (const socket of sockets) socket.destroy();
  silent.close();
  await client.close();
});
