import { createClient } from "../../../sdk/client/client";
import { InUseError } from "../../../sdk/errors/errors";
import { CANARY, startEmulated } from "../../support/emulated";

const INPUT = { name: "ghcr", username: "me", password: "password-canary-1" };
const FAULT = {
  graphqlError: { message: "Something went wrong. Please try again later", code: "INTERNAL_SERVER_ERROR" },
};

test("a password is replaced in place", async () => {
  await using service = await startEmulated();
  const { id } = await service.run(service.client.registryAuths.create(INPUT));
  const login = { username: "you", password: "password-canary-2" };
  expect(await service.run(service.client.registryAuths.update(id, login))).toMatchObject({ id, name: "ghcr" });
  expect(service.calls().filter((call) => call !== "myself")).toEqual(["saveRegistryAuth", "updateRegistryAuth"]);
});

test("a credential that a template uses is not deleted, because the template would lose it", async () => {
  await using service = await startEmulated();
  const { client, emulator } = service;
  const { id } = await service.run(client.registryAuths.create(INPUT));
  emulator.templates.create({
    id: "t1",
    name: "llama",
    imageName: "app:1",
    isServerless: true,
    containerRegistryAuthId: id,
  });
  const failing = service.run(client.registryAuths.delete(id));
  await expect(failing).rejects.toThrow(InUseError);
  await expect(failing).rejects.toThrow(/template "llama" \(t1\)/);
  emulator.templates.delete("t1");
  await service.run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("a deletion that sometimes fails at the service is repeated", async () => {
  await using service = await startEmulated();
  const { id } = await service.run(service.client.registryAuths.create(INPUT));
  service.emulator.faults.add({ match: { operation: "deleteRegistryAuth" }, effect: FAULT, times: 3 });
  await service.run(service.client.registryAuths.delete(id));
  expect(service.emulator.registryAuths.list()).toEqual([]);
});

test("a deletion that always fails ends with an error, and the credential remains", async () => {
  await using service = await startEmulated();
  const { id } = await service.run(service.client.registryAuths.create(INPUT));
  service.emulator.faults.add({ match: { operation: "deleteRegistryAuth" }, effect: FAULT });
  await expect(service.run(service.client.registryAuths.delete(id))).rejects.toThrow(/It still exists/);
  expect(service.emulator.registryAuths.list()).toHaveLength(1);
});

test.each(["saveRegistryAuth", "updateRegistryAuth"])("no message of %s shows the password", async (operation) => {
  await using service = await startEmulated();
  const { client, emulator } = service;
  const { id } = await service.run(client.registryAuths.create({ ...INPUT, name: "first" }));
  const message = `Syntax Error in {username: "me", password: "a\\"b-${INPUT.password}"}: "${INPUT.password}"`;
  emulator.faults.add({ match: { operation }, effect: { graphqlError: { message } } });
  const calling =
    operation === "saveRegistryAuth" ? client.registryAuths.create(INPUT) : client.registryAuths.update(id, INPUT);
  const error = (await service.run(calling.catch((each: unknown) => each))) as Error;
  expect(error.message).toContain("[redacted]");
  expect(error.message).not.toMatch(/canary|b-/);
});

test("the advice for a credential used by an endpoint's own container suits an endpoint without a template", async () => {
  await using service = await startEmulated({ client: { api: "v2" } });
  const { client } = service;
  const { id } = await service.run(client.registryAuths.create(INPUT));
  const container = { imageName: "app:1", containerRegistryAuthId: id };
  await service.run(client.endpoints.create({ name: "one", gpuIds: "ADA_24", ...container }));
  const failing = service.run(client.registryAuths.delete(id));
  await expect(failing).rejects.toThrow(
    /endpoint "one" .*Give the endpoint another credential.* with imageName has its own containerRegistryAuthId/,
  );
});

test("over GraphQL, a credential that an endpoint made over REST v2 uses is not deleted", async () => {
  await using service = await startEmulated();
  const { client, emulator } = service;
  const { id } = await service.run(client.registryAuths.create(INPUT));
  const v2 = createClient({
    apiKey: CANARY,
    graphqlUrl: emulator.url,
    queueUrl: emulator.url,
    clock: service.clock,
    api: "v2",
  });
  const container = { imageName: "app:1", containerRegistryAuthId: id };
  const made = await service.run(v2.endpoints.create({ name: "one", gpuIds: "ADA_24", ...container }));
  await expect(service.run(client.registryAuths.delete(id))).rejects.toThrow(
    new RegExp(`in use by endpoint "one" \\(${made.id}\\)`),
  );
  emulator.endpoints.delete(made.id);
  await service.run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("over GraphQL, the deletion of a credential warns if REST v2 rejects the key, and fails if REST v2 fails", async () => {
  const warnings: string[] = [];
  await using service = await startEmulated({ client: { onWarning: ({ message }) => warnings.push(message) } });
  const { client, emulator } = service;
  const { id } = await service.run(client.registryAuths.create(INPUT));
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 500 } });
  await expect(service.run(client.registryAuths.delete(id, { timeoutMs: 60_000 }))).rejects.toThrow(
    /is not deleted, because it may be in use/,
  );
  emulator.faults.clear();
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 403 } });
  await service.run(client.registryAuths.delete(id));
  expect(warnings).toEqual([expect.stringMatching(/not known whether an endpoint .* REST v2 rejects this key/)]);
});
