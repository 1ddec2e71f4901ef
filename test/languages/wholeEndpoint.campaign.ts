import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { PYTHON, prepareProgram, prepareSdk } from "./languages";
import { ARCHIVE, VERSION } from "./plugin";

/** The settings of each kind of endpoint that somebody needs, as Python arguments. */
const FIRST = {
  two_gpus: `gpu_ids=["ADA_24"], gpu_count=2`,
  long: `gpu_ids=["ADA_24"], execution_timeout_ms=1_800_000`,
  cuda: `gpu_ids=["ADA_24"], min_cuda_version="12.8"`,
  regions: `gpu_ids=["ADA_24"], network_volume_ids=["v2", "v1"], locations=["US-KS-2", "EU-RO-1"]`,
  server: `gpu_ids=["ADA_24"], type="LOAD_BALANCER", scaler_type="REQUEST_COUNT", scaler_value=4, ports=["8000/http"]`,
  cpu: `instance_ids=["cpu3g-4-16"]`,
};
const CHANGED: typeof FIRST = {
  two_gpus: `gpu_ids=["ADA_24"], gpu_count=4`,
  long: `gpu_ids=["ADA_24"]`,
  cuda: `gpu_ids=["ADA_24"], allowed_cuda_versions=["12.8", "12.9"]`,
  regions: `gpu_ids=["ADA_24"], network_volume_id="v1"`,
  server: FIRST.server.replace("8000", "9000"),
  cpu: `instance_ids=["cpu3g-8-32"], workers_max=1`,
};
/** Only GraphQL has cached models. */
const MODEL = `gpu_ids=["ADA_24"], model_references=["https://huggingface.co/a/b:main"]`;

const program = (endpoints: Readonly<Record<string, string>>) => `import pulumi_serverless_gpu as gpu

${Object.entries(endpoints)
  .map(
    ([name, args]) =>
      `gpu.ServerlessEndpoint("${name}", name="${name}", image_name="me/app:1", env={"A": "b"}, ${args})`,
  )
  .join("\n")}
`;

const VOLUMES = ["EU-RO-1", "US-KS-2"].map((dataCenterId, i) => ({
  id: `v${i + 1}`,
  name: `v${i + 1}`,
  size: 10,
  dataCenterId,
}));

const named = ({ endpoints }: Emulator, name: string) => endpoints.list().find((each) => each.name === name);
const writes = ({ journal }: Emulator) =>
  journal.operations().filter((each) => /^(save|create|update|delete)/.test(each));

async function expectUpToDate(stack: PulumiStack, emulator: Emulator): Promise<void> {
  emulator.journal.clear();
  await stack.preview("--refresh", "--expect-no-changes");
  expect(writes(emulator)).toEqual([]);
}

beforeAll(() => prepareSdk(PYTHON));

test.each([
  "graphql",
  "v2",
])("Python over %s: each kind of endpoint is created, changed, repaired, replaced and destroyed", async (api) => {
  await using emulator = await startEmulator({ profile: "observed", drainMs: 0, templateReleaseMs: 0 });
  emulator.seed({ volumes: VOLUMES });
  const env = { ...emulator.env, ...PYTHON.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api };
  const stack = await createStack({ folder: await prepareProgram(PYTHON), env });
  await stack.succeed(["plugin", "install", "resource", "serverless-gpu", VERSION, "--file", ARCHIVE]);
  const model: Record<string, string> = api === "graphql" ? { model: MODEL } : {};
  const write = (endpoints: Readonly<Record<string, string>>) =>
    stack.writeFile(PYTHON.program, program({ ...endpoints, ...model }));

  await write(FIRST);
  await stack.up();
  expect(named(emulator, "two_gpus")).toMatchObject({ gpuCount: 2 });
  expect(named(emulator, "long")).toMatchObject({ executionTimeoutMs: 1_800_000 });
  expect(named(emulator, "cuda")).toMatchObject({ minCudaVersion: "12.8" });
  expect(named(emulator, "regions")).toMatchObject({ locations: "EU-RO-1,US-KS-2" });
  expect(named(emulator, "server")).toMatchObject({ type: "LB" });
  expect(named(emulator, "cpu")).toMatchObject({ instanceIds: ["cpu3g-4-16"], gpuIds: "" });
  await expectUpToDate(stack, emulator);
  const ids = emulator.endpoints.list().map(({ id }) => id);

  emulator.endpoints.change(named(emulator, "two_gpus")?.id ?? "", { gpuCount: 1 });
  expect((await stack.preview("--refresh", "--diff")).output).toMatch(/gpuCount\s*: 1 => 2/);
  await stack.up("--refresh");
  expect(named(emulator, "two_gpus")).toMatchObject({ gpuCount: 2 });

  await write(CHANGED);
  expect((await stack.up()).output).not.toMatch(/replaced|deleted/);
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(ids);
  expect(named(emulator, "long")).toMatchObject({ executionTimeoutMs: 600_000 });
  expect(named(emulator, "regions")).toMatchObject({ networkVolumeId: "v1", locations: "" });
  await expectUpToDate(stack, emulator);

  await write({ ...CHANGED, server: `gpu_ids=["ADA_24"]`, cpu: `gpu_ids=["ADA_24"]` });
  expect((await stack.up()).output).toMatch(/\+-\s*2 replaced/);
  expect(named(emulator, "server")).toMatchObject({ type: "QB" });
  expect(named(emulator, "cpu")).toMatchObject({ gpuIds: "ADA_24" });
  await expectUpToDate(stack, emulator);

  await stack.destroy();
  expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
});
