import { type Emulator, type PodSeed, startEmulator } from "../../../emulator";
import { createEndpoint, getPod, send } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, restrictedApiKey: "restricted-key" });
});
afterEach(() => emulator.stop());

const gpu = { id: "gpu-1", count: 2, displayName: "GPU", securePrice: 0.5, communitySpotPrice: 0.1 };

/** A pod with every field of the contract. */
const complete = {
  id: "pod-1",
  name: "trainer",
  image: "example/trainer:1",
  desiredStatus: "EXITED",
  adjustedCostPerHr: 0.6,
  costPerHr: 0.74,
  consumerUserId: "user-1",
  containerDiskInGb: 50,
  containerRegistryAuthId: "registry-1",
  dockerEntrypoint: ["python"],
  dockerStartCmd: ["train.py"],
  env: { MODE: "full" },
  gpu,
  interruptible: true,
  lastStartedAt: "2025-01-01T00:00:00.000Z",
  lastStatusChange: "Exited by user",
  locked: true,
  machineId: "machine-1",
  memoryInGb: 62,
  portMappings: { "22": 10341 },
  ports: ["8888/http", "22/tcp"],
  publicIp: "192.0.2.1",
  templateId: "template-1",
  vcpuCount: 24,
  volumeEncrypted: true,
  volumeInGb: 20,
  volumeMountPath: "/workspace",
} satisfies PodSeed;

const machine = {
  minPodGpuCount: 1,
  gpuTypeId: "gpu-1",
  gpuType: gpu,
  cpuCount: 48,
  cpuTypeId: "cpu-1",
  cpuType: { id: "cpu-1", displayName: "CPU", cores: 24, threadsPerCore: 2, groupId: "group-1" },
  location: "CZ",
  dataCenterId: "EU-CZ-1",
  diskThroughputMBps: 500,
  maxDownloadSpeedMbps: 1000,
  maxUploadSpeedMbps: 900,
  supportPublicIp: true,
  secureCloud: true,
  maintenanceStart: "2025-02-01T00:00:00.000Z",
  maintenanceEnd: "2025-02-02T00:00:00.000Z",
  maintenanceNote: "disk swap",
  note: "quiet",
  costPerHr: 0.74,
  currentPricePerGpu: 0.37,
  gpuAvailable: 3,
  gpuDisplayName: "GPU",
};
const networkVolume = { id: "volume-1", name: "data", size: 100, dataCenterId: "EU-CZ-1" };
const savingsPlans = [
  {
    id: "plan-1",
    podId: "pod-1",
    gpuTypeId: "gpu-1",
    costPerHr: 0.2,
    startTime: "2025-01-01T00:00:00.000Z",
    endTime: "2025-07-01T00:00:00.000Z",
  },
];
const template = { id: "template-1", name: "trainer" };

describe("a pod", () => {
  test("[rest.pod] a pod is found by its id, with every field", async () => {
    emulator.pods.add(complete);
    expect(await getPod(emulator, "pod-1")).toMatchObject({ status: 200, body: complete });
  });

  test("[rest.flags-default] a pod omits by default the parts that the five flags add", async () => {
    emulator.pods.add({ ...complete, machine, networkVolume, savingsPlans, template });
    expect((await getPod(emulator, "pod-1")).body).toEqual(complete);
    const query = "?includeMachine=false&includeNetworkVolume=false&includeSavingsPlans=false&includeTemplate=false";
    expect((await getPod(emulator, `pod-1${query}&includeWorkers=false`)).body).toEqual(complete);
  });

  test.each([
    ["[rest.include-machine]", "includeMachine", { machine }],
    ["[rest.include-network-volume]", "includeNetworkVolume", { networkVolume }],
    ["[rest.include-savings-plans]", "includeSavingsPlans", { savingsPlans }],
    ["[rest.include-template]", "includeTemplate", { template }],
  ])("%s shows additional fields with %s", async (_, flag, more) => {
    emulator.pods.add({ ...complete, machine, networkVolume, savingsPlans, template });
    expect((await getPod(emulator, `pod-1?${flag}=true`)).body).toEqual({ ...complete, ...more });
  });

  test("[rest.include-savings-plans] a pod has an empty list if it has no savings plans, and omits a missing volume or template", async () => {
    emulator.pods.add(complete);
    const query = "?includeSavingsPlans=true&includeNetworkVolume=true&includeTemplate=true";
    expect((await getPod(emulator, `pod-1${query}`)).body).toEqual({ ...complete, savingsPlans: [] });
  });

  test("[rest.optional-fields] a pod omits conditional fields while their condition is not met", async () => {
    emulator.pods.add({ id: "plain" });
    const { body } = await getPod(emulator, "plain");
    for (const field of [
      "endpointId",
      "aiApiId",
      "slsVersion",
      "containerRegistryAuthId",
      "cpuFlavorId",
      "templateId",
    ]) {
      expect(body).not.toHaveProperty(field);
    }
    expect(body).toMatchObject({ publicIp: null, portMappings: {}, dockerEntrypoint: [], dockerStartCmd: [] });
  });

  test("[rest.optional-fields] a pod includes its CPU flavor if it has no GPU", async () => {
    emulator.pods.add({ id: "cpu", cpuFlavorId: "cpu3c" });
    const { body } = await getPod(emulator, "cpu");
    expect(body.cpuFlavorId).toBe("cpu3c");
    expect(body).not.toHaveProperty("gpu");
  });

  test.each(["RUNNING", "EXITED", "TERMINATED"] as const)("[rest.states] a pod can be %s", async (desiredStatus) => {
    emulator.pods.add({ id: "pod", desiredStatus });
    expect((await getPod(emulator, "pod")).body.desiredStatus).toBe(desiredStatus);
  });

  test("[rest.name-length] a pod has a name of at most 191 characters", async () => {
    expect(emulator.pods.add({ id: "long", name: "x".repeat(191) }).name).toHaveLength(191);
    expect(() => emulator.pods.add({ id: "longer", name: "x".repeat(192) })).toThrow(/191/);
  });

  test("[rest.observed-spelling] a pod uses the other spelling of some fields in the observed profile", async () => {
    await using observed = await startEmulator({ profile: "observed" });
    observed.pods.add(complete);
    const { image, ...rest } = complete;
    expect((await getPod(observed, "pod-1")).body).toEqual({ ...rest, imageName: image, costPerHr: "0.74" });
  });
});

