import { type EmulatorOptions, type EndpointSeed, manualClock, startEmulator } from "../../../emulator";
import { callV2 } from "../restV2/call";

const VOLUMES = [
  { id: "ro", size: 10, dataCenterId: "EU-RO-1" },
  { id: "cz", size: 10, dataCenterId: "EU-CZ-1" },
];

const start = (seed: Partial<EndpointSeed>, options: EmulatorOptions = {}) =>
  startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 0,
    clock: manualClock(),
    ...options,
    seed: {
      volumes: VOLUMES,
      endpoints: [{ id: "e", name: "llama", gpuIds: "ADA_24", templateId: "t", workersMin: 2, workersMax: 2, ...seed }],
    },
  });

const ON_CPUS = { gpuIds: "", instanceIds: ["cpu3g-4-16"] };

test.each<[string, number, Partial<EndpointSeed>]>([
  ["[workers.machines] eight GPUs", 2, { gpuCount: 8 }],
  ["[workers.no-machine] nine GPUs", 0, { gpuCount: 9 }],
  ["[workers.cuda] a floor that drivers reach", 2, { minCudaVersion: "12.8" }],
  ["[workers.cuda] a floor above, by number", 0, { minCudaVersion: "12.11" }],
  ["[workers.cuda] a set with a driver", 2, { allowedCudaVersions: "11.8, 13.0" }],
  ["[workers.cuda] a set without one", 0, { allowedCudaVersions: "13.0" }],
  ["[workers.cuda] a set below its floor", 0, { allowedCudaVersions: "12.4", minCudaVersion: "12.5" }],
  ["[workers.machines] newer GPUs, newer drivers", 2, { gpuIds: "BLACKWELL_96", minCudaVersion: "13.0" }],
  ["[workers.machines] newer GPUs, older drivers", 0, { gpuIds: "BLACKWELL_96", allowedCudaVersions: "12.4" }],
  ["[workers.machines] any tier of several", 2, { gpuIds: "AMPERE_16,BLACKWELL_96", minCudaVersion: "13.0" }],
  ["[workers.no-machine] a data center outside the catalog", 0, { locations: "EU-XX-9" }],
  ["[workers.volumes] the place of the volume", 2, { locations: "RO", networkVolumeId: "ro" }],
  ["[workers.no-machine] places without the volume", 0, { locations: "US,EU-RO-2", networkVolumeId: "ro" }],
  ["[workers.cpu-places] CPUs where they are", 2, { ...ON_CPUS, locations: "RO" }],
  ["[workers.cpu-places] CPUs elsewhere", 0, { ...ON_CPUS, locations: "US" }],
  ["[workers.cpu-places] CPUs away from the volume", 0, { ...ON_CPUS, networkVolumeId: "cz" }],
])("%s: %i workers start", async (_, workers, seed) => {
  await using emulator = await start(seed);
  const { endpointVersion, summary } = (await callV2(emulator, "GET", "/serverless/e/workers")).body;
  expect({ endpointVersion, total: summary.total }).toEqual({ endpointVersion: 0, total: workers });
  expect(emulator.endpoints.get("e")?.pods).toHaveLength(workers);
});

test("[workers.no-machine] a job waits without an error until a machine matches", async () => {
  const clock = manualClock();
  await using emulator = await start({ workersMin: 0, gpuCount: 9 }, { clock });
  const { id } = (await callV2(emulator, "POST", "/e/run", { input: { n: 1 } })).body;
  await clock.advance(600_000);
  const status = async () => (await callV2(emulator, "GET", `/e/status/${id}`)).body.status;
  expect(await status()).toBe("IN_QUEUE");
  expect((await callV2(emulator, "GET", "/e/health")).body.workers).toMatchObject({ initializing: 0, idle: 0 });
  await callV2(emulator, "PATCH", "/serverless/e", { gpu: { count: 2 } });
  await clock.advance(1000);
  expect(await status()).toBe("COMPLETED");
});

test("[workers.volumes] [workers.places] workers use the locations of the volumes in turn, and each worker knows its own location", async () => {
  const places: unknown[] = [];
  const clock = manualClock();
  await using emulator = await start(
    { networkVolumeIds: [{ networkVolumeId: "ro" }, { networkVolumeId: "cz" }] },
    {
      clock,
      handlers: {
        async llama(_, { env, sleep }) {
          places.push([env.RUNPOD_DC_ID, env.RUNPOD_VOLUME_ID]);
          await sleep(1000);
        },
      },
    },
  );
  for (const _ of VOLUMES) await callV2(emulator, "POST", "/e/run", { input: { n: 1 } });
  await clock.advance(2000);
  expect(places.sort()).toEqual([
    ["EU-CZ-1", "cz"],
    ["EU-RO-1", "ro"],
  ]);
  const [pod] = emulator.endpoints.get("e")?.pods ?? [];
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const query = "includeWorkers=true&includeMachine=true&includeNetworkVolume=true";
  const shown = await fetch(`${emulator.url}/v1/pods/${pod?.id}?${query}`, { headers });
  expect(await shown.json()).toMatchObject({
    machine: { dataCenterId: pod?.place.dataCenterId },
    networkVolume: { id: pod?.place.volumeId, dataCenterId: pod?.place.dataCenterId },
    env: { RUNPOD_DC_ID: pod?.place.dataCenterId, RUNPOD_VOLUME_ID: pod?.place.volumeId },
  });
});

test("[workers.cpu] a worker on CPUs has no GPU", async () => {
  await using emulator = await start({ ...ON_CPUS });
  const { workers } = (await callV2(emulator, "GET", "/serverless/e/workers")).body;
  expect(workers[0]).toMatchObject({ gpuCount: 0, dataCenterId: "EU-RO-1" });
  const headers = { authorization: `Bearer ${emulator.apiKey}` };
  const shown = await fetch(`${emulator.url}/v1/pods/${workers[0].id}?includeWorkers=true`, { headers });
  const pod = await shown.json();
  expect(pod).toMatchObject({ cpuFlavorId: "cpu3g", vcpuCount: 4, memoryInGb: 16 });
  expect(pod).not.toHaveProperty("gpu");
});

test("[save.cpu-lost] a CPU endpoint whose instances were cleared starts no worker", async () => {
  await using emulator = await start({ ...ON_CPUS });
  emulator.endpoints.change("e", { instanceIds: null, workersMin: 1 });
  expect(emulator.endpoints.get("e")?.pods).toEqual([]);
});

test.each<[string, Partial<EndpointSeed>]>([
  ["GPU pools", { gpuIds: "AMPERE_48" }],
  ["the number of GPUs", { gpuCount: 2 }],
  ["CUDA versions", { minCudaVersion: "12.4" }],
  ["data centers", { locations: "EU-CZ-1" }],
  ["volumes", { networkVolumeId: "cz" }],
])("[workers.other-machine] changing %s replaces the workers", async (_, change) => {
  await using emulator = await start({});
  const ids = () => emulator.endpoints.get("e")?.pods.map(({ id }) => id) ?? [];
  const before = ids();
  emulator.endpoints.change("e", { workersMax: 3 });
  expect(ids()).toEqual(before);
  emulator.endpoints.change("e", change as object);
  expect(ids()).toHaveLength(2);
  expect(ids().filter((id) => before.includes(id))).toEqual([]);
});
