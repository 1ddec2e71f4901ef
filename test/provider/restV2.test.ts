import { type Emulator, startEmulator } from "../../emulator";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";

type Provider = Awaited<ReturnType<typeof startDynamicProvider>>;

let emulator: Emulator;
let provider: Provider;
beforeAll(async () => {
  emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    coldStartMs: 0,
    rateLimits: { management: { perMinute: 60 } },
  });
});
beforeEach(async () => {
  emulator.reset();
  // Each test has its own process, and so its own limits, like a run.
  provider = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: "v2" });
  const templates = ["one", "other"].map((name) => ({ id: `tpl-${name}`, name, imageName: `me/${name}:1` }));
  emulator.seed({ templates });
});
afterEach(() => provider.stop());
afterAll(() => emulator.stop());

/** Checks a program, creates the resource, and returns its id and outputs. */
async function create(program: Properties) {
  const { inputs, failures } = await provider.check({}, program);
  expect(failures).toEqual([]);
  return { inputs, ...(await provider.create(inputs)) };
}

const PROGRAM = { name: "llama", gpuIds: "ADA_24", templateId: "tpl-one", templateRevision: 1, workersMax: 2 };

test("refreshing 300 endpoints takes two requests, within the limit of a minute", async () => {
  const { outputs } = await create({ ...PROGRAM, locations: ["CZ", "RO"] });
  const endpoints = Array.from({ length: 300 }, (_, i) => ({
    id: `e${i}`,
    name: `e${i}`,
    gpuIds: "ADA_24",
    templateId: "tpl-one",
    workersMax: 2,
    locations: "CZ,RO",
  }));
  emulator.seed({ endpoints });
  await provider.stop();
  provider = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: "v2" });
  emulator.journal.clear();
  const startedAt = performance.now();
  const read = await Promise.all(endpoints.map(({ id, name }) => provider.read(id, { ...outputs, name })));
  expect(performance.now() - startedAt).toBeLessThan(60_000);
  expect(emulator.journal.operations()).toEqual(["listEndpoints", "listDataCenters"]);
  for (const { inputs } of read) expect(inputs).toMatchObject({ locations: "CZ,RO", templateId: "tpl-one" });
});

test("a changed template is rolled out, also with recycleWorkers, and state keeps the values that REST v2 does not return", async () => {
  const { id, inputs, outputs } = await create({ ...PROGRAM, workersMin: 1, awaitReady: true });
  emulator.templates.change("tpl-one", { imageName: "me/one:2" });
  const image = () => emulator.endpoints.get(id)?.container?.imageName;
  expect(image()).toBe("me/one:1");
  const rolled = await provider.update(id, outputs, { ...inputs, templateRevision: 2 });
  expect(image()).toBe("me/one:2");
  expect(rolled).toMatchObject({ templateId: "tpl-one", templateRevision: 2, workersMax: 2 });

  emulator.templates.change("tpl-one", { imageName: "me/one:3" });
  const recycled = await provider.update(id, rolled, { ...inputs, templateRevision: 3, recycleWorkers: true });
  expect(image()).toBe("me/one:3");
  expect(recycled).toMatchObject({ templateId: "tpl-one", workersMin: 1, workersMax: 2 });
  expect(emulator.endpoints.get(id)).toMatchObject({ workersMin: 1, workersMax: 2 });
  expect(await provider.diff(id, recycled, { ...inputs, templateRevision: 3, recycleWorkers: true })).toMatchObject({
    changes: "none",
  });
});

test("the first templateRevision of an endpoint rolls out the template, which may have changed earlier", async () => {
  const { templateRevision: _, ...program } = PROGRAM;
  const { id, inputs, outputs } = await create(program);
  emulator.templates.change("tpl-one", { imageName: "me/one:2" });
  await provider.update(id, outputs, { ...inputs, templateRevision: 2 });
  expect(emulator.endpoints.get(id)?.container?.imageName).toBe("me/one:2");
});

test("an adoption rolls out the program's template and shows no difference afterwards", async () => {
  emulator.seed({
    endpoints: [{ id: "theirs", name: "by hand", gpuIds: "ADA_24", templateId: "tpl-other", locations: "CZ" }],
  });
  const { inputs, outputs } = await create({
    adoptId: "theirs",
    gpuIds: "ADA_24",
    templateId: "tpl-one",
    locations: "CZ",
  });
  expect(emulator.endpoints.get("theirs")?.container?.imageName).toBe("me/one:1");
  expect(outputs).toMatchObject({ name: "by hand", templateId: "tpl-one", locations: "CZ" });
  expect(await provider.diff("theirs", outputs, inputs)).toMatchObject({ changes: "none" });
  const read = await provider.read("theirs", outputs);
  expect(read.outputs).toMatchObject({ templateId: "tpl-one", locations: "CZ" });
});

