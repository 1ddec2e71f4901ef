import { createClient } from "../../../sdk/client/client";
import { CANARY, startEmulated } from "../../support/emulated";
import { addressesOf } from "../../support/scriptedServer";
import { startStrictService } from "../../support/strictService";

/** The fields without which everything must work, because no public client selects them. */
const UNCERTAIN = [
  "advancedStart",
  "boundEndpointId",
  "category",
  "compliance",
  "hubRelease",
  "lastUpdatedAt",
  "modelReferences",
  "port",
  "portsConfig",
  "repo",
  "startScript",
  "template",
  "workersPFBTarget",
  "workersStandby",
];

async function start() {
  const site = await startEmulated({ emulator: { profile: "observed" } });
  const strict = await startStrictService(site.emulator);
  const client = createClient({ apiKey: CANARY, service: "runpod", api: "graphql", ...addressesOf(strict) });
  return {
    client,
    strict,
    run: site.run,
    emulator: site.emulator,
    async [Symbol.asyncDispose]() {
      await client.close();
      await strict[Symbol.asyncDispose]();
      await site[Symbol.asyncDispose]();
    },
  };
}

test("records of every kind are created, changed, read and deleted at a service that rejects the fields that no public client selects", async () => {
  await using it = await start();
  const { secrets, templates, volumes, registryAuths, endpoints } = it.client;
  const secret = await secrets.create({ name: "hf", value: "value-1", description: "one" });
  expect(await secrets.update(secret.id, { value: "value-2", description: "two" })).toMatchObject({
    description: "two",
  });
  expect((await secrets.get(secret.id)).valueLastUpdatedAt >= secret.createdAt).toBe(true);
  const login = await registryAuths.create({ name: "hub", username: "me", password: "password-1" });
  await registryAuths.update(login.id, { username: "you", password: "password-2" });
  const volume = await volumes.create({ name: "data", size: 10, dataCenterId: "EU-RO-1" });
  expect(await volumes.update(volume.id, { size: 20 })).toMatchObject({ size: 20 });
  const template = await templates.create({ name: "llama", imageName: "me/llama:1" });
  expect(await templates.update(template.id, { imageName: "me/llama:2" })).toMatchObject({ imageName: "me/llama:2" });
  const made = await endpoints.create({ name: "llama", gpuIds: "ADA_24", templateId: template.id, workersMax: 1 });
  expect(await endpoints.update(made.id, { workersMax: 2, gpuCount: 2 })).toMatchObject({ workersMax: 2, gpuCount: 2 });
  expect(await endpoints.get(made.id)).toMatchObject({ id: made.id, workersMax: 2 });
  expect(await endpoints.diagnose(made.id)).toMatchObject({ endpointId: made.id });
  // The emulator keeps a standby worker, which stops in the emulator's time.
  await it.run(endpoints.delete(made.id));
  await secrets.delete(secret.id);
  await volumes.delete(volume.id);
  await registryAuths.delete(login.id);
  expect(await endpoints.list()).toEqual([]);
  expect(await templates.list()).toHaveLength(1);
  expect([...it.strict.refused].filter((field) => !UNCERTAIN.includes(field))).toEqual([]);
  expect(it.strict.refused).toContain("lastUpdatedAt");
}, 60_000);

test.each([
  { workersStandby: 2 },
  { modelReferences: "https://huggingface.co/a/b:main" },
])("a setting that the service does not know is refused by name: %p", async (setting) => {
  await using it = await start();
  const input = { name: "llama", gpuIds: "ADA_24", templateId: "t", workersMax: 1 };
  await expect(it.client.endpoints.create({ ...input, ...setting })).rejects.toThrow(
    `the service does not know the field ${Object.keys(setting)[0]}. Remove it`,
  );
  expect(it.emulator.endpoints.list()).toEqual([]);
});
