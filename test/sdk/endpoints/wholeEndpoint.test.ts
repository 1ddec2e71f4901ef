import { Agent } from "undici";
import { BusinessRuleError, InvalidInputError } from "../../../sdk/errors/errors";
import { startEmulated } from "../../support/emulated";

const TEMPLATES = [{ id: "t", name: "one", imageName: "me/one:1" }];
const VOLUMES = ["EU-RO-1", "US-KS-2", "EU-RO-1"].map((dataCenterId, i) => ({
  id: `v${i + 1}`,
  name: `v${i + 1}`,
  size: 10,
  dataCenterId,
}));

const warnings: string[] = [];
/** The bodies that the client has sent. */
const bodies: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  bodies.length = 0;
});
const agent = new Agent();
afterAll(() => agent.close());
const recording = agent.compose((dispatch) => (options, handler) => {
  if (typeof options.body === "string") bodies.push(options.body);
  return dispatch(options, handler);
});

type Api = "graphql" | "v2";
const start = (api: Api = "graphql") =>
  startEmulated({
    emulator: { profile: "observed", seed: { templates: TEMPLATES, volumes: VOLUMES } },
    client: { service: "runpod", api, dispatcher: recording, onWarning: ({ message }) => warnings.push(message) },
  });

/** Returns the input of the last save over GraphQL, without the selection after it. */
const lastSave = () => {
  const save = bodies.filter((body) => body.includes("saveEndpoint")).at(-1) ?? '{"query":""}';
  return String(JSON.parse(save).query).split(") {")[0] ?? "";
};

const BASE = { name: "llama", templateId: "t" };
const GPU = { ...BASE, gpuIds: "ADA_24" };

const WHOLE = {
  ...GPU,
  gpuCount: 2,
  minCudaVersion: "12.8",
  executionTimeoutMs: 1_800_000,
  networkVolumeIds: ["v2", "v1"],
  flashBootType: "PRIORITY_FLASHBOOT",
  type: "LOAD_BALANCER",
  scalerType: "REQUEST_COUNT",
} as const;
const SHOWN = {
  ...WHOLE,
  networkVolumeIds: "v1,v2",
  networkVolumeId: "v1,v2",
  allowedCudaVersions: "",
  instanceIds: "",
};

