import { type Emulator, startEmulator } from "../../emulator";
import schema from "../../plugin/schema.json";
import { secret, startPlugin } from "../support/plugin";

let emulator: Emulator;
let plugin: Awaited<ReturnType<typeof startPlugin>>;

beforeAll(async () => {
  emulator = await startEmulator({
    profile: "observed",
    workerQuota: 20,
    spendLimit: 80,
    volumeDataCenters: ["EU-RO-1"],
    seed: {
      endpoints: [{ id: "abc", name: "llama", gpuIds: "ADA_24,AMPERE_24", templateId: "tpl", locations: "CZ,RO" }],
      templates: [
        {
          id: "tpl",
          name: "llama-template",
          imageName: "a:1",
          env: [{ key: "HF_TOKEN", value: "hidden" }],
          ports: "22/tcp",
        },
      ],
      volumes: [{ id: "vol", name: "models", size: 20, dataCenterId: "EU-RO-1" }],
      pods: [{ id: "pod-1" }],
      registryAuths: [{ id: "auth", name: "ghcr", username: "me", password: "pw" }],
    },
  });
  plugin = await startPlugin(emulator.env);
});

afterAll(async () => {
  await plugin.stop();
  await emulator.stop();
});

test("functions return an endpoint by its name or id, and all endpoints, with list-valued fields as lists", async () => {
  const endpoint = { id: "abc", name: "llama", gpuIds: ["ADA_24", "AMPERE_24"], locations: ["CZ", "RO"] };
  expect(await plugin.invoke("getEndpoint", { name: "llama" })).toMatchObject(endpoint);
  expect(await plugin.invoke("getEndpoint", { id: "abc" })).toMatchObject({ queueUrl: `${emulator.url}/v2/abc` });
  expect(await plugin.invoke("getEndpoints")).toMatchObject({ endpoints: [endpoint] });
  expect(await plugin.invoke("getEndpointHealth", { endpointId: "abc" })).toMatchObject({ workers: { idle: 0 } });
  expect(await plugin.invoke("getServerlessDiscount")).toEqual(expect.any(Object));
});

test("functions return a template without the values of its variables, and the values as a secret", async () => {
  const template = await plugin.invoke("getServerlessTemplate", { name: "llama-template" });
  expect(template).toMatchObject({ id: "tpl", envNames: ["HF_TOKEN"], ports: ["22/tcp"] });
  expect(JSON.stringify(template)).not.toContain("hidden");
  expect(await plugin.invoke("getServerlessTemplateEnv", { id: "tpl" })).toEqual({
    env: secret({ HF_TOKEN: "hidden" }),
  });
});

test("functions return a volume and a registry credential", async () => {
  expect(await plugin.invoke("getNetworkVolume", { name: "models" })).toMatchObject({ id: "vol", size: 20 });
  expect(await plugin.invoke("getContainerRegistryAuth", { name: "ghcr" })).toEqual({ id: "auth", name: "ghcr" });
});

test("functions return GPU types, data centers and the account's limits", async () => {
  emulator.faults.add({ match: { pool: "AMPERE_48", dataCenterId: "EU-RO-1" }, effect: { soldOut: true } });
  const { gpuTypes } = (await plugin.invoke("getGpuTypes", {
    minMemoryInGb: 48,
    region: "EU",
    minStock: "Medium",
  })) as {
    gpuTypes: { pool: string; dataCenterIds: string[] }[];
  };
  const [cheapest] = gpuTypes;
  // Over GraphQL, the price is that of the public table.
  expect(cheapest).toMatchObject({ id: "NVIDIA A40", pool: "AMPERE_48", memoryInGb: 48, price: 1.224, stock: "High" });
  expect(cheapest?.dataCenterIds).toEqual(expect.not.arrayContaining(["EU-RO-1", "US-KS-2"]));
  expect(gpuTypes.map(({ pool }) => pool)).not.toContain("AMPERE_24");
  const ids = async (args: object) =>
    ((await plugin.invoke("getGpuTypes", { ...args })) as { gpuTypes: { id: string }[] }).gpuTypes.map(({ id }) => id);
  expect(await ids({ pool: "AMPERE_48", locations: ["RO"], minStock: "Low" })).toEqual([
    "NVIDIA A40",
    "NVIDIA RTX A6000",
  ]);
  expect(await ids({ pool: "AMPERE_48", locations: ["EU-RO-1"], minStock: "Low" })).toEqual([]);
  expect(await ids({ minCudaVersion: "13.0" })).toContain("NVIDIA B200");
  expect(await ids({ maxPrice: 0.6 })).toHaveLength(4);
  await expect(plugin.invoke("getGpuTypes", { minStock: "Plenty" })).rejects.toThrow(
    "minStock: must be High, Medium, Low",
  );
  const { dataCenters } = (await plugin.invoke("getDataCenters", { region: "EU" })) as {
    dataCenters: { id: string }[];
  };
  expect(dataCenters.map(({ id }) => id)).toEqual(expect.arrayContaining(["EU-CZ-1", "EUR-IS-1"]));
  expect(await plugin.invoke("getAccountLimits")).toMatchObject({
    workerQuota: 20,
    spendLimit: 80,
    isUnderBalance: false,
  });
});

test("invalid arguments and missing records cause clear errors", async () => {
  await expect(plugin.invoke("getEndpoint", {})).rejects.toThrow("set either id or name");
  await expect(plugin.invoke("getEndpoint", { id: "nope" })).rejects.toThrow("nope");
  await expect(plugin.invoke("getNothing")).rejects.toThrow("there is no function serverless-gpu:index:getNothing");
});

test("every result matches the schema", async () => {
  const different: string[] = [];
  for (const [token, { outputs }] of Object.entries(schema.functions)) {
    const name = token.split(":").at(-1) ?? "";
    const args = ARGS[name];
    if (args === undefined) {
      different.push(`${name} has no arguments in this test`);
      continue;
    }
    const result = await plugin.invoke(name, args);
    const { properties, required } = outputs as { properties: Record<string, unknown>; required: string[] };
    const undeclared = Object.keys(result).filter((output) => !(output in properties));
    const missing = required.filter((output) => !(output in result));
    different.push(...[...undeclared, ...missing].map((output) => `${name}.${output}`));
  }
  expect(different).toEqual([]);
});

const ARGS: Record<string, Record<string, unknown>> = {
  getEndpoint: { id: "abc" },
  getEndpoints: {},
  getEndpointHealth: { endpointId: "abc" },
  getServerlessTemplate: { id: "tpl" },
  getServerlessTemplateEnv: { id: "tpl" },
  getNetworkVolume: { id: "vol" },
  getContainerRegistryAuth: { id: "auth" },
  getServerlessDiscount: {},
  getPod: { podId: "pod-1" },
  getGpuTypes: { pool: "ADA_24" },
  getDataCenters: { locations: ["EU-RO-1"] },
  getSpend: { groupBy: "endpoint" },
  getAccountLimits: {},
};
