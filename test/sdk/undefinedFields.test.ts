import { startEmulated } from "../support/emulated";

/** Settings in which every optional field that is not set is `undefined`. */
const withUndefined = <T extends object>(fields: readonly string[], settings: T): T => ({
  ...Object.fromEntries(fields.map((field) => [field, undefined])),
  ...settings,
});

const ENDPOINT = [
  "idleTimeout",
  "scalerValue",
  "scalerType",
  "workersMin",
  "workersMax",
  "locations",
  "networkVolumeId",
];
const MORE = ["networkVolumeIds", "flashBootType", "imageName", "env", "containerDiskInGb", "dockerArgs", "ports"];
const LLAMA = { name: "llama", gpuIds: "AMPERE_24", templateId: "t" } as const;
const CHANGED = { workersMin: 1, workersMax: 7, idleTimeout: 99, scalerType: "REQUEST_COUNT", scalerValue: 3 } as const;

test.each(["graphql", "v2"] as const)("over %s, an undefined field is treated as if it were omitted", async (api) => {
  await using it = await startEmulated({ client: { api } });
  const { endpoints, templates, volumes } = it.client;
  const fields = [...ENDPOINT, ...MORE];
  const { id } = await it.run(endpoints.create(withUndefined(fields, LLAMA)));
  const plain = await it.run(endpoints.create({ ...LLAMA, name: "plain" }));
  const made = await it.run(endpoints.get(id));
  const own = { id: "", name: "", createdAt: "" };
  expect({ ...made, ...own }).toEqual({ ...(await it.run(endpoints.get(plain.id))), ...own });
  await it.run(endpoints.update(id, CHANGED));
  const before = await it.run(endpoints.get(id));
  await it.run(endpoints.update(id, withUndefined([...fields, "name", "gpuIds", "templateId"], { workersMax: 8 })));
  expect(await it.run(endpoints.get(id))).toEqual({ ...before, pods: expect.anything(), workersMax: 8 });

  const template = { name: "mine", imageName: "a:1", dockerArgs: "run", containerDiskInGb: 30, env: { A: "1" } };
  const { id: templateId } = await it.run(templates.create(withUndefined(["readme", "ports"], template)));
  const ofTemplate = ["name", "imageName", "dockerArgs", "containerDiskInGb", "env", "ports", "readme"];
  await it.run(templates.update(templateId, withUndefined(ofTemplate, { imageName: "a:2" })));
  expect(await it.run(templates.get(templateId))).toMatchObject({ ...template, imageName: "a:2" });

  const volume = { name: "models", size: 10, dataCenterId: "EU-RO-1" };
  const { id: volumeId } = await it.run(volumes.create(withUndefined(["highPerformance"], volume)));
  await it.run(volumes.update(volumeId, withUndefined(["name"], { size: 20 })));
  expect(await it.run(volumes.get(volumeId))).toMatchObject({ ...volume, size: 20 });
});

test("an undefined option is treated as if it were omitted", async () => {
  await using it = await startEmulated({ client: { onWarning: undefined, headers: undefined, retry: undefined } });
  const { endpoints, volumes, pods } = it.client;
  const none = { signal: undefined, timeoutMs: undefined, maxRetries: undefined, headers: undefined };
  const { id } = await it.run(endpoints.create(LLAMA, { ...none, onNameTaken: undefined }));
  await it.run(endpoints.find(id, { ...none, maxAgeMs: undefined, known: undefined }));
  await it.run(endpoints.update(id, CHANGED, { ...none, known: undefined, onNameTaken: undefined }));
  const progress = { drainTimeoutMs: undefined, onProgress: undefined, onScaleDown: undefined, onPutBack: undefined };
  await it.run(endpoints.recycleWorkers(id, CHANGED, { ...none, ...progress, known: undefined }));
  const ofDelete = { drain: undefined, onAbsent: undefined, workers: undefined, boundTemplateId: undefined };
  await it.run(endpoints.delete(id, { ...none, ...progress, ...ofDelete }));
  const volume = await it.run(volumes.create({ name: "models", size: 10, dataCenterId: "EU-RO-1" }));
  const wait = { releaseTimeoutMs: undefined, onWait: undefined, onDelete: undefined, onAbsent: undefined };
  await it.run(volumes.delete(volume.id, { ...none, ...wait }));
  it.emulator.seed({ pods: [{ id: "p1" }] });
  await it.run(pods.get("p1", { ...none, includeMachine: undefined, includeWorkers: undefined }));
});