describe.each<Api>(["graphql", "v2"])("over %s", (api) => {
  test("every setting is sent, shown, changed and reset to its default", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const { id, ...created } = await it.run(endpoints.create(WHOLE));
    const known = api === "v2" ? { known: SHOWN } : {};
    expect(created).toMatchObject({ ...SHOWN, templateId: api === "v2" ? created.templateId : "t" });
    const changes = {
      gpuCount: 4,
      minCudaVersion: null,
      allowedCudaVersions: ["12.11", "12.2"],
      networkVolumeId: "v1",
    };
    const changed = await it.run(endpoints.update(id, { ...changes, executionTimeoutMs: 0 }, known));
    expect(changed).toMatchObject({
      gpuCount: 4,
      minCudaVersion: "",
      allowedCudaVersions: "12.2,12.11",
      executionTimeoutMs: 0,
      networkVolumeId: "v1",
      networkVolumeIds: "v1",
      type: "LOAD_BALANCER",
    });
    const nulls = { gpuCount: null, allowedCudaVersions: null, executionTimeoutMs: null, networkVolumeIds: null };
    const reset = await it.run(endpoints.update(id, { ...nulls, flashBootType: null }, known));
    expect(reset).toMatchObject({
      gpuCount: 1,
      allowedCudaVersions: "",
      executionTimeoutMs: 600_000,
      networkVolumeIds: "",
      flashBootType: "OFF",
      type: "LOAD_BALANCER",
    });
    expect(await it.run(endpoints.get(id))).toMatchObject({ gpuCount: 1, networkVolumeId: "", type: "LOAD_BALANCER" });
  });

  test("a CPU endpoint has neither GPUs nor CUDA versions, and cannot switch to GPUs", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const cpu = await it.run(endpoints.create({ ...BASE, instanceIds: ["cpu3g-4-16", "cpu3c-2-4"] }));
    expect(cpu).toMatchObject({ instanceIds: "cpu3c-2-4,cpu3g-4-16", gpuIds: "", gpuCount: 1 });
    expect(bodies.join()).not.toMatch(/gpuCount:|CudaVersion[^s ]|"gpu":/);
    const changed = await it.run(
      endpoints.update(cpu.id, { instanceIds: "cpu3g-8-32", workersMax: 1, gpuCount: null }),
    );
    expect(changed).toMatchObject({ instanceIds: "cpu3g-8-32", workersMax: 1 });
    const before = it.calls().length;
    const toGpus = await it.failure(endpoints.update(cpu.id, { gpuIds: "ADA_24", instanceIds: null }));
    expect(toGpus).toBeInstanceOf(InvalidInputError);
    expect(toGpus.message).toContain("the endpoint runs on CPUs (cpu3g-8-32). Create another");
    const gpu = await it.run(endpoints.create({ ...GPU, name: "other" }));
    const toCpus = await it.failure(endpoints.update(gpu.id, { instanceIds: ["cpu3g-4-16"], gpuIds: null }));
    expect(toCpus.message).toContain("the endpoint runs on GPUs (ADA_24). Create another");
    const toServer = await it.failure(endpoints.update(gpu.id, { type: "LOAD_BALANCER" }));
    expect(toServer.message).toContain("type: cannot be changed: the endpoint is of the type QUEUE. Create another");
    expect(it.calls().slice(before)).not.toContain("updateEndpoint");
  });

  test("a new endpoint gets a time limit of ten minutes, and an existing endpoint keeps its time limit", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const { id, executionTimeoutMs } = await it.run(endpoints.create(GPU));
    expect(executionTimeoutMs).toBe(600_000);
    it.emulator.endpoints.change(id, { executionTimeoutMs: 90_000 });
    await it.clock.advance(60_000);
    expect(await it.run(endpoints.update(id, { workersMax: 1 }))).toMatchObject({ executionTimeoutMs: 90_000 });
    expect(it.emulator.endpoints.get(id)).toMatchObject({ executionTimeoutMs: 90_000, workersMax: 1 });
  });

  test("a location that none of the volumes is in is refused before anything is written", async () => {
    await using it = await start(api);
    const { endpoints } = it.client;
    const wrong = { ...GPU, locations: ["EU-RO-1", "EU-SE-1"], networkVolumeIds: ["v1", "v2"] };
    const refusal = await it.failure(endpoints.create(wrong));
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal.message).toMatch(
      /locations: contains EU-SE-1, where the endpoint has no .* Its volumes are in EU-RO-1, US-KS-2/,
    );
    const twice = await it.failure(endpoints.create({ ...GPU, networkVolumeIds: ["v1", "v3"] }));
    expect(twice.message).toContain("networkVolumeIds: contains more than one volume in EU-RO-1");
    expect(it.emulator.endpoints.list()).toEqual([]);
    const { id } = await it.run(endpoints.create({ ...wrong, locations: "US-KS-2,RO" }));
    expect(await it.failure(endpoints.update(id, { locations: "EU-SE-1" }))).toBeInstanceOf(InvalidInputError);
    expect(it.emulator.endpoints.get(id)?.locations).toContain("US-KS-2");
  });

  test("a GPU pool that this version does not know causes a warning, and the service's refusal names it, but a likely typo or a GPU type is refused", async () => {
    await using it = await start(api);
    const refusal = await it.failure(it.client.endpoints.create({ ...GPU, gpuIds: "FUTURE_300" }));
    expect(refusal).toBeInstanceOf(BusinessRuleError);
    expect(refusal.message).toContain("FUTURE_300");
    expect(warnings).toEqual([expect.stringContaining("FUTURE_300, a GPU pool that")]);
    for (const gpuIds of ["HOPPER_142", "NVIDIA L4"]) {
      const wrong = await it.failure(it.client.endpoints.create({ ...GPU, gpuIds }));
      expect(wrong).toBeInstanceOf(InvalidInputError);
    }
    expect(await it.run(it.client.endpoints.create({ ...GPU, gpuIds: "HOPPER_141" }))).toMatchObject({
      gpuIds: "HOPPER_141",
    });
    expect(warnings).toHaveLength(1);
  });

  test("a CPU endpoint whose create response was lost is found", async () => {
    await using it = await start(api);
    const operation = api === "v2" ? "createEndpoint" : "saveEndpoint";
    it.emulator.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
    const made = await it.run(it.client.endpoints.create({ ...BASE, instanceIds: ["cpu3g-4-16"] }));
    expect(it.emulator.endpoints.list()).toHaveLength(1);
    expect(made.instanceIds).toBe("cpu3g-4-16");
  });
});

