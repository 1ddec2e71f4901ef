import { type Emulator, startEmulator } from "../../emulator";
import { PROVIDER_TEXT, type Properties, startDynamicProvider } from "../support/dynamicProvider";

const CANARY = "canary-key-3f9a1c";
const INPUTS = { name: "llama", gpuIds: ["AMPERE_24", "AMPERE_16"], templateId: "template" };

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", apiKey: CANARY, drainMs: 2_000 });
});

afterEach(() => emulator.stop());

async function checked(
  provider: Awaited<ReturnType<typeof startDynamicProvider>>,
  news: Properties,
  olds: Properties = {},
) {
  const { inputs, failures } = await provider.check(olds, news);
  expect(failures).toEqual([]);
  return inputs;
}

test("an endpoint is created with one save, read, updated in place and deleted", async () => {
  await using provider = await startDynamicProvider(emulator.env);
  const inputs = await checked(provider, { ...INPUTS, locations: ["RO", "CZ", "RO"], workersMin: 1 });
  const { id, outputs } = await provider.create(inputs);
  // The last list shows whether somebody else has created an endpoint with the name meanwhile.
  expect(emulator.journal.operations()).toEqual(["myself", "saveEndpoint", "myself"]);
  expect(outputs).toEqual({
    __provider: PROVIDER_TEXT,
    __managed: "gpuIds,locations,name,templateId,workersMin",
    __stamp: expect.stringMatching(/^[0-9a-f]{16}\.[0-9a-f]{8}$/),
    __account: expect.stringMatching(new RegExp(`^${emulator.url} [0-9a-f]{12}$`)),
    name: "llama",
    gpuIds: "AMPERE_24,AMPERE_16",
    templateId: "template",
    idleTimeout: 10,
    locations: "CZ,RO",
    flashBootType: "OFF",
    scalerType: "QUEUE_DELAY",
    scalerValue: 4,
    workersMin: 1,
    workersMax: 3,
    gpuCount: 1,
    type: "QUEUE",
    queueUrl: `${emulator.url}/v2/${id}`,
  });

  emulator.endpoints.change(id, { idleTimeout: 77, locations: "US" });
  const read = await provider.read(id, outputs);
  expect(read.inputs).toEqual({ ...inputs, locations: "US" });
  expect(read.outputs).toEqual({ ...outputs, locations: "US", idleTimeout: 77, __stamp: expect.any(String) });

  const updated = await provider.update(id, read.outputs, { ...inputs, workersMax: 2 });
  expect(updated).toMatchObject({ locations: "CZ,RO", workersMax: 2, idleTimeout: 77 });

  emulator.journal.clear();
  await provider.delete(id, updated);
  const operations = emulator.journal.operations();
  expect(operations.slice(0, 3)).toEqual(["myself", "saveEndpoint", "myself"]);
  expect(operations.slice(-3)).toEqual(["myself", "deleteEndpoint", "myself"]);
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);
  expect(emulator.endpoints.list()).toEqual([]);
  expect(provider.output()).toContain("llama: waiting for 1 worker to stop");
  expect(provider.output()).not.toContain(CANARY);
});

