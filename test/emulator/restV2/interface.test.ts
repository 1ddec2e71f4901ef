import { type Emulator, manualClock, startEmulator } from "../../../emulator";
import { problemsOf } from "../../../emulator/model/shapes";
import { REST_V2 } from "../../../emulator/restV2/facts";
import { callV2, NEW_ENDPOINT, type V2Response } from "./call";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", restrictedApiKey: "restricted-key" });
});
afterEach(() => emulator.stop());

const call = (method: string, path: string, body?: unknown, key?: string | null) =>
  callV2(emulator, method, path, body, key);

test("[v2.paths] REST v2 serves every operation in the table of facts", async () => {
  for (const { method, path, ...facts } of Object.values(REST_V2)) {
    const { status } = await call(method, path.replace("{id}", "none"), "body" in facts ? {} : undefined);
    expect([path, [200, 404, 422].includes(status)]).toEqual([path, true]);
  }
  // Other paths below /v2 are those of queues.
  expect((await call("GET", "/none/health")).body.detail).toBe("endpoint none not found");
});

test("[v2.other-paths] [v2.method] REST v2 returns 404 for other paths and 405 for other methods", async () => {
  expect((await call("GET", "/serverless/a/none")).status).toBe(404);
  expect((await call("PUT", "/serverless")).status).toBe(405);
});

test("[v2.bearer] [v2.unauthorized-body] [v2.forbidden] [v2.problem] a wrong key returns 401, and a key without permission returns 403", async () => {
  expect(await call("GET", "/serverless", undefined, null)).toMatchObject({
    status: 401,
    body: { title: "Unauthorized", status: 401, detail: "missing bearer token" },
  });
  expect((await call("GET", "/serverless", undefined, "wrong")).status).toBe(401);
  expect((await call("GET", "/serverless", undefined, "restricted-key")).body).toEqual({
    title: "Forbidden",
    status: 403,
    detail: "access denied",
  });
});

test("[v2.malformed] [v2.unknown-id] [v2.request-id] a body that is not JSON returns 400, and an unknown id returns 404", async () => {
  expect((await call("POST", "/serverless", "{")).status).toBe(400);
  for (const path of ["/serverless/x", "/templates/x", "/network-volumes/x", "/registries/x"]) {
    expect((await call("GET", path)).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(404);
  }
  expect((await call("GET", "/serverless")).headers.get("x-request-id")).toMatch(/./);
});

test("[v2.pagination] following the cursor leads through all pages", async () => {
  emulator.seed({
    volumes: ["a", "b", "c"].map((name) => ({ id: name, name, size: 10, dataCenterId: "EU-RO-1" })),
  });
  const first = (await call("GET", "/network-volumes?limit=2")).body;
  expect(first).toMatchObject({ networkVolumes: [{ id: "a" }, { id: "b" }], pagination: { hasNextPage: true } });
  const { nextCursor } = first.pagination;
  expect((await call("GET", `/network-volumes?limit=2&cursor=${nextCursor}`)).body).toMatchObject({
    networkVolumes: [{ id: "c" }],
    pagination: { hasNextPage: false, nextCursor: null },
  });
  for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=other"]) {
    expect((await call("GET", `/network-volumes?${query}`)).status).toBe(422);
  }
});

test("[v2.rate-limit] [v2.rate-windows] requests above the limit of a window return 429", async () => {
  const clock = manualClock();
  await using limited = await startEmulator({
    profile: "contract",
    clock,
    rateLimits: { management: { perMinute: 2, perHour: 3 } },
  });
  const get = () => callV2(limited, "GET", "/serverless");
  const shown = ({ status, headers }: V2Response) => [status, headers.get("ratelimit"), headers.get("retry-after")];
  expect(shown(await get())).toEqual([200, '"minute";r=1;t=60, "hour";r=2;t=3600', null]);
  await clock.advance(20_000);
  expect(shown(await get())).toEqual([200, '"minute";r=0;t=40, "hour";r=1;t=3580', null]);
  const refused = await get();
  expect(shown(refused)).toEqual([429, '"minute";r=0;t=40, "hour";r=1;t=3580', "40"]);
  expect(refused.body.detail).toBe("rate limit exceeded for the minute window");
  expect(refused.headers.get("ratelimit-policy")).toBe('"minute";q=2;w=60, "hour";q=3;w=3600');
  await clock.advance(40_000);
  expect(shown(await get())).toEqual([200, '"minute";r=1;t=60, "hour";r=0;t=3540', null]);
  expect(shown(await get())[2]).toBe("3540");
});

test("the observed profile uses the limits from the service's description, and the contract profile sets no limits", async () => {
  expect((await call("GET", "/serverless")).headers.get("ratelimit")).toBeNull();
  await using observed = await startEmulator({ profile: "observed" });
  const { headers } = await callV2(observed, "GET", "/serverless");
  expect(headers.get("ratelimit-policy")).toBe('"minute";q=60;w=60, "hour";q=3000;w=3600, "day";q=50000;w=86400');
});

test("the journal names the operation, and shows no variables", async () => {
  await call("POST", "/serverless", { ...NEW_ENDPOINT, env: { TOKEN: "very-secret" } });
  const [entry] = emulator.journal.requests();
  expect(entry).toMatchObject({ interface: "v2", operation: "createEndpoint", endpointId: expect.any(String) });
  expect(JSON.stringify(entry)).not.toContain("very-secret");
});

test("the table's shapes accept the values that they describe, and name each problem", () => {
  const { body } = REST_V2.createNetworkVolume;
  expect(problemsOf(body, { name: "a", size: 10, dataCenter: "EU-RO-1", type: "STANDARD" })).toEqual([]);
  expect(problemsOf(body, { name: "", size: 9, type: "FAST", more: 1 })).toEqual([
    "$: missing property 'dataCenter'",
    "$: additional properties 'more' not allowed",
    "$.name: needs at least 1 characters",
    "$.size: must be at least 10",
    "$.type: must be one of STANDARD, HIGH_PERFORMANCE",
  ]);
  expect(problemsOf(REST_V2.updateNetworkVolume.body, {})).toEqual(["$: needs at least 1 properties"]);
});