describe("over GraphQL", () => {
  test("several volumes are sent as a list, and a single volume as its id", async () => {
    await using it = await start();
    const { endpoints } = it.client;
    const { id } = await it.run(endpoints.create({ ...GPU, networkVolumeIds: ["v1"] }));
    expect(lastSave()).toMatch(/networkVolumeId: "v1"/);
    expect(lastSave()).not.toContain("networkVolumeIds");
    expect(await it.run(endpoints.update(id, { networkVolumeIds: "v2,v3" }))).toMatchObject({
      networkVolumeId: "v2,v3",
    });
    expect(lastSave()).toContain('networkVolumeIds: [{networkVolumeId: "v2"}, {networkVolumeId: "v3"}]');
    expect(await it.run(endpoints.update(id, { workersMax: 1 }))).toMatchObject({ networkVolumeId: "v2,v3" });
    expect(lastSave()).not.toMatch(/networkVolumeId: (null|"v1")/);
  });

  test("models can be set and cleared, and both CUDA rules can be set", async () => {
    await using it = await start();
    const { endpoints } = it.client;
    const model = "https://huggingface.co/a/b:main";
    const cuda = { minCudaVersion: "12.2", allowedCudaVersions: "12.11" };
    const made = await it.run(endpoints.create({ ...GPU, ...cuda, modelReferences: [model] }));
    expect(made).toMatchObject({ modelReferences: model, ...cuda });
    expect(await it.run(endpoints.update(made.id, { modelReferences: null }))).toMatchObject({ modelReferences: "" });
    expect(lastSave()).toContain("modelReferences: []");
  });
});

test("REST v2 refuses models and the combination of two CUDA rules before anything is sent", async () => {
  await using it = await start("v2");
  const { endpoints } = it.client;
  const model = await it.failure(endpoints.create({ ...GPU, modelReferences: ["https://huggingface.co/a/b:main"] }));
  expect(model.message).toContain("modelReferences: cannot be set over REST v2");
  const cuda = await it.failure(endpoints.create({ ...GPU, minCudaVersion: "12.2", allowedCudaVersions: "12.4" }));
  expect(cuda.message).toContain("minCudaVersion: cannot be combined with allowedCudaVersions over REST v2");
  const { id } = await it.run(endpoints.create({ ...GPU, minCudaVersion: "12.2" }));
  const both = await it.failure(endpoints.update(id, { allowedCudaVersions: "12.4" }));
  expect(both.message).toContain("minCudaVersion: cannot be combined");
  const moved = await it.run(endpoints.update(id, { allowedCudaVersions: "12.4", minCudaVersion: null }));
  expect(moved).toMatchObject({ allowedCudaVersions: "12.4", minCudaVersion: "" });
});

