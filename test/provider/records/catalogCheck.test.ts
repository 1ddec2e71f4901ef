import { type Emulator, startEmulator } from "../../../emulator";
import { RECORD_TYPES } from "../../../provider/engine/resourceTypes";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";

const ONE = { name: "llama", gpuIds: "ADA_24", templateId: "t" };
const CATALOG = ["gpuTypes", "dataCenters", "serverlessGpuPools", "listGpus", "listDataCenters"];

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, volumeDataCenters: ["EU-RO-1"] });
});
afterEach(() => emulator.stop());

const provider = (more: Record<string, string> = {}) => startDynamicProvider({ ...emulator.env, ...more });
type Provider = Awaited<ReturnType<typeof provider>>;

const asked = () =>
  emulator.journal
    .operations()
    .filter((operation) => CATALOG.includes(operation))
    .sort();
const written = () => emulator.journal.operations().filter((each) => /save|create|update/i.test(each));

/** Checks inputs, then creates a resource from them. */
async function create(one: Provider, news: Properties) {
  const { inputs } = await one.check({}, news);
  return { inputs, ...(await one.create(inputs)) };
}

test("a create that is impossible according to the catalog is refused before anything is written, and the catalog is read once per run", async () => {
  await using one = await provider();
  emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "EU-RO-1" }, effect: { stock: "Absent" } });
  const impossible: [Properties, string][] = [
    [{ gpuIds: "ADA_24,-NVIDIA GeForce RTX 4090" }, "gpuIds: gpuIds excludes every GPU type of ADA_24"],
    [
      { gpuIds: "ADA_24,-NVIDIA GeForce RTX 409" },
      "gpuIds excludes NVIDIA GeForce RTX 409, which is not a GPU type of ADA_24: NVIDIA GeForce RTX 4090. Did you mean -NVIDIA GeForce RTX 4090?",
    ],
    [{ gpuIds: "ADA_24,-NVIDIA L40" }, "gpuIds excludes NVIDIA L40, which is not a GPU type of ADA_24"],
    [{ locations: "EU-RO-1" }, "the catalog has no data center in locations EU-RO-1 with a GPU of ADA_24"],
    [{ minCudaVersion: "13.0" }, "no host offers minCudaVersion 13.0"],
  ];
  for (const [change, message] of impossible) {
    const error = await create(one, { ...ONE, ...change }).catch((each: Error) => each);
    expect(String(error)).toContain('endpoint "llama" is not valid');
    expect(String(error)).toContain(message);
    expect(String(error)).toContain("This follows from the service's catalog; nothing was written");
  }
  expect(written()).toEqual([]);
  const { id, outputs } = await create(one, ONE);
  expect(asked()).toEqual(["dataCenters", "gpuTypes"]);

  const changed = await one.check(outputs, { ...ONE, locations: "EU-RO-1" });
  const failure = await one.update(id, outputs, changed.inputs).catch((each: Error) => each);
  expect(String(failure)).toContain("no data center in locations EU-RO-1 with a GPU of ADA_24");
  expect(written()).toHaveLength(1);
});

test("an update is refused only because of its own changes, and sends no requests if it changes nothing relevant", async () => {
  const seeded = await (async () => {
    await using one = await provider();
    return await create(one, ONE);
  })();
  emulator.faults.add({ match: { pool: "ADA_24" }, effect: { stock: "Absent" } });
  emulator.journal.clear();
  await using one = await provider();
  const { inputs } = await one.check(seeded.outputs, { ...ONE, workersMax: 5 });
  await one.diff(seeded.id, seeded.outputs, inputs);
  expect(asked()).toEqual([]);
  await one.update(seeded.id, seeded.outputs, inputs);
  expect(asked()).toEqual([]);
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 5 }]);
});

test.each([
  ["does not answer", { hang: true }],
  ["answers with a web page", { html: true }],
  ["is empty", { status: 200, body: { data: { gpuTypes: [], dataCenters: [], serverlessGpuPools: [] } } }],
])("a catalog that %s does not prevent any write", async (_, effect) => {
  for (const operation of ["gpuTypes", "dataCenters", "serverlessGpuPools"])
    emulator.faults.add({ match: { operation }, effect });
  await using one = await provider();
  const startedAt = Date.now();
  await create(one, { ...ONE, minCudaVersion: "99.0" });
  expect(Date.now() - startedAt).toBeLessThan(20_000);
  expect(emulator.endpoints.list()).toHaveLength(1);
});

test("a volume in a data center without volumes is refused, also over REST v2, which takes two requests", async () => {
  await using one = await provider({ SERVERLESS_GPU_API: "v2" });
  const volume = { __provider: RECORD_TYPES.NetworkVolume.provider, name: "models", size: 20, dataCenterId: "US-KS-2" };
  await expect(create(one, volume)).rejects.toThrow("the data center US-KS-2 has no network volumes");
  await create(one, ONE);
  expect(asked()).toEqual(["listDataCenters", "listGpus"]);
});

test("a service without a name is not asked for a catalog, and a pool that neither this version nor the catalog knows is sent with a warning", async () => {
  const { SERVERLESS_GPU_SERVICE: _, ...env } = emulator.env;
  await using unnamed = await startDynamicProvider(env);
  await create(unnamed, { ...ONE, name: "one" });
  expect(asked()).toEqual([]);
  await using named = await provider();
  const error = await create(named, { ...ONE, gpuIds: "NEW_200" }).catch((each: Error) => each);
  expect(asked()).toEqual(["dataCenters", "gpuTypes"]);
  expect(named.output()).toContain(
    "llama: warning: the service's catalog has no GPU pool NEW_200, so it is possible that no worker ever starts",
  );
  // The emulator does not know it either.
  expect(written()).toHaveLength(2);
  expect(String(error)).not.toContain("catalog");
});

test("an endpoint can move to a new volume in another data center, with either form of the setting", async () => {
  const volumeDataCenters = ["EU-RO-1", "US-KS-2"];
  await using service = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, volumeDataCenters });
  service.volumes.create({ id: "old", name: "old", size: 10, dataCenterId: "EU-RO-1" });
  service.volumes.create({ id: "new", name: "new", size: 10, dataCenterId: "US-KS-2" });
  const before = { ...ONE, networkVolumeId: "old", locations: "EU-RO-1" };
  for (const after of [{ networkVolumeId: "new" }, { networkVolumeIds: ["new"] }]) {
    await using one = await startDynamicProvider(service.env);
    const name = Object.keys(after).join();
    const { id, outputs } = await create(one, { ...before, name });
    const changed = await one.check(outputs, { ...ONE, name, ...after, locations: "US-KS-2" });
    await one.update(id, outputs, changed.inputs);
    expect(service.endpoints.get(id)).toMatchObject({ locations: "US-KS-2" });
  }
});
