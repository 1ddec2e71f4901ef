import { type Emulator, startEmulator } from "../../emulator";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";

type Provider = Awaited<ReturnType<typeof startDynamicProvider>>;

let emulator: Emulator;
let provider: Provider;
beforeAll(async () => {
  emulator = await startEmulator({ drainMs: 0, coldStartMs: 0, rateLimits: { management: { perMinute: 60 } } });
});
beforeEach(async () => {
  emulator.reset();
  // Each test has the process, and so the limits, of a run of its own.
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

test("a refresh of 300 endpoints takes two requests, within the limit of a minute", async () => {
  const { outputs } = await create({ ...PROGRAM, locations: ["CZ", "RO"] });
  const endpoints = Array.from({ length: 300 }, (_, i) => ({
    ...{ id: `e${i}`, name: `e${i}`, gpuIds: "ADA_24", templateId: "tpl-one", workersMax: 2, locations: "CZ,RO" },
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

test("a changed template is applied, also with recycleWorkers, and state keeps what REST v2 does not show", async () => {
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

test("the first templateRevision of an endpoint applies the template, which may have changed before", async () => {
  const { templateRevision: _, ...program } = PROGRAM;
  const { id, inputs, outputs } = await create(program);
  emulator.templates.change("tpl-one", { imageName: "me/one:2" });
  await provider.update(id, outputs, { ...inputs, templateRevision: 2 });
  expect(emulator.endpoints.get(id)?.container?.imageName).toBe("me/one:2");
});

test("an adoption applies the template of the program, and shows no difference afterwards", async () => {
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

test("a change of a credential is refused, and nothing is changed", async () => {
  const kind = { __provider: 'exports.handler = () => require("pulumi-serverless-gpu/handlers").registryAuthV1;' };
  const { id, inputs, outputs } = await create({ ...kind, name: "ghcr", username: "me", password: "a-password" });
  const update = provider.update(id, { ...outputs, ...kind }, { ...inputs, ...kind, password: "another-password" });
  await expect(update).rejects.toThrow(/cannot change the user or the password .* Nothing was changed/);
  expect(emulator.registryAuths.matches(id, "me", "a-password")).toBe(true);
});

test.each([
  [{ SERVERLESS_GPU_API: "v2" }, {}, "v2"],
  [{}, { "serverless-gpu:api": "v2" }, "v2"],
  [{ SERVERLESS_GPU_API: "graphql" }, { "serverless-gpu:api": "v2" }, "graphql"],
  [{}, {}, "graphql"],
])("the environment %j and the config %j choose %s", async (env, config, expected) => {
  await using chosen = await startDynamicProvider({ ...emulator.env, ...env }, config);
  emulator.seed({ endpoints: [{ id: "e1", name: "a", gpuIds: "ADA_24", templateId: "tpl-one" }] });
  emulator.journal.clear();
  await chosen.read("e1", {});
  expect(emulator.journal.requests()[0]?.interface).toBe(expected);
});
