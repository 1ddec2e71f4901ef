import { type Emulator, startEmulator } from "../../../emulator";
import { getPod, graphql, invalidMutation, mutate, refusedMutation, save } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

const ALL = "id name size dataCenterId storageClusterId storageType";
const create = (input: string) => `createNetworkVolume(input: { ${input} }) { ${ALL} }`;
const update = (input: string) => `updateNetworkVolume(input: { ${input} }) { ${ALL} }`;
const remove = (id: string) => `deleteNetworkVolume(input: { id: "${id}" })`;
const MODELS = 'name: "models", size: 50, dataCenterId: "EU-RO-1"';
const created = async (input = MODELS, on = emulator) =>
  (await mutate(on, create(input))).body.data.createNetworkVolume;

test("[volume.create] [volume.list] createNetworkVolume creates a volume with an id of 10 letters and digits, and lists it", async () => {
  const volume = await created();
  const shown = { name: "models", size: 50, dataCenterId: "EU-RO-1", storageClusterId: null, storageType: "CEPH_FS" };
  expect(volume).toEqual({ id: expect.stringMatching(/^[a-z0-9]{10}$/), ...shown });
  const { body } = await graphql(emulator, `{ myself { networkVolumes { ${ALL} } } }`);
  expect(body.data.myself.networkVolumes).toEqual([volume]);
});

test("[volume.input] the data center is required, and so is the id for a change or a deletion", async () => {
  const provided = /of required type "String!" was not provided/;
  expect(await invalidMutation(emulator, create('name: "a", size: 10'))).toMatch(provided);
  expect(await invalidMutation(emulator, update("size: 10"))).toMatch(provided);
  expect(await invalidMutation(emulator, "deleteNetworkVolume(input: { n: 1 })")).toMatch(provided);
  expect(await invalidMutation(emulator, 'deleteNetworkVolume(id: "x")')).toContain('Unknown argument "id"');
});

test("[volume.same-name] two volumes can have the same name", async () => {
  expect((await created()).id).not.toBe((await created()).id);
});

test("[volume.no-name] the name is optional", async () => {
  expect(await created('size: 10, dataCenterId: "EU-RO-1"')).toMatchObject({ name: "" });
});

test("[volume.storage-type] the fast tier uses a different kind of storage", async () => {
  expect(await created(`${MODELS}, isNextGenStorage: true`)).toMatchObject({ storageType: "VAST" });
});

test("[volume.modify] name and size can be changed, and omitted fields are kept", async () => {
  const { id } = await created();
  expect((await mutate(emulator, update(`id: "${id}", size: 100`))).body.data.updateNetworkVolume).toMatchObject({
    name: "models",
    size: 100,
  });
  await mutate(emulator, update(`id: "${id}", name: "other"`));
  expect(emulator.volumes.list()).toEqual([
    { id, name: "other", size: 100, dataCenterId: "EU-RO-1", storageType: "CEPH_FS" },
  ]);
});

test("[volume.fixed] a change can set neither the data center nor the tier", async () => {
  const { id } = await created();
  expect(await invalidMutation(emulator, update(`id: "${id}", dataCenterId: "EU-CZ-1"`))).toContain("dataCenterId");
  expect(await invalidMutation(emulator, update(`id: "${id}", isNextGenStorage: true`))).toContain("isNextGenStorage");
});

test.each([9, 4097])("[volume.size] a size of %d GB is refused", async (size) => {
  expect(await refusedMutation(emulator, create(`size: ${size}, dataCenterId: "EU-RO-1"`))).toContain(
    "between 10 and 4096",
  );
  const { id } = await created();
  expect(await refusedMutation(emulator, update(`id: "${id}", size: ${size}`))).toContain("between 10 and 4096");
});

test("[volume.shrink] the contract profile refuses a smaller size", async () => {
  const { id } = await created();
  expect(await refusedMutation(emulator, update(`id: "${id}", size: 49`))).toContain("cannot shrink");
  expect(emulator.volumes.get(id)?.size).toBe(50);
});

test("[volume.shrink-observed] the observed profile accepts a smaller size", async () => {
  await using observed = await startEmulator({ profile: "observed" });
  const { id } = await created(MODELS, observed);
  expect((await mutate(observed, update(`id: "${id}", size: 20`))).body.data.updateNetworkVolume.size).toBe(20);
});

test("[volume.data-center] a data center without volumes is refused, and the message lists those with volumes", async () => {
  await using small = await startEmulator({ profile: "contract", volumeDataCenters: ["EU-RO-1", "US-KS-2"] });
  expect(await refusedMutation(small, create('size: 10, dataCenterId: "EU-XX-9"'))).toBe(
    'Data center "EU-XX-9" not found or does not support network volumes. Available data centers: EU-RO-1, US-KS-2.',
  );
});

test("[volume.nonexistent] a nonexistent volume cannot be deleted or changed", async () => {
  expect(await refusedMutation(emulator, remove("x"))).toBe("Tried to delete nonexistent network volume");
  expect(await refusedMutation(emulator, update('id: "x", size: 20'))).toBe(
    "Tried to update nonexistent network volume",
  );
});

test("[volume.in-use] a volume cannot be deleted while an endpoint or a pod uses it", async () => {
  const { id } = await created();
  const endpoint = { name: "e", gpuIds: "ADA_24", templateId: "t", networkVolumeId: id };
  const { id: endpointId } = emulator.endpoints.create(endpoint);
  expect(await refusedMutation(emulator, remove(id))).toContain('in use by endpoint "e"');
  emulator.endpoints.delete(endpointId);
  emulator.pods.add({ id: "p", networkVolume: { id, name: "models", size: 50, dataCenterId: "EU-RO-1" } });
  expect(await refusedMutation(emulator, remove(id))).toContain('in use by pod "p"');
  emulator.pods.remove("p");
  expect((await mutate(emulator, remove(id))).body).toEqual({ data: { deleteNetworkVolume: null } });
  expect(emulator.volumes.list()).toEqual([]);
});

test("[volume.any-location] the locations of an endpoint need not include the data center of its volume", async () => {
  const { id } = await created();
  const input = `name: "e", gpuIds: "ADA_24", templateId: "t", locations: "US-KS-2", networkVolumeId: "${id}"`;
  expect((await save(emulator, input)).body.data.saveEndpoint.networkVolumeId).toBe(id);
});

test("a worker's pod shows the volume of its endpoint", async () => {
  const { id } = await created();
  const fields = { name: "e", gpuIds: "ADA_24", templateId: "t", networkVolumeId: id, workersMin: 1 };
  const [pod] = emulator.endpoints.create(fields).pods;
  const { body } = await getPod(emulator, `${pod?.id}?includeWorkers=true&includeNetworkVolume=true`);
  expect(body.networkVolume).toEqual({ id, name: "models", size: 50, dataCenterId: "EU-RO-1" });
});
