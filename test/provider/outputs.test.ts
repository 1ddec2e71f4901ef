import { startEmulator } from "../../emulator";
import * as provider from "../../provider";
import { RESOURCE_TYPES, type ResourceType } from "../../provider/engine/resourceTypes";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";
import { TABLES } from "../support/recordTables";

/** Inputs that create a resource of each type, with every output that is not a field. */
const INPUTS: Readonly<Record<string, readonly Properties[]>> = {
  ServerlessEndpoint: [
    { name: "llama", gpuIds: "ADA_24", templateId: "t" },
    { name: "server", gpuIds: "ADA_24", templateId: "t", type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT" },
  ],
  ServerlessTemplate: [{ name: "worker", imageName: "me/worker:1" }],
  NetworkVolume: [{ name: "models", size: 10, dataCenterId: "EU-RO-1" }],
  ContainerRegistryAuth: [{ name: "ghcr", username: "me", password: "secret-of-me" }],
  Secret: [{ name: "hf", value: "secret-of-hf" }],
  SmokeTest: [{ endpointId: "llama", input: { prompt: "Hello" } }],
};

const nameOf = ({ type }: ResourceType) => type.split(":").at(-1) ?? "";

test.each(
  RESOURCE_TYPES.map((type) => [nameOf(type), type] as const),
)("the handlers of %s return every output that it declares, and no other", async (name, type) => {
  await using emulator = await startEmulator({
    profile: "observed",
    seed: { endpoints: [{ id: "llama", name: "target", gpuIds: "ADA_24", templateId: "t" }] },
  });
  await using one = await startDynamicProvider({ ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod" });
  const { outputs: declared, optionalOutputs = [], provider } = type;
  const everReturned = new Set<string>();
  for (const inputs of INPUTS[name] ?? [{}]) {
    const checked = await one.check({}, { __provider: provider, ...inputs });
    expect(checked.failures).toEqual([]);
    const { outputs } = await one.create({ __provider: provider, ...checked.inputs });
    const returned = Object.keys(outputs).filter((output) => !output.startsWith("__"));
    for (const output of returned) everReturned.add(output);
    const required = declared.filter((output) => !optionalOutputs.includes(output));
    expect(required.filter((output) => !returned.includes(output))).toEqual([]);
    expect(returned.filter((output) => !declared.includes(output) && !(output in inputs))).toEqual([]);
  }
  const fields = Object.keys(TABLES[name] ?? {});
  expect(declared.filter((output) => !fields.includes(output) && !everReturned.has(output))).toEqual([]);
});

test("each class names its type, by which a policy pack recognizes it", () => {
  const types = Object.values(provider).flatMap((each) => ("__pulumiType" in each ? each.__pulumiType : []));
  expect(types.sort()).toEqual(RESOURCE_TYPES.map(({ type }) => type).sort());
});