describe("at a service without a name", () => {
  test.each<[string, object]>([
    ["gpuCount", { gpuCount: 2 }],
    ["minCudaVersion", { minCudaVersion: "12.8" }],
    ["allowedCudaVersions", { allowedCudaVersions: "12.8" }],
    ["executionTimeoutMs", { executionTimeoutMs: 600_000 }],
    ["networkVolumeIds", { networkVolumeIds: ["v1", "v2"] }],
    ["flashBootType", { flashBootType: "PRIORITY_FLASHBOOT" }],
    ["type", { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" }],
    ["modelReferences", { modelReferences: ["https://huggingface.co/a/b:main"] }],
  ])("GraphQL refuses %s before any endpoint is saved", async (field, fields) => {
    await using it = await startEmulated();
    const refusal = await it.failure(it.client.endpoints.create({ ...GPU, ...fields }));
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal.message).toMatch(new RegExp(`${field}: .*is supported only by the service runpod`));
    expect(it.calls()).not.toContain("saveEndpoint");
  });

  test("GraphQL supports one volume, given as a list or a string, and a single GPU", async () => {
    await using it = await startEmulated({ emulator: { seed: { volumes: VOLUMES } } });
    const made = await it.run(it.client.endpoints.create({ ...GPU, networkVolumeIds: ["v1"], gpuCount: 1 }));
    expect(made).toMatchObject({ networkVolumeId: "v1", networkVolumeIds: "v1", gpuCount: 1, type: "QUEUE" });
  });

  test("REST v2 supports all of these settings except models", async () => {
    await using it = await startEmulated({
      client: { api: "v2" },
      emulator: { seed: { templates: TEMPLATES, volumes: VOLUMES } },
    });
    expect(await it.run(it.client.endpoints.create(WHOLE))).toMatchObject({ gpuCount: 2, type: "LOAD_BALANCER" });
  });
});

describe("inputs that contradict each other are refused", () => {
  test.each<[string, object, RegExp]>([
    ["neither GPUs nor CPUs", BASE, /gpuIds: is required \(or instanceIds/],
    ["GPUs and CPUs", { ...GPU, instanceIds: "cpu3g-4-16" }, /instanceIds: cannot be combined with gpuIds/],
    ["two GPUs on CPUs", { ...BASE, instanceIds: "cpu3g-4-16", gpuCount: 2 }, /gpuCount: cannot be set for an .* CPUs/],
    ["CUDA on CPUs", { ...BASE, instanceIds: "cpu3g-4-16", minCudaVersion: "12.8" }, /minCudaVersion: cannot be set/],
    ["both forms of volumes", { ...GPU, networkVolumeId: "v1", networkVolumeIds: ["v2"] }, /its short form/],
    [
      "a floor above all versions",
      { ...GPU, allowedCudaVersions: "12.2", minCudaVersion: "12.11" },
      /is 12.11, higher/,
    ],
    ["a server that scales by delay", { ...GPU, type: "LOAD_BALANCER" }, /scalerType: must be REQUEST_COUNT/],
    [
      "a version without a point",
      { ...GPU, minCudaVersion: "12" },
      /minCudaVersion: must be a CUDA version.*it is "12"/,
    ],
    ["a list of wrong versions", { ...GPU, allowedCudaVersions: ["12.8", "x"] }, /it contains "x"/],
    ["a word that is no instance", { ...BASE, instanceIds: "cpu3g" }, /must be a CPU instance such as cpu3g-4-16/],
    ["no GPU", { ...GPU, gpuCount: 0 }, /gpuCount: must be a whole number of GPUs, 1 or more; it is 0/],
    ["eight days", { ...GPU, executionTimeoutMs: 8 * 86_400_000 }, /executionTimeoutMs: must be whole milliseconds/],
  ])("%s", async (_what, input, message) => {
    await using it = await start();
    const refusal = await it.failure(it.client.endpoints.create(input as typeof GPU));
    expect(refusal).toBeInstanceOf(InvalidInputError);
    expect(refusal.message).toMatch(message);
  });
});
