import { createClient, type RateLimitEvent } from "../../../sdk";
import { type Emulated, startEmulated } from "../../support/emulated";

let site: Emulated | undefined;
afterEach(async () => {
  await site?.[Symbol.asyncDispose]();
  site = undefined;
});

test("requests stay within the limits that the service reports, so that none is refused", async () => {
  site = await startEmulated({
    client: { api: "v2" },
    emulator: { rateLimits: { management: { perMinute: 20, perHour: 3000 } } },
  });
  const { client, run, emulator, clock } = site;
  const startedAt = clock.monotonic();
  const created = Array.from({ length: 50 }, (_, i) => client.templates.create({ name: `t${i}`, imageName: "me/t:1" }));
  await run(Promise.all(created));
  expect(emulator.templates.list()).toHaveLength(50);
  const statuses = new Set(emulator.journal.requests().map(({ status }) => status));
  expect([...statuses].sort()).toEqual([200, 201]);
  expect(clock.monotonic() - startedAt).toBeGreaterThan(100_000);
  expect(clock.monotonic() - startedAt).toBeLessThan(200_000);
});

test("requests that wait a long time because of the limit are reported", async () => {
  const events: RateLimitEvent[] = [];
  const lines: string[] = [];
  site = await startEmulated({
    client: {
      api: "v2",
      onRateLimit: (event) => events.push(event),
      logger: (level, line) => lines.push(`${level} ${line}`),
    },
    emulator: { rateLimits: { management: { perMinute: 20 } } },
  });
  const { client, run } = site;
  await run(
    Promise.all(Array.from({ length: 50 }, (_, i) => client.templates.create({ name: `t${i}`, imageName: "me/t:1" }))),
  );
  expect(events[0]).toEqual({ waiting: 31, delayMs: expect.any(Number) });
  expect(events.every(({ waiting, delayMs }) => waiting > 0 && delayMs > 0 && delayMs < 60_000)).toBe(true);
  expect(events.length).toBeGreaterThanOrEqual(8);
  expect(events.length).toBeLessThanOrEqual(12);
  expect(lines.find((line) => line.includes("wait for"))).toMatch(
    /^info 31 requests wait for the service's rate limit, the next for \d+ s$/,
  );
});

test("after a refusal, the client waits as long as the response says", async () => {
  site = await startEmulated({ client: { api: "v2" } });
  const { client, run, emulator, clock } = site;
  emulator.faults.add({ effect: { status: 429, headers: { "retry-after": "7" } }, times: 1 });
  const startedAt = clock.monotonic();
  await run(client.endpoints.list());
  expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(7_000);
});

test("an exhausted hourly limit causes an error that says so", async () => {
  site = await startEmulated({
    client: { api: "v2" },
    emulator: { rateLimits: { management: { perHour: 2 } } },
  });
  const { client, run, failure } = site;
  await run(client.endpoints.list());
  await run(client.endpoints.list());
  const error = await failure(client.endpoints.list());
  expect(error).toMatchObject({ code: "RATE_LIMITED" });
  expect(error.message).toContain("rate limit exceeded for the hour window");
});

test.each([
  [401, { title: "Unauthorized", status: 401, detail: "missing bearer token" }, "AUTHENTICATION"],
  [403, { title: "Forbidden", status: 403, detail: "access denied" }, "AUTHENTICATION"],
  [402, { title: "Payment Required", status: 402, detail: "insufficient balance" }, "BUSINESS_RULE"],
  [409, { title: "Conflict", status: 409, detail: "taken" }, "BUSINESS_RULE"],
  [
    422,
    { title: "Unprocessable Entity", status: 422, detail: "failed", errors: ["$: missing property 'x'"] },
    "REJECTED",
  ],
  [422, { title: "Unprocessable Entity", status: 422, detail: "must be a serverless template" }, "BUSINESS_RULE"],
  [400, "not a problem", "REJECTED"],
  [404, { title: "Not Found", status: 404, detail: "resource not found" }, "NOT_FOUND"],
  [410, { title: "Gone", status: 410, detail: "gone" }, "REJECTED"],
])("status %d with %j becomes %s", async (status, body, code) => {
  site = await startEmulated({ client: { api: "v2" } });
  site.emulator.faults.add({ effect: { status, body } });
  expect(await site.failure(site.client.endpoints.list())).toMatchObject({ code, status });
});

test("problems that are objects are shown as JSON", async () => {
  site = await startEmulated({ client: { api: "v2" } });
  const errors = ["$: missing property 'x'", { pointer: "/gpu", detail: "no pool" }];
  site.emulator.faults.add({ effect: { status: 422, body: { detail: "failed", errors } } });
  expect((await site.failure(site.client.endpoints.list())).message).toContain(
    `the service says "failed: $: missing property 'x'; {"pointer":"/gpu","detail":"no pool"}" (422)`,
  );
});

test("a gateway's page is recognized, and no message contains the key", async () => {
  site = await startEmulated({ client: { api: "v2" } });
  site.emulator.faults.add({ effect: { html: true, status: 403 } });
  const error = await site.failure(site.client.endpoints.list());
  expect(error).toMatchObject({ code: "REJECTED" });
  expect(error.message).toContain("an HTML page, so a gateway may have rejected it");
});

test.each(["graphql", "v2"])("over %s, the error for a GraphQL 410 says how to switch", async (api) => {
  site = await startEmulated({ client: { api: api as "graphql" } });
  site.emulator.faults.add({ match: { interface: "graphql" }, effect: { status: 410 } });
  const listing = site.client.endpoints.list();
  if (api === "v2") expect(await site.run(listing)).toEqual([]);
  else expect((await site.failure(listing)).message).toContain("set SERVERLESS_GPU_API=v2");
});

test("the environment selects the API unless the option does, and an unknown name is refused", async () => {
  site = await startEmulated();
  const { url, apiKey } = site.emulator;
  const connection = { apiKey, graphqlUrl: url };
  const interfaceOf = async (api?: "graphql" | "v2") => {
    site?.emulator.journal.clear();
    const client = createClient({ ...connection, api });
    await client.endpoints.list().finally(client.close);
    return site?.emulator.journal.requests()[0]?.interface;
  };
  expect(await interfaceOf()).toBe("graphql");
  process.env.SERVERLESS_GPU_API = "v2";
  try {
    expect(await interfaceOf()).toBe("v2");
    expect(await interfaceOf("graphql")).toBe("graphql");
    process.env.SERVERLESS_GPU_API = "v3";
    expect(() => createClient(connection)).toThrow('the management API "v3" is unknown: use graphql or v2');
  } finally {
    process.env.SERVERLESS_GPU_API = "";
  }
});