describe("a worker's pod", () => {
  test("[rest.include-workers] a worker's pod is found with includeWorkers, and names its endpoint", async () => {
    const endpointId = await createEndpoint(emulator, 'workersMin: 1, networkVolumeId: "volume-9"');
    const podId = emulator.endpoints.get(endpointId)?.pods[0]?.id;
    const { status, body } = await getPod(emulator, `${podId}?includeWorkers=true&includeNetworkVolume=true`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: podId,
      endpointId,
      aiApiId: endpointId,
      slsVersion: 0,
      desiredStatus: "RUNNING",
      templateId: "template-1",
      networkVolume: { id: "volume-9" },
    });
    expect(body.env.ENDPOINT_ID).toBe(endpointId);
  });

  test("[rest.worker-needs-flag] a worker's pod is not found without includeWorkers", async () => {
    const endpointId = await createEndpoint(emulator, "workersMin: 1");
    const podId = emulator.endpoints.get(endpointId)?.pods[0]?.id;
    const { status, headers } = await getPod(emulator, `${podId}`);
    expect([status, headers.get("x-emulator-fidelity")]).toEqual([404, "assumed"]);
    emulator.pods.add({ id: "seeded-worker", endpointId: "elsewhere" });
    expect((await getPod(emulator, "seeded-worker")).status).toBe(404);
    expect((await getPod(emulator, "seeded-worker?includeWorkers=true")).status).toBe(200);
  });
});

describe("refusals", () => {
  test("[rest.unknown-pod] an unknown pod is not found", async () => {
    emulator.pods.add({ id: "pod" });
    emulator.pods.remove("pod");
    const { status, body, headers } = await getPod(emulator, "pod");
    expect([status, body]).toEqual([404, { error: "pod not found", status: 404 }]);
    expect(headers.get("x-emulator-fidelity")).toBeNull();
  });

  test("[rest.bad-flag] a flag that is neither true nor false is refused and named", async () => {
    const { status, body } = await getPod(emulator, "pod?includeMachine=yes&includeWorkers=");
    expect(status).toBe(400);
    expect(body).toEqual({
      error: expect.any(String),
      problems: [expect.stringContaining("includeMachine"), expect.stringContaining("includeWorkers")],
    });
  });

  test("[rest.bearer] the key is accepted only in the header", async () => {
    emulator.pods.add({ id: "pod" });
    const url = `${emulator.url}/v1/pods/pod`;
    expect((await getPod(emulator, "pod")).status).toBe(200);
    expect((await send(`${url}?api_key=${emulator.apiKey}`)).status).toBe(401);
    expect((await send(url, { headers: { authorization: emulator.apiKey } })).status).toBe(401);
  });

  test.each([
    "wrong",
    "restricted-key",
  ])("[rest.wrong-key] [rest.unauthorized-body] the key %s returns 401", async (key) => {
    emulator.pods.add({ id: "pod" });
    const { status, body } = await getPod(emulator, "pod", key);
    expect([status, body]).toEqual([401, { error: "unauthorized", status: 401 }]);
  });

  test("[rest.get-only] [rest.other-paths] other methods and paths are refused", async () => {
    const headers = { authorization: `Bearer ${emulator.apiKey}` };
    expect((await send(`${emulator.url}/v1/pods/pod`, { method: "DELETE", headers })).status).toBe(405);
    expect((await send(`${emulator.url}/v1/pods`, { headers })).status).toBe(404);
  });
});
