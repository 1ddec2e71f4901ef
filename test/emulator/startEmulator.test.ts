import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { type Emulator, startEmulator } from "../../emulator";
import { createEndpoint, graphql, save } from "../support/plainClient";

const LIST = "{ myself { endpoints { name workersMax } } }";
const listed = async (emulator: Emulator) => (await graphql(emulator, LIST)).body.data.myself.endpoints;

describe("startEmulator", () => {
  test("startEmulator returns the environment that points a client at the emulator", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    expect(emulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(emulator.env).toEqual({
      SERVERLESS_GPU_API_KEY: emulator.apiKey,
      SERVERLESS_GPU_GRAPHQL_URL: emulator.url,
      SERVERLESS_GPU_REST_URL: emulator.url,
      SERVERLESS_GPU_QUEUE_URL: emulator.url,
    });
  });

  test("startEmulator runs many emulators at once in one process, each with its own endpoints", async () => {
    await using first = await startEmulator({ profile: "contract" });
    await using second = await startEmulator({ profile: "contract" });
    await createEndpoint(first);
    expect(await listed(first)).toHaveLength(1);
    expect(await listed(second)).toHaveLength(0);
  });

  test("startEmulator names the fields that are missing, unknown or of the wrong type in a record that a program creates or changes", async () => {
    await using emulator = await startEmulator();
    const { endpoints, templates, volumes, registryAuths, secrets } = emulator;
    const fields = { name: "chat", gpuIds: "ADA_24" };
    expect(() => endpoints.create(fields as never)).toThrow(/^The endpoint is not well formed.*→ at templateId/s);
    expect(() => endpoints.create({ ...fields, templateId: "t", imageName: "me/chat:1" } as never)).toThrow(
      /imageName/,
    );
    expect(() => endpoints.create({ ...fields, templateId: "t", workersMax: "5" } as never)).toThrow(/workersMax/);
    for (const create of [templates.create, volumes.create, registryAuths.create, secrets.create]) {
      expect(() => create({} as never)).toThrow(/^The .* is not well formed.*→ at (name|dataCenterId)/s);
      expect(() => create(undefined as never)).toThrow(/is not well formed/);
    }
    const { id } = endpoints.create({ ...fields, templateId: "t" });
    expect(() => endpoints.change(id, { workersMix: 1 } as never)).toThrow(
      /^The change is not well formed.*workersMix/s,
    );
  });

  test("startEmulator generates the same ids for the same seed", async () => {
    await using first = await startEmulator({ profile: "contract", randomSeed: 7 });
    await using second = await startEmulator({ profile: "contract", randomSeed: 7 });
    await using third = await startEmulator({ profile: "contract", randomSeed: 8 });
    const id = await createEndpoint(first);
    expect(await createEndpoint(second)).toBe(id);
    expect(await createEndpoint(third)).not.toBe(id);
  });

  test("startEmulator stops at once, even with open connections and running workers", async () => {
    const emulator = await startEmulator({ profile: "contract" });
    await createEndpoint(emulator, "workersMin: 2");
    const { hostname, port } = new URL(emulator.url);
    const socket = connect(Number(port), hostname);
    await new Promise((resolve) => socket.once("connect", resolve));
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.on("error", () => {});
    await emulator.stop();
    await closed;
    await expect(fetch(emulator.url)).rejects.toThrow();
  });

  test("startEmulator listens on the loopback address by default", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ family, internal }) => family === "IPv4" && !internal);
    for (const { address } of others) {
      await expect(fetch(emulator.url.replace("127.0.0.1", address))).rejects.toThrow("fetch failed");
    }
  });

  test("startEmulator fails with the reason if the port is in use", async () => {
    await using first = await startEmulator({ profile: "contract" });
    await expect(startEmulator({ profile: "contract", port: Number(new URL(first.url).port) })).rejects.toThrow(
      /another program listens there/,
    );
  });
});