test("parallel creates in one deployment share their lists and save once each", async () => {
  await using provider = await startDynamicProvider(emulator.env);
  const names = Array.from({ length: 20 }, (_, index) => `endpoint-${index}`);
  const inputs = await Promise.all(names.map((name) => checked(provider, { ...INPUTS, name, workersMax: 1 })));
  // Slow enough for all creates to start before the first list responds.
  emulator.faults.add({ match: { operation: "myself" }, effect: { latencyMs: 2_000 }, times: 1 });
  await Promise.all(inputs.map((each) => provider.create(each)));
  expect(
    emulator.endpoints
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual([...names].sort());
  expect(emulator.journal.requests({ operation: "saveEndpoint" })).toHaveLength(20);
  // One or two lists before the creates, and as many after them to look for duplicates. A busy
  // machine ends the creates further apart.
  expect(emulator.journal.requests({ operation: "myself" }).length).toBeLessThanOrEqual(6);
});

test("the provider reports all problems of a resource at once and sends no request", async () => {
  await using provider = await startDynamicProvider(emulator.env);
  const { failures } = await provider.check(
    {},
    { gpuIds: "AMPER_24", locations: "XX", workersMin: 5, workerMax: 1, templateId: "" },
  );
  expect(failures.map(({ reason }) => reason.split(":")[0]).sort()).toEqual(
    ["gpuIds", "locations", "name", "templateId", "workerMax", "workersMin"].sort(),
  );
  expect(failures.find(({ reason }) => reason.startsWith("gpuIds: "))?.reason).toContain("AMPERE_24");
  expect(emulator.journal.requests()).toEqual([]);
});

test("checks and compares inputs without a key, a URL or a network", async () => {
  await using provider = await startDynamicProvider({});
  const inputs = await checked(provider, INPUTS);
  expect(await provider.diff("id", { ...inputs }, inputs)).toEqual({ changes: "none", replaces: [] });
  expect(await provider.diff("id", { ...inputs, gpuIds: "AMPERE_80" }, inputs)).toEqual({
    changes: "unknown",
    replaces: [],
  });
});

test.each([
  ["no key", { SERVERLESS_GPU_API_KEY: "" }, /there is no API key: set SERVERLESS_GPU_API_KEY/],
  ["a broken key", { SERVERLESS_GPU_API_KEY: `${CANARY} x` }, /characters that are not valid in a key/],
  ["no queue URL", { SERVERLESS_GPU_QUEUE_URL: "" }, /there is no queueUrl/],
  ["a wrong key", { SERVERLESS_GPU_API_KEY: `${CANARY}-other` }, /401.*Check that the API key is right/],
])("with %s, create fails with advice and does not show the key", async (_case, env, message) => {
  await using provider = await startDynamicProvider({ ...emulator.env, ...env });
  await expect(provider.create(await checked(provider, INPUTS))).rejects.toThrow(message);
  await expect(provider.read("some-id", INPUTS)).rejects.not.toThrow(CANARY);
  expect(emulator.endpoints.list()).toEqual([]);
  expect(provider.output()).not.toContain(CANARY);
});

test("an endpoint that is gone is reported as deleted after further checks, and deleting it succeeds", async () => {
  await using provider = await startDynamicProvider(emulator.env);
  const { id, outputs } = await provider.create(await checked(provider, INPUTS));
  emulator.endpoints.delete(id);
  // An empty list would prove nothing.
  emulator.endpoints.create({ name: "another", gpuIds: "AMPERE_24", templateId: "template" });
  emulator.journal.clear();
  expect(await provider.read(id, outputs)).toEqual({ id: "", outputs: { __provider: PROVIDER_TEXT }, inputs: {} });
  // The list, the single read that the contract does not have, and the list after 15 s.
  expect(emulator.journal.operations()).toEqual(["myself", "myself", "myself"]);
  emulator.journal.clear();
  await provider.delete(id, outputs);
  expect(emulator.journal.operations()).toEqual(["myself", "deleteEndpoint", "myself"]);
});

test("a response without an account is an error, not an empty account", async () => {
  const noAccount = await startEmulator({ profile: "observed" });
  await using provider = await startDynamicProvider({ ...noAccount.env, SERVERLESS_GPU_API_KEY: "another-key-77" });
  await expect(provider.read("some-id", INPUTS)).rejects.toThrow(/key/);
  await noAccount.stop();
});

test("config is read from the stack, and the environment takes precedence", async () => {
  const config = {
    "serverless-gpu:apiKey": CANARY,
    "serverless-gpu:graphqlUrl": emulator.url,
    "serverless-gpu:queueUrl": "http://from-config.example",
  };
  await using provider = await startDynamicProvider(
    { SERVERLESS_GPU_QUEUE_URL: "http://from-environment.example/" },
    config,
  );
  const inputs = await checked(provider, INPUTS);
  const [first, second] = await Promise.all([provider.create(inputs), provider.create({ ...inputs, name: "other" })]);
  expect(first.outputs.queueUrl).toBe(`http://from-environment.example/v2/${first.id}`);
  expect(second.outputs.name).toBe("other");
});
