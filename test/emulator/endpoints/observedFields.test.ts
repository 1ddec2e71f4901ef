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
  networkVolume { id dataCenterId } aiKey userId version workersStandby createdAt flashBootType scalerValue`;
const SAVE = `mutation Save($input: EndpointInput!) { saveEndpoint(input: $input) { ${SELECTED} } }`;
const required = { name: "llama", gpuIds: "ADA_24", templateId: "t" };

test("[save.observed-fields] the fields of the service's own clients are stored and shown", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const set = {
    gpuCount: 2,
    minCudaVersion: "12.4",
    executionTimeoutMs: 60_000,
    env: [{ key: "A", value: "b" }],
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

test("[save.observed-defaults] [save.observed-kept] [save.observed-reset] a change resets most fields that it leaves out", async () => {
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
    type: "LB",
    executionTimeoutMs: 60_000,
    networkVolumeIds: [{ networkVolumeId: "v1" }, { networkVolumeId: "v2" }],
    env: [{ key: "A", value: "b" }],
    flashEnvironmentId: "f",
  };
  const made = (await ask(emulator, SAVE, { input: { ...required, ...kept, ...lost } })).body.data.saveEndpoint;
  expect(made).toMatchObject({ ...kept, ...lost });
  const changed = await ask(emulator, SAVE, { input: { id: made.id, ...required } });
  expect(changed.body.data.saveEndpoint).toMatchObject({
    ...kept,
    ...{ gpuCount: 1, workersPFBTarget: 0, type: "QB", executionTimeoutMs: null, networkVolumeIds: null, env: [] },
    flashEnvironmentId: null,
  });
});

test("[save.cpu] [save.observed-defaults] a CPU endpoint accepts no GPU fields, and a change without instanceIds loses them", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const cpu = { ...required, gpuIds: "", instanceIds: ["cpu3g-4-16"] };
  const made = (await ask(emulator, SAVE, { input: cpu })).body.data.saveEndpoint;
  expect(made.instanceIds).toEqual(["cpu3g-4-16"]);
  for (const more of [{ gpuIds: "ADA_24" }, { gpuCount: 1 }, { minCudaVersion: "12.4" }]) {
    const refused = await ask(emulator, SAVE, { input: { ...cpu, id: made.id, ...more } });
    expect(refused.body.errors[0].message).toMatch(/takes no GPUs/);
  }
  const changed = await ask(emulator, SAVE, { input: { id: made.id, ...required } });
  expect(changed.body.data.saveEndpoint.instanceIds).toBeNull();
});

test("[save.sources] an endpoint shows the repository, hub release or Flash environment that it comes from", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const sources = { repo: { repoName: "me/llama" }, hubReleaseId: "h1", flashEnvironmentId: "f1" };
  const save = SAVE.replace("env {", "repo { repoName } hubRelease { id } env {");
  const made = (await ask(emulator, save, { input: { ...required, ...sources } })).body.data.saveEndpoint;
  expect(made).toMatchObject({ repo: sources.repo, hubRelease: { id: "h1" }, flashEnvironmentId: "f1" });
  const plain = (await ask(emulator, save, { input: required })).body.data.saveEndpoint;
  expect(plain).toMatchObject({ repo: null, hubRelease: null, flashEnvironmentId: null });
});

test("[save.standby] workersStandby is workersMin unless a save sets it", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const made = (await ask(emulator, SAVE, { input: { ...required, workersMin: 1 } })).body.data.saveEndpoint;
  expect(made.workersStandby).toBe(1);
  const input = { id: made.id, ...required, workersStandby: 2 };
  expect((await ask(emulator, SAVE, { input })).body.data.saveEndpoint.workersStandby).toBe(2);
});

test("[save.whole-scaler-value] a scalerValue variable of the type Int is accepted", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const query = `mutation Save($scalerValue: Int) {
    saveEndpoint(input: { name: "a", gpuIds: "ADA_24", templateId: "t", scalerValue: $scalerValue }) { scalerValue } }`;
  expect((await ask(emulator, query, { scalerValue: 7 })).body.data.saveEndpoint).toEqual({ scalerValue: 7 });
  expect((await ask(emulator, query)).body.data.saveEndpoint).toEqual({ scalerValue: 4 });
});

test("[save.priority-flashboot] [save.inline-template] PRIORITY_FLASHBOOT counts as FLASHBOOT, and a template in the input is refused", async () => {
  await using emulator = await startEmulator({ profile: "observed" });
  const fast = await ask(emulator, SAVE, { input: { ...required, flashBootType: "PRIORITY_FLASHBOOT" } });
  expect(fast.body.data.saveEndpoint.flashBootType).toBe("FLASHBOOT");
  const refused = await ask(emulator, SAVE, { input: { ...required, bindEndpoint: true } });
  expect(refused.body.errors[0].message).toMatch(/use saveTemplate, then saveEndpoint with its templateId/);
  expect(emulator.endpoints.list()).toHaveLength(1);
});

test("the contract profile has none of the observed fields", async () => {
  await using emulator = await startEmulator();
  const url = `${emulator.url}/graphql?api_key=${emulator.apiKey}`;
  const headers = { "content-type": "application/json" };
  for (const query of ["{ myself { endpoints { gpuCount } } }", "{ gpuTypes { id } }", "{ myself { id } }"]) {
    expect((await send(url, { method: "POST", headers, body: JSON.stringify({ query }) })).status).toBe(400);
  }
});
