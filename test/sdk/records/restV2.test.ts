import { BusinessRuleError, InUseError, NameTakenError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

let site: Emulated;
beforeEach(async () => {
  site = await startEmulated({ client: { api: "v2" } });
});
afterEach(() => site[Symbol.asyncDispose]());

/** Returns the bodies that the emulator received for an operation. */
function bodies(operation: string): unknown[] {
  return site.emulator.journal.requests({ operation }).map(({ arguments: args }) => args.input);
}

test("a template is created, changed by sending only the differences, and deleted by its id", async () => {
  const { client, run, emulator } = site;
  const input = {
    name: "t",
    imageName: "me/t:1",
    env: { MODE: "fast" },
    ports: "8000/http,22/tcp",
    readme: "About it",
  };
  const created = await run(client.templates.create(input));
  expect(created).toMatchObject({ ...input, ports: "22/tcp,8000/http", isServerless: true, isPublic: false });
  expect(emulator.templates.get(created.id)).toMatchObject({ isServerless: true, startSsh: false, readme: "" });
  const { id } = created;
  const known = { readme: "About it" };
  expect(await run(client.templates.find(id, { known }))).toEqual(created);

  const changed = await run(client.templates.update(id, { env: { MODE: "slow", MORE: "1" } }, { known }));
  expect(changed).toMatchObject({ env: { MODE: "slow", MORE: "1" }, readme: "About it", imageName: "me/t:1" });
  await run(client.templates.update(id, { env: { MORE: null }, containerRegistryAuthId: "" }, { known }));
  expect(emulator.templates.get(id)?.env).toEqual([{ key: "MODE", value: "slow" }]);
  expect(bodies("updateTemplate")).toEqual([{ env: "[redacted]" }, { env: "[redacted]" }]);

  // Its description is not sent: REST v2 has none.
  await run(client.templates.update(id, { readme: "Other" }, { known }));
  expect(bodies("updateTemplate")).toHaveLength(2);

  await run(client.templates.delete(id));
  expect(emulator.templates.list()).toEqual([]);
});

test("a lost response to creating a template, a volume or a credential leaves exactly one record", async () => {
  const { client, run, emulator } = site;
  const operations = ["createTemplate", "createNetworkVolume", "createRegistry"];
  for (const operation of operations) {
    emulator.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
  }
  await run(client.templates.create({ name: "t", imageName: "me/t:1" }));
  await run(client.volumes.create({ name: "v", size: 10, dataCenterId: "EU-RO-1" }));
  await run(client.registryAuths.create({ name: "r", username: "me", password: "very-secret" }));
  expect(emulator.templates.list()).toHaveLength(1);
  expect(emulator.volumes.list()).toHaveLength(1);
  expect(emulator.registryAuths.list()).toHaveLength(1);
});

test("a taken name is refused, and the error names the record that uses it", async () => {
  const { client, run, failure } = site;
  const { id } = await run(client.templates.create({ name: "t", imageName: "me/t:1" }));
  const error = await failure(client.templates.create({ name: "t", imageName: "me/t:1" }));
  expect(error).toBeInstanceOf(NameTakenError);
  expect(error.message).toContain(id);
});

test("a volume grows, keeps the storage settings that the caller knows, and is not deleted while an endpoint mounts it", async () => {
  const { client, run, failure, emulator } = site;
  const given = { name: "v", size: 20, dataCenterId: "EU-RO-1", highPerformance: true };
  const created = await run(client.volumes.create(given));
  expect(created).toMatchObject({ name: "v", size: 20, dataCenterId: "EU-RO-1", storageType: "HIGH_PERFORMANCE" });
  const known = { storageType: "VAST" };
  const changed = await run(client.volumes.update(created.id, { size: 30 }, { known }));
  expect(changed).toEqual({ ...created, size: 30, storageType: "VAST" });
  expect(bodies("updateNetworkVolume")).toEqual([{ size: 30 }]);
  const endpoint = { name: "a", gpuIds: "ADA_24", templateId: "t", networkVolumeId: created.id };
  const { id } = await run(client.endpoints.create(endpoint));
  expect(await failure(client.volumes.delete(created.id))).toBeInstanceOf(InUseError);
  await run(client.endpoints.delete(id));
  await run(client.volumes.delete(created.id));
  expect(emulator.volumes.list()).toEqual([]);
});

test("a credential cannot be changed, and the error says what to do instead", async () => {
  const { client, run, failure, emulator, calls } = site;
  const { id } = await run(client.registryAuths.create({ name: "r", username: "me", password: "very-secret" }));
  const error = await failure(client.registryAuths.update(id, { username: "me", password: "other-secret" }));
  expect(error).toBeInstanceOf(BusinessRuleError);
  expect(error.message).toMatch(/Nothing was changed\. Give the credential another name/);
  expect(calls()).not.toContain("updateRegistry");
  expect(emulator.registryAuths.matches(id, "me", "very-secret")).toBe(true);
  await run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("a credential is not deleted while the container of an endpoint uses it", async () => {
  const { client, run, failure, emulator } = site;
  const { id } = await run(client.registryAuths.create({ name: "r", username: "me", password: "very-secret" }));
  const template = await run(client.templates.create({ name: "t", imageName: "me/t:1", containerRegistryAuthId: id }));
  const endpoint = await run(client.endpoints.create({ name: "llama", gpuIds: "ADA_24", templateId: template.id }));
  await run(client.templates.update(template.id, { containerRegistryAuthId: "" }));
  const error = await failure(client.registryAuths.delete(id));
  expect(error).toBeInstanceOf(InUseError);
  expect(error.message).toContain(`in use by endpoint "llama" (${endpoint.id})`);
  await run(client.endpoints.applyTemplate(endpoint.id, template.id));
  await run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("the error for a refusal that quotes a template's variables shows none of their values", async () => {
  const { client, failure, emulator } = site;
  const secret = "a-very-secret-value";
  const body = { title: "Bad Request", status: 400, detail: `refused {"env":{"TOKEN":"${secret}"}}` };
  emulator.faults.add({ match: { operation: "createTemplate" }, effect: { status: 400, body } });
  const error = await failure(client.templates.create({ name: "t", imageName: "me/t:1", env: { TOKEN: secret } }));
  expect(JSON.stringify({ ...error, message: error.message, stack: error.stack })).not.toContain(secret);
});
