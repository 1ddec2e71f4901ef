import type { Endpoint, EndpointInput } from "../../../sdk";
import { CAPABILITIES } from "../../../sdk/contract/capabilities";
import { BusinessRuleError, InvalidInputError, NotFoundError, QuotaExceededError } from "../../../sdk/errors/errors";
import { CANARY, type Emulated, type EmulatedOptions, startEmulated } from "../../support/emulated";

const REQUIRED = { name: "llama", gpuIds: "AMPERE_24", templateId: "tpl1" } satisfies EndpointInput;

let current: Emulated | undefined;
afterEach(async () => {
  await current?.[Symbol.asyncDispose]();
  current = undefined;
});

async function start(api: "graphql" | "v2", emulator: EmulatedOptions["emulator"] = {}): Promise<Emulated> {
  current = await startEmulated({
    client: { api },
    emulator: {
      seed: {
        templates: [
          { id: "tpl1", name: "one", imageName: "me/one:1", env: [{ key: "A", value: "1" }] },
          { id: "tpl2", name: "two", imageName: "me/two:1" },
        ],
      },
      ...emulator,
    },
  });
  return current;
}

/** Returns the settings of an endpoint, as an input. */
function settingsOf({ id: _, pods: __, createdAt: ___, ...settings }: Endpoint): EndpointInput {
  return settings as EndpointInput;
}

/** Returns the bodies that the emulator received for an operation. */
function bodies({ emulator }: Emulated, operation: string): unknown[] {
  return emulator.journal.requests({ operation }).map(({ arguments: args }) => args.input);
}

describe.each(["graphql", "v2"] as const)("over %s", (api) => {
  test("an endpoint is created, read, changed, recycled and deleted", async () => {
    const site = await start(api);
    const { client, run, emulator } = site;
    const wanted = { ...REQUIRED, locations: ["CZ", "RO"], workersMin: 1, workersMax: 2, scalerValue: 2 } as const;
    const input: EndpointInput = { ...wanted, scalerType: "QUEUE_DELAY", flashBootType: "FLASHBOOT", idleTimeout: 30 };
    const created = await run(client.endpoints.create(input));
    expect(created).toMatchObject({
      name: "llama",
      gpuIds: "AMPERE_24",
      templateId: "tpl1",
      locations: "CZ,RO",
      idleTimeout: 30,
      flashBootType: "FLASHBOOT",
      scalerValue: 2,
      workersMin: 1,
      workersMax: 2,
      networkVolumeId: "",
    });
    const { id } = created;
    const known = { ...settingsOf(created) };
    const found = await run(client.endpoints.find(id, { known }));
    expect({ ...found, pods: [] }).toEqual({ ...created, pods: [] });

    const saved = await run(client.endpoints.update(id, { workersMax: 4, locations: "" }, { known }));
    expect(saved).toMatchObject({ ...known, workersMax: 4, locations: "" });
    expect(emulator.endpoints.get(id)).toMatchObject({ workersMax: 4, locations: "", templateId: "tpl1" });

    await run(client.endpoints.recycleWorkers(id, { workersMin: 1, workersMax: 4 }));
    expect(emulator.endpoints.get(id)).toMatchObject({ workersMin: 1, workersMax: 4 });

    await run(client.endpoints.delete(id));
    expect(emulator.endpoints.list()).toEqual([]);
    expect(emulator.templates.list()).toHaveLength(2);
    emulator.endpoints.create({ ...REQUIRED, name: "another" });
    expect(await run(client.endpoints.find(id))).toBeUndefined();
    await run(client.endpoints.delete(id));
  });

  test("a lost response to a create never results in a second endpoint", async () => {
    const { client, run, emulator } = await start(api);
    const operation = api === "v2" ? "createEndpoint" : "saveEndpoint";
    emulator.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
    const { id } = await run(client.endpoints.create(REQUIRED));
    expect(emulator.endpoints.list().map((each) => each.id)).toEqual([id]);
  });

  test.each([
    ["503", { status: 503 }],
    ["a reset", { reset: true }],
    ["a lost response", { reset: true, when: "after" }],
    ["a web page", { html: true }],
    ["a truncated body", { truncated: true }],
  ] as const)("a change is sent again after %s", async (_, effect) => {
    const { client, run, emulator } = await start(api);
    const { id } = await run(client.endpoints.create(REQUIRED));
    const operation = api === "v2" ? "updateEndpoint" : "saveEndpoint";
    emulator.faults.add({ match: { operation }, effect, times: 2 });
    await run(client.endpoints.update(id, { workersMax: 7 }));
    expect(emulator.endpoints.get(id)?.workersMax).toBe(7);
  });

  test("errors are the same as over the other API", async () => {
    const { client, run, failure, emulator } = await start(api, { workerQuota: 5 });
    await run(client.endpoints.create(REQUIRED));
    const quota = await failure(client.endpoints.create({ ...REQUIRED, name: "b" }));
    expect(quota).toBeInstanceOf(QuotaExceededError);
    expect(quota.message).toMatch(/quota \(5\).* In use now: 3 by "llama"/);
    expect(await failure(client.endpoints.update("none", { workersMax: 1 }))).toBeInstanceOf(NotFoundError);
    emulator.faults.add({ effect: { status: 401 } });
    expect(await failure(client.endpoints.list())).toMatchObject({ code: "AUTHENTICATION" });
  });

  test("a deletion waits for the workers and sends a single delete request", async () => {
    const { client, run, calls } = await start(api, { drainMs: 3_000, coldStartMs: 0 });
    const { id } = await run(client.endpoints.create({ ...REQUIRED, workersMin: 1 }));
    await run(client.endpoints.list());
    const phases: string[] = [];
    await run(client.endpoints.delete(id, { onProgress: ({ phase }) => phases.push(phase) }));
    expect(phases).toEqual(expect.arrayContaining(["scaling to zero", "draining", "deleting", "proving gone"]));
    expect(calls().filter((operation) => operation === "deleteEndpoint")).toHaveLength(1);
  });
});

