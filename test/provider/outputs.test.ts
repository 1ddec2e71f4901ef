import { startEmulator } from "../../emulator";
import {
  ContainerRegistryAuth,
  NetworkVolume,
  Secret,
  ServerlessEndpoint,
  ServerlessTemplate,
  SmokeTest,
} from "../../provider";
import { RECORD_TYPES, RESOURCE_TYPES, type RecordType } from "../../provider/engine/resourceTypes";
import { type Properties, startDynamicProvider } from "../support/dynamicProvider";

/** Inputs that create a resource of each type. */
const INPUTS: Record<keyof typeof RECORD_TYPES, Properties> = {
  ServerlessEndpoint: { name: "llama", gpuIds: "ADA_24", templateId: "t" },
  ServerlessTemplate: { name: "worker", imageName: "me/worker:1" },
  NetworkVolume: { name: "models", size: 10, dataCenterId: "EU-RO-1" },
  ContainerRegistryAuth: { name: "ghcr", username: "me", password: "secret-of-me" },
  Secret: { name: "hf", value: "secret-of-hf" },
};

test.each(Object.entries(INPUTS))("%s declares every output that its handlers return", async (name, inputs) => {
  await using emulator = await startEmulator({ profile: "contract" });
  await using one = await startDynamicProvider(emulator.env);
  const type: RecordType = RECORD_TYPES[name as keyof typeof RECORD_TYPES];
  const checked = await one.check({}, { __provider: type.provider, ...inputs });
  expect(checked.failures).toEqual([]);
  const { outputs } = await one.create({ __provider: type.provider, ...checked.inputs });
  const declared = [...type.outputs, ...(type.optionalOutputs ?? [])];
  const returned = Object.keys(outputs).filter((output) => !output.startsWith("__"));
  expect(returned.filter((output) => !declared.includes(output))).toEqual([]);
});

test("each class names its type, by which a policy pack recognizes it", () => {
  const classes = [ContainerRegistryAuth, NetworkVolume, Secret, ServerlessEndpoint, ServerlessTemplate, SmokeTest];
  const types = RESOURCE_TYPES.map(({ type }) => type);
  expect(classes.map((each) => each.__pulumiType).sort()).toEqual(types.sort());
});