describe("a credential, which REST v2 cannot change", () => {
  const kind = { __provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").registryAuthV1;' };
  const login = { username: "me", password: "a-password" };
  const other = { password: "another-password" };

  test("a credential is replaced by a credential with another automatic name, and a preview shows this", async () => {
    const { id, inputs, outputs } = await create({ ...kind, ...login, automaticName: "ghcr" });
    const before = { ...outputs, ...kind };
    expect(await provider.diff(id, before, { ...inputs, ...kind, ...other })).toMatchObject({ replaces: ["password"] });
    expect(await provider.diff(id, before, { ...inputs, ...kind })).toMatchObject({ changes: "none", replaces: [] });
  });

  test("a credential is refused under the same name, even in a preview, and nothing changes", async () => {
    const { id, inputs, outputs } = await create({ ...kind, ...login, name: "ghcr" });
    const refusal = /cannot change the user or the password .* Nothing was changed/;
    const [before, after] = [
      { ...outputs, ...kind },
      { ...inputs, ...kind, ...other },
    ];
    await expect(provider.diff(id, before, after)).rejects.toThrow(refusal);
    await expect(provider.update(id, before, after)).rejects.toThrow(refusal);
    expect(await provider.diff(id, before, { ...after, name: "other" })).toMatchObject({
      replaces: ["name", "password"],
    });
    expect(emulator.registryAuths.matches(id, "me", "a-password")).toBe(true);
  });

  test("a credential cannot be adopted", async () => {
    emulator.seed({ registryAuths: [{ id: "theirs", name: "theirs", username: "me", password: "their-password" }] });
    const { inputs } = await provider.check({}, { ...kind, ...login, adoptId: "theirs" });
    await expect(provider.create({ ...inputs, ...kind })).rejects.toThrow(
      /cannot be adopted: REST v2 .* Remove the resource, and write the credential's id where it is used/,
    );
    expect(emulator.registryAuths.matches("theirs", "me", "their-password")).toBe(true);
  });

  test("a credential whose name is taken is refused with the advice to use another name, which works", async () => {
    emulator.seed({ registryAuths: [{ id: "left", name: "left", username: "me", password: "their-password" }] });
    const [taken, another] = await Promise.all(
      ["left", "other"].map((name) => provider.check({}, { ...kind, ...login, name })),
    );
    const refused = await provider.create({ ...taken?.inputs, ...kind }).catch(String);
    expect(refused).toMatch(
      /"left" already exists: left\..* give this resource another name\. .* cannot be adopted, because REST v2/s,
    );
    expect(refused).not.toContain("set adoptId");
    const { id } = await provider.create({ ...another?.inputs, ...kind });
    expect(emulator.registryAuths.matches(id, "me", "a-password")).toBe(true);
    expect(emulator.registryAuths.matches("left", "me", "their-password")).toBe(true);
  });
});

test("an endpoint without drain is deleted at once with its workers", async () => {
  const { id, outputs } = await create({ ...PROGRAM, workersMin: 1, drain: false, awaitReady: true });
  emulator.journal.clear();
  await provider.delete(id, outputs);
  expect(emulator.journal.operations()).toEqual(["listEndpoints", "deleteEndpoint", "listEndpoints"]);
  expect(emulator.endpoints.list()).toEqual([]);
});

test("over GraphQL, the check refuses a deletion without drain and explains how to proceed", async () => {
  await using graphql = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_API: "graphql" });
  const { failures } = await graphql.check({}, { ...PROGRAM, drain: false });
  expect(failures).toEqual([
    { property: "", reason: expect.stringMatching(/^drain: .*only REST v2 .* Remove drain, or switch/) },
  ]);
  expect((await provider.check({}, { ...PROGRAM, drain: false })).failures).toEqual([]);
});

test("the check refuses values that REST v2 does not accept, unless they were saved earlier over the other API", async () => {
  const refused = async (olds: Properties, news: Properties) =>
    (await provider.check(olds, { ...PROGRAM, ...news })).failures.map(({ reason }) => reason.split(":")[0]);
  expect(await refused({}, { idleTimeout: 0 })).toEqual(["idleTimeout"]);
  expect(await refused({}, { scalerType: "REQUEST_COUNT", scalerValue: 1.5 })).toEqual(["scalerValue"]);
  expect(await refused({}, { scalerType: "QUEUE_DELAY", scalerValue: 0.1 })).toEqual(["scalerValue"]);
  expect(await refused({}, { scalerType: "REQUEST_COUNT", scalerValue: 2, idleTimeout: 0 })).toEqual([]);
  expect(await refused({ ...PROGRAM, idleTimeout: 0 }, { idleTimeout: 0, workersMax: 5 })).toEqual([]);
  const byCount = { ...PROGRAM, scalerType: "REQUEST_COUNT", scalerValue: 2, idleTimeout: 0 };
  expect(await refused(byCount, { scalerType: "QUEUE_DELAY", scalerValue: 2, idleTimeout: 0 })).toEqual([
    "idleTimeout",
  ]);
});

test.each([
  [{ SERVERLESS_GPU_API: "v2" }, {}, "v2"],
  [{}, { "serverless-gpu:api": "v2" }, "v2"],
  [{ SERVERLESS_GPU_API: "graphql" }, { "serverless-gpu:api": "v2" }, "graphql"],
  [{}, {}, "graphql"],
])("with the environment %j and the config %j, %s is used", async (env, config, expected) => {
  await using chosen = await startDynamicProvider({ ...emulator.env, ...env }, config);
  emulator.seed({ endpoints: [{ id: "e1", name: "a", gpuIds: "ADA_24", templateId: "tpl-one" }] });
  emulator.journal.clear();
  await chosen.read("e1", {});
  expect(emulator.journal.requests()[0]?.interface).toBe(expected);
});