test.each([
  "graphql",
  "v2",
] as const)("over %s, a deletion without drain deletes immediately or is refused before any request", async (api) => {
  const { client, run, failure, calls, emulator } = await start(api, { drainMs: 3_000, coldStartMs: 0 });
  const { id } = await run(client.endpoints.create({ ...REQUIRED, workersMin: 1 }));
  await run(client.endpoints.list());
  const before = calls().length;
  const deletion = client.endpoints.delete(id, { drain: false });
  if (api === "v2") {
    await run(deletion);
    expect(calls().slice(before)).toEqual(["deleteEndpoint", "listEndpoints"]);
    expect(emulator.endpoints.list()).toEqual([]);
  } else {
    const error = await failure(deletion);
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.message).toMatch(/drain: is false, but only REST v2 deletes an endpoint with its workers/);
    expect(calls()).toHaveLength(before);
  }
});

describe("REST v2", () => {
  test("a create sends the required fields with defaults, and countries as data centers", async () => {
    const site = await start("v2");
    const gpuIds = "ADA_24,AMPERE_24,-NVIDIA L4";
    await site.run(
      site.client.endpoints.create({ ...REQUIRED, gpuIds, locations: "CZ,US-KS-2,RO", networkVolumeId: "vol1" }),
    );
    expect(bodies(site, "createEndpoint")).toEqual([
      {
        name: "llama",
        type: "QUEUE",
        templateId: "tpl1",
        flashboot: "OFF",
        timeout: 600_000,
        gpu: { pools: ["ADA_24", "AMPERE_24"], excludedTypes: ["NVIDIA L4"], count: 1 },
        scaling: { type: "QUEUE_DELAY", queueDelay: 4 },
        workers: { min: 0, max: 3, idleTimeout: 10 },
        dataCenterIds: ["EU-CZ-1", "EU-RO-1", "EU-RO-2", "US-KS-2"],
        networkVolumes: ["vol1"],
      },
    ]);
  });

  test("a change sends only the fields that differ, but a scaler or a GPU selection as a whole", async () => {
    const site = await start("v2");
    const { client, run } = site;
    const created = await run(
      client.endpoints.create({ ...REQUIRED, locations: "CZ", gpuIds: "AMPERE_24,-NVIDIA L4" }),
    );
    const { id } = created;
    const known = { ...settingsOf(created) };
    const update = (changes: Partial<EndpointInput>) =>
      run(client.endpoints.update(id, { ...known, ...changes }, { known }));
    const unchanged = await update({});
    expect(unchanged).toEqual(created);
    expect(bodies(site, "updateEndpoint")).toEqual([]);
    await update({ scalerValue: 7 });
    await update({ gpuIds: "AMPERE_48,-NVIDIA A40", scalerValue: 7 });
    await update({ gpuIds: "AMPERE_48,-NVIDIA A40", scalerValue: 7, workersMax: 1, locations: "CZ,RO" });
    expect(bodies(site, "updateEndpoint")).toEqual([
      { scaling: { type: "QUEUE_DELAY", queueDelay: 7 } },
      { gpu: { pools: ["AMPERE_48"], excludedTypes: ["NVIDIA A40"] } },
      { workers: { max: 1 }, dataCenterIds: ["EU-CZ-1", "EU-RO-1", "EU-RO-2"] },
    ]);
  });

  test("idleTimeout is not sent with REQUEST_COUNT, and is sent again when the scaler changes back", async () => {
    const site = await start("v2");
    const { client, run } = site;
    const byCount = { scalerType: "REQUEST_COUNT", scalerValue: 2 } as const;
    const created = await run(client.endpoints.create({ ...REQUIRED, ...byCount, idleTimeout: 77 }));
    expect(created.idleTimeout).toBe(77);
    const { id } = created;
    const known = { ...settingsOf(created) };
    expect(await run(client.endpoints.find(id, { known }))).toEqual(created);
    await run(client.endpoints.update(id, { ...known, idleTimeout: 99 }, { known }));
    const changes = { ...known, scalerType: "QUEUE_DELAY", scalerValue: 3, idleTimeout: 99 } as const;
    const changed = await run(client.endpoints.update(id, changes, { known: { ...known, idleTimeout: 99 } }));
    expect(changed).toMatchObject({ idleTimeout: 99, scalerType: "QUEUE_DELAY" });
    const [create] = bodies(site, "createEndpoint") as [{ workers: object }];
    expect(create.workers).toEqual({ min: 0, max: 3 });
    expect(bodies(site, "updateEndpoint")).toEqual([
      { scaling: { type: "QUEUE_DELAY", queueDelay: 3 }, workers: { idleTimeout: 99 } },
    ]);
  });

  test("lists of data centers are recognized as countries, and the catalog is read only once", async () => {
    const { client, run, calls, emulator } = await start("v2");
    const { id } = await run(client.endpoints.create({ ...REQUIRED, locations: "CZ,RO" }));
    for (const locations of ["CZ,RO", "CZ", "EU-CZ-1,EU-RO-1,EU-RO-2"]) {
      const found = await run(client.endpoints.find(id, { known: { locations } }));
      expect(found?.locations).toBe(locations === "CZ" ? "EU-CZ-1,EU-RO-1,EU-RO-2" : locations);
    }
    // GraphQL may have accepted a country that REST v2 does not have.
    expect((await run(client.endpoints.find(id, { known: { locations: "ZZ" } })))?.locations).toContain("EU-CZ-1");
    emulator.endpoints.change(id, { locations: "EU-CZ-1" });
    const moved = await run(client.endpoints.find(id, { known: { locations: "CZ,RO" } }));
    expect(moved?.locations).toBe("EU-CZ-1");
    expect(calls().filter((operation) => operation === "listDataCenters")).toHaveLength(1);
  });

  test.each([
    ["once", 1],
    ["indefinitely", undefined],
  ])("a catalog request that fails %s is repeated before the change succeeds or fails", async (_, times) => {
    const { client, run, failure, emulator } = await start("v2");
    const { id } = await run(client.endpoints.create(REQUIRED));
    emulator.faults.add({ match: { operation: "listDataCenters" }, effect: { status: 503 }, ...(times && { times }) });
    const update = client.endpoints.update(id, { locations: "CZ" });
    if (times) expect((await run(update)).locations).toBe("CZ");
    else expect((await failure(update)).message).toMatch(/the catalog of data centers: .* 503/);
    expect(emulator.endpoints.get(id)?.locations).toBe(times ? "EU-CZ-1" : "");
    emulator.faults.clear();
    expect((await run(client.endpoints.update(id, { locations: "CZ" }))).locations).toBe("CZ");
  });

  test("a template is sent, because REST v2 does not return it, unless the caller knows that the endpoint already uses it", async () => {
    const site = await start("v2");
    const { client, run, emulator } = site;
    const { id } = await run(client.endpoints.create(REQUIRED));
    expect((await run(client.endpoints.get(id))).templateId).toBe("");
    const known = { templateId: "tpl1" };
    expect(await run(client.endpoints.find(id, { known }))).toMatchObject(known);
    await run(client.endpoints.update(id, { templateId: "tpl1" }, { known }));
    await run(client.endpoints.update(id, { templateId: "tpl2" }, { known }));
    await run(client.endpoints.update(id, { templateId: "tpl2" }));
    expect(bodies(site, "updateEndpoint")).toEqual([{ templateId: "tpl2" }, { templateId: "tpl2" }]);
    emulator.templates.change("tpl2", { imageName: "me/two:2" });
    expect(await run(client.endpoints.applyTemplate(id, "tpl2", { known }))).toMatchObject({ templateId: "tpl2" });
    expect(emulator.endpoints.get(id)?.container).toMatchObject({ imageName: "me/two:2" });
  });

  test("over GraphQL, a save links an endpoint to its template again after REST v2 has made a copy of it", async () => {
    const { emulator, client, run, calls } = await start("graphql");
    const { id } = await run(client.endpoints.create({ ...REQUIRED, templateId: "tpl1", workersMax: 2 }));
    const { url } = emulator;
    const body = { templateId: "tpl1" };
    const response = await fetch(`${url}/v2/serverless/${id}`, {
      method: "PATCH",
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${CANARY}`, "content-type": "application/json" },
    });
    expect(response.status).toBe(200);
    emulator.templates.change("tpl1", { imageName: "me/one:2" });
    expect(emulator.endpoints.get(id)?.container).toBeTruthy();
    const before = calls().length;
    expect(await run(client.endpoints.applyTemplate(id, "tpl1"))).toMatchObject({ templateId: "tpl1", workersMax: 2 });
    expect(emulator.endpoints.get(id)?.container ?? null).toBeNull();
    expect(calls().slice(before)).toEqual(["myself", "saveEndpoint"]);
  });

  test("the discount is null, and no request is sent", async () => {
    const { client, run, calls } = await start("v2");
    expect(await run(client.endpoints.getServerlessDiscount())).toBeNull();
    expect(calls()).toEqual([]);
  });

  test.each<[string, Partial<EndpointInput>, string]>([
    ["idleTimeout 0", { idleTimeout: 0 }, "idleTimeout: is 0; REST v2 accepts 1 to 3600 seconds"],
    ["a short delay", { scalerType: "QUEUE_DELAY", scalerValue: 0.1 }, "scalerValue: is 0.1"],
    ["half a job", { scalerType: "REQUEST_COUNT", scalerValue: 1.5 }, "a whole number of jobs"],
  ])("%s is refused before anything is sent", async (_, fields, message) => {
    const { client, failure, calls } = await start("v2");
    const error = await failure(client.endpoints.create({ ...REQUIRED, ...fields }));
    expect(error).toBeInstanceOf(InvalidInputError);
    expect(error.message).toContain(message);
    expect(calls()).not.toContain("createEndpoint");
  });

  test("a country without data centers is refused, and the error lists countries that have some", async () => {
    current = await startEmulated({ client: { api: "v2", acceptWords: ["ZZ"] } });
    const refused = await current.failure(current.client.endpoints.create({ ...REQUIRED, locations: "ZZ" }));
    expect(refused.message).toMatch(/the country ZZ, in which .* some in AU, CA, CZ, FR, GB/);
  });

  test("a problem that the service reports is shown in the service's words", async () => {
    const { client, run, failure, emulator } = await start("v2");
    const { id } = await run(client.endpoints.create(REQUIRED));
    const body = { title: "Bad Request", status: 400, detail: "There are no longer any instances available" };
    emulator.faults.add({ match: { operation: "updateEndpoint" }, effect: { status: 400, body } });
    const error = await failure(client.endpoints.update(id, { workersMax: 1 }));
    expect(error).toBeInstanceOf(BusinessRuleError);
    expect(error.message).toBe(
      `updateEndpoint of "llama" (${id}): the service says "There are no longer any instances available" (400)`,
    );
  });

  test("all pages of a list are read", async () => {
    const { client, run, emulator, calls } = await start("v2");
    const endpoints = Array.from({ length: 2300 }, (_, i) => ({ ...REQUIRED, name: `e${i}`, workersMax: 0 }));
    emulator.seed({ endpoints });
    expect(await run(client.endpoints.list())).toHaveLength(2300);
    expect(calls()).toEqual(["listEndpoints", "listEndpoints", "listEndpoints"]);
  });
});

test.each([
  "graphql",
  "v2",
] as const)("over %s, the table of capabilities matches what the requests support", async (api) => {
  const { client, run, calls } = await start(api);
  const { changesLogins, deletesWorkers, showsDiscount } = CAPABILITIES[api];
  const { id } = await run(client.registryAuths.create({ name: "r", username: "me", password: "very-secret" }));
  const login = { username: "me", password: "other-secret" };
  const works = (call: Promise<unknown>) =>
    run(
      call.then(
        () => true,
        () => false,
      ),
    );
  expect(await works(client.registryAuths.update(id, login))).toBe(changesLogins);
  const endpoint = await run(client.endpoints.create({ ...REQUIRED, workersMin: 1 }));
  expect(await works(client.endpoints.delete(endpoint.id, { drain: false }))).toBe(deletesWorkers);
  const before = calls().length;
  await run(client.endpoints.getServerlessDiscount());
  expect(calls().length > before).toBe(showsDiscount);
});