describe("options", () => {
  test.each<[object, string]>([
    [{ prot: 80 }, 'Unrecognized key: "prot"'],
    [{ port: 70_000 }, "at port"],
    [{ profile: "foo" }, "at profile"],
    [{ apiKey: "" }, "at apiKey"],
    [{ coldStartMs: Number.NaN }, "must be a number, 0 or more"],
    [{ drainMs: -1 }, "at drainMs"],
    [{ workerQuota: "5" }, "at workerQuota"],
    [{ templates: "template-1" }, "at templates"],
    [{ handlers: () => 1 }, "must be an object that maps the name"],
    [{ handlers: { chat: "echo" } }, "at handlers"],
    [{ rateLimits: "off" }, "at rateLimits"],
    [{ rateLimits: { limits: { runs: {} } } }, "at rateLimits.limits"],
    [{ rateLimits: { limits: { run: { perWindow: Number.NaN } } } }, "at rateLimits.limits"],
    [{ clock: 60 }, "must be manualClock(), scaledClock(factor) or systemClock"],
  ])("%j are refused with the reason", async (options, reason) => {
    await expect(startEmulator(options)).rejects.toThrow(reason);
  });

  test("undefined options and infinite limits are accepted", async () => {
    const endless = Number.POSITIVE_INFINITY;
    await using emulator = await startEmulator({
      profile: "contract",
      host: undefined,
      handlers: undefined,
      drainMs: 0,
      workerQuota: endless,
      rateLimits: { limits: { run: { perWindow: endless }, status: undefined }, requestsPerWorker: 0 },
    });
    await createEndpoint(emulator);
  });
});

describe("drift tools", () => {
  test("list and get return endpoints with their workers", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    const id = await createEndpoint(emulator, "workersMin: 1");
    const endpoint = emulator.endpoints.get(id);
    expect(endpoint).toMatchObject({ id, name: "a", pods: [{ endpointId: id, desiredStatus: "RUNNING" }] });
    expect(emulator.endpoints.list()).toEqual([endpoint]);
    expect(emulator.endpoints.get("nope")).toBeUndefined();
  });

  test("create adds an endpoint that follows the service's rules, without a journal entry", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    const { id } = emulator.endpoints.create({ name: "other", gpuIds: "ADA_24", templateId: "t" });
    expect(emulator.endpoints.get(id)).toMatchObject({ workersMax: 3, idleTimeout: 10 });
    const unset = emulator.endpoints.create({
      name: "unset",
      gpuIds: "ADA_24",
      templateId: "t",
      workersMax: undefined,
    });
    expect(unset.workersMax).toBe(3);
    emulator.endpoints.delete(unset.id);
    expect(() => emulator.endpoints.create({ name: "bad", gpuIds: "NONE", templateId: "t" })).toThrow(
      "Invalid GPU Pool ID: NONE",
    );
    expect(emulator.journal.requests()).toEqual([]);
    expect(await listed(emulator)).toEqual([{ name: "other", workersMax: 3 }]);
  });

  test("change sets the given fields without checking their values", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    const id = await createEndpoint(emulator);
    emulator.endpoints.change(id, { workersMax: 2, gpuIds: "NEWEST_TIER" });
    expect(emulator.endpoints.get(id)).toMatchObject({ name: "a", workersMax: 2, gpuIds: "NEWEST_TIER" });
    expect(await listed(emulator)).toEqual([{ name: "a", workersMax: 2 }]);
    expect(() => emulator.endpoints.change("nope", { workersMax: 2 })).toThrow(/not found/);
  });

  test("change starts and drains workers", async () => {
    await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
    const id = await createEndpoint(emulator);
    expect(emulator.endpoints.change(id, { workersMin: 2 }).pods).toHaveLength(2);
    emulator.endpoints.change(id, { workersMin: 0, workersMax: 0 });
    while ((emulator.endpoints.get(id)?.pods.length ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("delete removes an endpoint at once, with its workers", async () => {
    await using emulator = await startEmulator({ profile: "contract" });
    const id = await createEndpoint(emulator, "workersMin: 1");
    expect(emulator.endpoints.delete(id)).toBe(true);
    expect(emulator.endpoints.delete(id)).toBe(false);
    expect(
      (await save(emulator, `id: "${id}", name: "a", gpuIds: "ADA_24", templateId: "t"`)).body.errors[0].message,
    ).toMatch(/not found/);
  });
});
