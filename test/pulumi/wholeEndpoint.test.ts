import { type Emulator, startEmulator } from "../../emulator";
import { apisOr } from "../faults/rules/stack";
import { createStack, endpointsIn, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

/** The settings of each kind of endpoint that somebody needs. */
interface Choice {
  readonly gpus?: number;
  readonly timeout?: string;
  readonly floor?: string;
  readonly volumes?: string;
  readonly server?: string;
  readonly cpu?: string;
  readonly model?: string;
}

const SERVER = `type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 4`;
const FIRST: Required<Choice> = {
  gpus: 2,
  timeout: "executionTimeoutMs: 1_800_000",
  floor: `minCudaVersion: "12.8"`,
  volumes: `networkVolumeIds: ["v2", "v1"], locations: ["US-KS-2", "EU-RO-1"]`,
  server: SERVER,
  cpu: `instanceIds: ["cpu3g-4-16"]`,
  model: "",
};
const CHANGED: Required<Choice> = {
  gpus: 4,
  timeout: "",
  floor: `allowedCudaVersions: ["12.11", "12.8"]`,
  volumes: `networkVolumeId: "v1"`,
  server: `${SERVER}, flashBootType: "PRIORITY_FLASHBOOT"`,
  cpu: `instanceIds: ["cpu3g-8-32", "cpu3g-4-16"], workersMax: 1`,
  model: "",
};

function resources(prefix: string, { gpus, timeout, floor, volumes, server, cpu, model }: Choice): string {
  const declare = (name: string, args: string) =>
    `new ${prefix}ServerlessEndpoint("${name}", { name: "${name}", templateId: "t", ${args} });\n`;
  const gpu = `gpuIds: ["ADA_24"]`;
  return [
    declare("twoGpus", `${gpu}, gpuCount: ${gpus}`),
    declare("long", `${gpu}, ${timeout}`),
    declare("cuda", `${gpu}, ${floor}`),
    declare("regions", `${gpu}, ${volumes}`),
    declare("server", `${gpu}, ${server}`),
    declare("cpu", `${cpu}`),
    model ? declare("model", `${gpu}, ${model}`) : "",
  ].join("");
}

const dynamic = (choice: Choice) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
${resources("", choice)}`;

const TEMPLATES = [{ id: "t", name: "one", imageName: "me/one:1" }];
const VOLUMES = ["EU-RO-1", "US-KS-2"].map((dataCenterId, i) => ({
  id: `v${i + 1}`,
  name: `v${i + 1}`,
  size: 10,
  dataCenterId,
}));
const MODEL = "https://huggingface.co/a/b";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
});
beforeEach(() => {
  emulator.reset();
  emulator.seed({ templates: TEMPLATES, volumes: VOLUMES });
});
afterAll(() => emulator.stop());

const endpoint = (name: string) => emulator.endpoints.list().find((each) => each.name.replace(/( -fb)+$/, "") === name);
const envOf = (api: string) => ({ ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api });
const writes = () => emulator.journal.operations().filter((each) => /^(save|create|update|delete)/.test(each));

const CREATED = {
  twoGpus: { gpuCount: 2, executionTimeoutMs: 600_000 },
  long: { executionTimeoutMs: 1_800_000, gpuCount: 1 },
  cuda: { minCudaVersion: "12.8" },
  regions: { locations: "EU-RO-1,US-KS-2" },
  server: { type: "LB", scalerType: "REQUEST_COUNT" },
  cpu: { instanceIds: ["cpu3g-4-16"], gpuIds: "" },
};

async function expectUpToDate(stack: PulumiStack): Promise<void> {
  emulator.journal.clear();
  await stack.preview("--refresh", "--expect-no-changes");
  expect(writes()).toEqual([]);
}

// Without `npm run test:everywhere`, the plugin below uses GraphQL.
describe.each(apisOr("v2"))("over %s", (api) => {
  test("each kind of endpoint is created, changed, repaired, replaced where necessary, and destroyed", async () => {
    const model = (revision: string) => (api === "graphql" ? `modelReferences: ["${MODEL}:${revision}"]` : "");
    const stack = await createStack({ program: dynamic({ ...FIRST, model: model("main") }), env: envOf(api) });
    await stack.up();
    for (const [name, fields] of Object.entries(CREATED)) expect(endpoint(name)).toMatchObject(fields);
    await expectUpToDate(stack);
    const outputs = (await stack.exportState()).deployment.resources?.map((each) => each.outputs?.url) ?? [];
    expect(outputs.filter(Boolean)).toEqual([`${emulator.url}/lb/${endpoint("server")?.id}`]);
    const ids = emulator.endpoints.list().map(({ id }) => id);

    // Somebody else changes what the program declares: a refresh shows it, and `up` repairs it.
    emulator.endpoints.change(endpoint("twoGpus")?.id ?? "", { gpuCount: 1 });
    emulator.endpoints.change(endpoint("long")?.id ?? "", { executionTimeoutMs: 0 });
    emulator.endpoints.change(endpoint("cuda")?.id ?? "", { minCudaVersion: "11.8" });
    const repaired = await stack.up("--refresh", "--diff");
    expect(repaired.output).toMatch(/gpuCount\s*: 1 => 2/);
    for (const [name, fields] of Object.entries(CREATED)) expect(endpoint(name)).toMatchObject(fields);

    await stack.writeProgram(dynamic({ ...CHANGED, model: model("v2") }));
    const changed = await stack.up();
    expect(changed.output).not.toMatch(/replaced|deleted/);
    expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(ids);
    expect(endpoint("twoGpus")).toMatchObject({ gpuCount: 4 });
    expect(endpoint("long")).toMatchObject({ executionTimeoutMs: 600_000 });
    expect(endpoint("cuda")).toMatchObject({ minCudaVersion: api === "graphql" ? null : null });
    expect(endpoint("cuda")?.allowedCudaVersions).toBe("12.8,12.11");
    expect(endpoint("regions")).toMatchObject({ networkVolumeId: "v1", locations: "" });
    expect(endpoint("server")).toMatchObject({ flashBootType: "PRIORITY_FLASHBOOT", type: "LB" });
    expect(endpoint("cpu")).toMatchObject({ workersMax: 1 });
    await expectUpToDate(stack);

    // The kind of an endpoint never changes.
    const swapped = { ...CHANGED, server: "", cpu: `gpuIds: ["ADA_24"]`, model: model("v2") };
    await stack.writeProgram(dynamic(swapped));
    const replaced = await stack.up();
    expect(replaced.output).toMatch(/\+-\s*2 replaced/);
    expect(endpoint("server")).toMatchObject({ type: "QB" });
    expect(endpoint("cpu")).toMatchObject({ gpuIds: "ADA_24" });
    expect(emulator.endpoints.list()).toHaveLength(ids.length);
    await expectUpToDate(stack);

    await stack.destroy();
    expect(emulator.endpoints.list()).toEqual([]);
  });
});

test("the plugin supports the same settings in every language, with lists as lists", async () => {
  const stack = await createPluginStack(resources("plugin.", FIRST), envOf("graphql"));
  await stack.up();
  for (const [name, fields] of Object.entries(CREATED)) expect(endpoint(name)).toMatchObject(fields);
  await expectUpToDate(stack);
  await stack.writeProgram(withPlugin(resources("plugin.", CHANGED)));
  await stack.up();
  const [regions] = endpointsInPlugin(await stack.exportState(), "regions");
  expect(regions?.outputs).toMatchObject({ networkVolumeId: "v1", networkVolumeIds: ["v1"] });
  await stack.writeProgram(withPlugin(resources("plugin.", { ...CHANGED, cpu: `gpuIds: ["ADA_24"]` })));
  expect((await stack.up()).output).toMatch(/1 replaced/);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

function endpointsInPlugin(state: Awaited<ReturnType<PulumiStack["exportState"]>>, name: string) {
  return (state.deployment.resources ?? []).filter(({ urn }) => urn.endsWith(`ServerlessEndpoint::${name}`));
}

test("a preview reports settings that an API does not support, and a stack that switches APIs plans no changes and warns about each field", async () => {
  const program = dynamic({ ...FIRST, model: `modelReferences: ["${MODEL}:main"]` });
  const stack = await createStack({ program, env: envOf("graphql") });
  const refused = await stack.run(["preview"], { SERVERLESS_GPU_API: "v2" });
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(
    "cannot be set over REST v2: remove it, or use GraphQL (SERVERLESS_GPU_API=graphql)",
  );
  await stack.up();
  const moved = await stack.run(["preview", "--refresh", "--expect-no-changes"], { SERVERLESS_GPU_API: "v2" });
  expect(moved.output).toContain("warning: modelReferences cannot be set over REST v2");
  expect(moved.exitCode).toBe(0);

  const unnamed = await stack.run(["preview"], { SERVERLESS_GPU_SERVICE: "" });
  expect(unnamed.output).toContain("is supported only by the service runpod, and over REST v2 (SERVERLESS_GPU_API=v2)");
  expect(endpointsIn(await stack.exportState())).toHaveLength(7);
  await stack.destroy();
});

test("an endpoint with all settings is adopted without a change, and an endpoint of another kind is refused", async () => {
  const declared = {
    name: "theirs",
    templateId: "t",
    gpuIds: "ADA_24",
    gpuCount: 2,
    type: "LB",
    executionTimeoutMs: 0,
  };
  emulator.seed({ endpoints: [{ id: "theirs", ...declared, scalerType: "REQUEST_COUNT" }] });
  const program = (args: string) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { adoptId: "theirs", templateId: "t", gpuIds: "ADA_24", ${args} });`;
  const stack = await createStack({
    program: program(`instanceIds: "cpu3g-4-16", gpuIds: null`),
    env: envOf("graphql"),
  });
  const other = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(other.output).toMatch(/cannot be adopted: its gpuIds is "ADA_24" and cannot be changed/);
  await stack.writeProgram(program(`gpuCount: 3, type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT"`));
  const preview = await stack.preview();
  expect(preview.output).toContain("gpuCount: 2 → 3");
  await stack.writeProgram(program(`gpuCount: 2, type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT"`));
  emulator.journal.clear();
  expect((await stack.up()).output).toContain("nothing changed");
  expect(writes()).toEqual([]);
  await stack.destroy();
});

test("a GPU pool that this version does not know causes a warning, and so does a catalog without it, but a likely typo is refused", async () => {
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { name: "one", templateId: "t", gpuIds: "FUTURE_300" });`;
  const stack = await createStack({ program, env: envOf("graphql") });
  const preview = await stack.preview();
  expect(preview.output).toContain("gpuIds contains FUTURE_300, a GPU pool that this version does not know.");
  const up = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(up.exitCode).not.toBe(0);
  expect(up.output).toContain("the service's catalog has no GPU pool FUTURE_300");
  expect(writes()).toHaveLength(1);
  await stack.succeed(["preview"], { SERVERLESS_GPU_SERVICE: "" });
  await stack.writeProgram(program.replace("FUTURE_300", "BLACKWELL_97"));
  const typo = await stack.run(["preview"]);
  expect(typo.exitCode).not.toBe(0);
  expect(typo.output).toMatch(/"BLACKWELL_97" is not a known GPU pool. Did you mean BLACKWELL_96\?/);
});
