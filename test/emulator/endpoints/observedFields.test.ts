import { type Emulator, startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";

/**
 * Sends a document as the service's other clients do: the key in a header, the input as a variable.
 */
const ask = (emulator: Emulator, query: string, variables: object = {}) =>
  send(`${emulator.url}/graphql`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${emulator.apiKey}` },
    body: JSON.stringify({ query, variables }),
  });

const SELECTED = `id gpuCount instanceIds workersPFBTarget allowedCudaVersions minCudaVersion executionTimeoutMs
  flashEnvironmentId compliance type modelReferences env { key value } networkVolumeIds { networkVolumeId dataCenterId }
  networkVolume { id dataCenterId } computeType aiKey userId version workersStandby createdAt flashBootType scalerValue`;
const SAVE = `mutation Save($input: EndpointInput!) { saveEndpoint(input: $input) { ${SELECTED} } }`;
const required = { name: "llama", gpuIds: "ADA_24", templateId: "t" };

test("[save.observed-fields] the fields that the service's own clients use are stored and returned", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const set = {
    gpuCount: 2,
    minCudaVersion: "12.4",
    executionTimeoutMs: 60_000,
    networkVolumeIds: [{ networkVolumeId: "v1" }],
    compliance: ["GDPR"],
  };
  const made = (await ask(emulator, SAVE, { input: { ...required, ...set } })).body.data.saveEndpoint;
  expect(made).toMatchObject({ ...set, instanceIds: null, modelReferences: [], type: "QB", networkVolume: null });
  expect(Date.parse(made.createdAt)).toBeGreaterThan(0);
  // One of the clients sends all lists in every save.
  const lists = { instanceIds: [], networkVolumeIds: null, env: [], modelReferences: [] };
  const input = { id: made.id, ...required, ...lists, gpuCount: 2 };
  const changed = (await ask(emulator, SAVE, { input })).body.data.saveEndpoint;
  expect(changed).toMatchObject({ ...lists, gpuCount: 2, minCudaVersion: "12.4", version: 1 });
  const { body } = await ask(emulator, `{ myself { endpoints { ${SELECTED} } } }`);
  expect(body.data.myself.endpoints).toEqual([changed]);
});

test("[save.observed-defaults] [save.observed-kept] [save.observed-reset] a save resets most fields that it omits", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const kept = {
    minCudaVersion: "12.4",
    allowedCudaVersions: "12.4,12.5",
    modelReferences: ["https://huggingface.co/a/b:main"],
    compliance: ["GDPR", "HIPAA"],
  };
  const lost = {
    gpuCount: 2,
    workersPFBTarget: 1,
    executionTimeoutMs: 60_000,
    networkVolumeIds: [{ networkVolumeId: "v1" }, { networkVolumeId: "v2" }],
    flashEnvironmentId: "f",
  };
  const made = (await ask(emulator, SAVE, { input: { ...required, ...kept, ...lost } })).body.data.saveEndpoint;
  expect(made).toMatchObject({ ...kept, ...lost });
  const changed = await ask(emulator, SAVE, { input: { id: made.id, ...required } });
  expect(changed.body.data.saveEndpoint).toMatchObject({
    ...kept,
    gpuCount: 1,
    workersPFBTarget: 0,
    executionTimeoutMs: null,
    networkVolumeIds: null,
    env: [],
    flashEnvironmentId: null,
  });
});

test("[save.observed-nulls] null clears the fields that a save would keep if it omitted them", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const kept = { minCudaVersion: "12.4", allowedCudaVersions: "12.4", compliance: ["GDPR"], modelReferences: ["m"] };
  const made = (await ask(emulator, SAVE, { input: { ...required, ...kept } })).body.data.saveEndpoint;
  const nulls = Object.fromEntries(Object.keys(kept).map((field) => [field, null]));
  const cleared = await ask(emulator, SAVE, { input: { id: made.id, ...required, ...nulls } });
  expect(cleared.body.data.saveEndpoint).toMatchObject(nulls);
});

test("[save.type] [save.type-kept] [save.type-fixed] the type can be set only once, and a save that omits it keeps it", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const saved = async (more: object) => (await ask(emulator, SAVE, { input: { ...required, ...more } })).body;
  const { id, type } = (await saved({ type: "LB" })).data.saveEndpoint;
  expect(type).toBe("LB");
  expect((await saved({ id })).data.saveEndpoint.type).toBe("LB");
  expect((await saved({ id, type: null })).data.saveEndpoint.type).toBe("LB");
  expect((await saved({ id, type: "QB" })).errors[0].message).toMatch(/type of an endpoint cannot be changed/);
  expect((await saved({ type: "QUEUE" })).errors[0].message).toMatch(/not QB or LB/);
  expect((await saved({})).data.saveEndpoint.type).toBe("QB");
});

test("[save.compute-type] [save.compute-fixed] an endpoint cannot switch between GPUs and CPUs, and computeType is not an input field", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const saved = (more: object) => ask(emulator, SAVE, { input: { ...required, ...more } });
  const onGpus = (await saved({})).body.data.saveEndpoint;
  const onCpus = (await saved({ gpuIds: "", instanceIds: ["cpu3g-4-16"] })).body.data.saveEndpoint;
  expect([onGpus.computeType, onCpus.computeType]).toEqual(["GPU", "CPU"]);
  const toCpus = await saved({ id: onGpus.id, gpuIds: "", instanceIds: ["cpu3g-4-16"] });
  expect(toCpus.body.errors[0].message).toMatch(/runs on GPUs and cannot be changed/);
  const toGpus = await saved({ id: onCpus.id });
  expect(toGpus.body.errors[0].message).toMatch(/runs on CPUs and cannot be changed/);
  const refused = await saved({ computeType: "GPU" });
  expect(refused.status).toBe(400);
});

test("[save.cuda] [save.cpu-instances] [save.models] values that the service does not support are refused", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const refusal = async (more: object) =>
    (await ask(emulator, SAVE, { input: { ...required, ...more } })).body.errors?.[0].message;
  expect(await refusal({ minCudaVersion: "12" })).toMatch(/not a CUDA version/);
  expect(await refusal({ allowedCudaVersions: "12.4, new" })).toMatch(/"new" is not a CUDA version/);
  expect(await refusal({ gpuCount: 0 })).toMatch(/at least 1/);
  expect(await refusal({ executionTimeoutMs: -1 })).toMatch(/must not be negative/);
  expect(await refusal({ modelReferences: ["a", "b"] })).toMatch(/at most one model/);
  for (const id of ["cpu3g-4", "cpu3g-4-8", "cpu3g-3-12", "cpu9z-4-16"]) {
    expect(await refusal({ gpuIds: "", instanceIds: [id] })).toMatch(`No CPU instance has the id "${id}"`);
  }
  expect(await refusal({ gpuIds: "", instanceIds: ["cpu3c-2-4"], modelReferences: ["a"] })).toMatch(/no model/);
  expect(await refusal({ gpuIds: null })).toMatch(/gpuId\(s\) is required/);
  expect(emulator.endpoints.list()).toEqual([]);
});

test("[save.volumes] [save.volume-places] the data centers of several volumes are returned, and each data center allows only one volume", async () => {
  await using emulator = await startEmulator({
    profile: "observed",
    seed: {
      volumes: [
        { id: "ro", size: 10, dataCenterId: "EU-RO-1" },
        { id: "cz", size: 10, dataCenterId: "EU-CZ-1" },
        { id: "cz2", size: 10, dataCenterId: "EU-CZ-1" },
      ],
    },
  });
  const saved = (ids: readonly string[], more = {}) =>
    ask(emulator, SAVE, {
      input: { ...required, networkVolumeIds: ids.map((networkVolumeId) => ({ networkVolumeId, ...more })) },
    });
  expect((await saved(["ro", "cz"])).body.data.saveEndpoint.networkVolumeIds).toEqual([
    { networkVolumeId: "ro", dataCenterId: "EU-RO-1" },
    { networkVolumeId: "cz", dataCenterId: "EU-CZ-1" },
  ]);
  expect((await saved(["cz", "cz2"])).body.errors[0].message).toMatch(/data center EU-CZ-1/);
  expect((await saved(["none"])).body.errors[0].message).toMatch(/Unable to find network volume/);
  expect((await saved(["ro"], { dataCenterId: "EU-RO-1" })).status).toBe(400);
});

test("[save.env] [save.data-center-ids] [save.no-effect] env is ignored if a template is set, and unsupported settings are always ignored", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const cloudStorageConfig = {
    provider: "S3",
    region: "eu",
    bucketName: "b",
    accessKey: "access-key",
    secretKey: "secret-key",
  };
  const more = { env: [{ key: "A", value: "b" }], dataCenterIds: ["EU-RO-1", "EU-CZ-1"], requestTTL: 60 };
  const made = await ask(emulator, SAVE, { input: { ...required, ...more, cloudStorageConfig } });
  const { id, env } = made.body.data.saveEndpoint;
  expect(env).toEqual([]);
  const kept = [{ key: "B", value: "c" }];
  emulator.endpoints.change(id, { env: kept });
  expect((await ask(emulator, SAVE, { input: { ...required, ...more, id } })).body.data.saveEndpoint.env).toEqual(kept);
  expect(emulator.endpoints.list()).toMatchObject([{ locations: "EU-RO-1,EU-CZ-1" }]);
  expect(JSON.stringify(emulator.journal.requests())).not.toMatch(/access-key|secret-key/);
});

test("[save.cpu] [save.cpu-lost] [save.observed-defaults] a CPU endpoint accepts no GPU fields, and a save that omits instanceIds clears them", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const cpu = { ...required, gpuIds: "", instanceIds: ["cpu3g-4-16"] };
  const made = (await ask(emulator, SAVE, { input: cpu })).body.data.saveEndpoint;
  expect(made.instanceIds).toEqual(["cpu3g-4-16"]);
  for (const more of [{ gpuIds: "ADA_24" }, { gpuCount: 1 }, { minCudaVersion: "12.4" }]) {
    const refused = await ask(emulator, SAVE, { input: { ...cpu, id: made.id, ...more } });
    expect(refused.body.errors[0].message).toMatch(/takes no GPUs/);
  }
  const changed = await ask(emulator, SAVE, { input: { id: made.id, ...required, gpuIds: "" } });
  expect(changed.body.data.saveEndpoint).toMatchObject({ instanceIds: null, computeType: "CPU" });
});

test("[save.sources] an endpoint names the repository, hub release or Flash environment from which it was created", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const sources = { repo: { repoName: "me/llama" }, hubReleaseId: "h1", flashEnvironmentId: "f1" };
  const save = SAVE.replace("env {", "repo { repoName } hubRelease { id } env {");
  const made = (await ask(emulator, save, { input: { ...required, ...sources } })).body.data.saveEndpoint;
  expect(made).toMatchObject({ repo: sources.repo, hubRelease: { id: "h1" }, flashEnvironmentId: "f1" });
  const plain = (await ask(emulator, save, { input: required })).body.data.saveEndpoint;
  expect(plain).toMatchObject({ repo: null, hubRelease: null, flashEnvironmentId: null });
});

test("[save.standby] workersStandby is 1 unless a save sets it, regardless of workersMin", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const made = (await ask(emulator, SAVE, { input: required })).body.data.saveEndpoint;
  expect(made).toMatchObject({ workersStandby: 1 });
  const input = { id: made.id, ...required, workersStandby: 2 };
  expect((await ask(emulator, SAVE, { input })).body.data.saveEndpoint.workersStandby).toBe(2);
});

test("[save.whole-scaler-value] a scalerValue variable of type Int is accepted", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const query = `mutation Save($scalerValue: Int) {
    saveEndpoint(input: { name: "a", gpuIds: "ADA_24", templateId: "t", scalerValue: $scalerValue }) { scalerValue } }`;
  expect((await ask(emulator, query, { scalerValue: 7 })).body.data.saveEndpoint).toEqual({ scalerValue: 7 });
  expect((await ask(emulator, query)).body.data.saveEndpoint).toEqual({ scalerValue: 4 });
});

test("[save.priority-flashboot] PRIORITY_FLASHBOOT is stored and returned", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const input = { ...required, flashBootType: "PRIORITY_FLASHBOOT" };
  const fast = (await ask(emulator, SAVE, { input })).body.data.saveEndpoint;
  expect(fast.flashBootType).toBe("PRIORITY_FLASHBOOT");
  const off = await ask(emulator, SAVE, { input: { ...input, id: fast.id, flashBootType: "OFF" } });
  expect(off.body.data.saveEndpoint.flashBootType).toBe("OFF");
});

test("the contract profile supports none of the observed fields", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const url = `${emulator.url}/graphql?api_key=${emulator.apiKey}`;
  const headers = { "content-type": "application/json" };
  for (const query of ["{ myself { endpoints { gpuCount } } }", "{ gpuTypes { id } }", "{ myself { id } }"]) {
    expect((await send(url, { method: "POST", headers, body: JSON.stringify({ query }) })).status).toBe(400);
  }
});
