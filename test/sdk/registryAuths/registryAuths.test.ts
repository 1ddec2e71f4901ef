import { InUseError } from "../../../sdk/errors";
import { startEmulated } from "../../support/emulated";

const INPUT = { name: "ghcr", username: "me", password: "password-canary-1" };
const FAULT = {
  graphqlError: { message: "Something went wrong. Please try again later", code: "INTERNAL_SERVER_ERROR" },
};

test("a password is replaced in place", async () => {
  await using it = await startEmulated();
  const { id } = await it.run(it.client.registryAuths.create(INPUT));
  const login = { username: "you", password: "password-canary-2" };
  expect(await it.run(it.client.registryAuths.update(id, login))).toMatchObject({ id, name: "ghcr" });
  expect(it.calls().filter((call) => call !== "myself")).toEqual(["saveRegistryAuth", "updateRegistryAuth"]);
});

test("a credential that a template uses is not deleted: the template would lose it", async () => {
  await using it = await startEmulated();
  const { client, emulator } = it;
  const { id } = await it.run(client.registryAuths.create(INPUT));
  emulator.templates.create({
    id: "t1",
    name: "llama",
    imageName: "app:1",
    isServerless: true,
    containerRegistryAuthId: id,
  });
  const failing = it.run(client.registryAuths.delete(id));
  await expect(failing).rejects.toThrow(InUseError);
  await expect(failing).rejects.toThrow(/template "llama" \(t1\)/);
  emulator.templates.delete("t1");
  await it.run(client.registryAuths.delete(id));
  expect(emulator.registryAuths.list()).toEqual([]);
});

test("a deletion that the service fails now and then is repeated", async () => {
  await using it = await startEmulated();
  const { id } = await it.run(it.client.registryAuths.create(INPUT));
  it.emulator.faults.add({ match: { operation: "deleteRegistryAuth" }, effect: FAULT, times: 3 });
  await it.run(it.client.registryAuths.delete(id));
  expect(it.emulator.registryAuths.list()).toEqual([]);
});

test("a deletion that always fails ends, and the credential still exists", async () => {
  await using it = await startEmulated();
  const { id } = await it.run(it.client.registryAuths.create(INPUT));
  it.emulator.faults.add({ match: { operation: "deleteRegistryAuth" }, effect: FAULT });
  await expect(it.run(it.client.registryAuths.delete(id))).rejects.toThrow(/It still exists/);
  expect(it.emulator.registryAuths.list()).toHaveLength(1);
});

test.each(["saveRegistryAuth", "updateRegistryAuth"])("no message of %s shows the password", async (operation) => {
  await using it = await startEmulated();
  const { client, emulator } = it;
  const { id } = await it.run(client.registryAuths.create({ ...INPUT, name: "first" }));
  const message = `Syntax Error in {username: "me", password: "a\\"b-${INPUT.password}"}: "${INPUT.password}"`;
  emulator.faults.add({ match: { operation }, effect: { graphqlError: { message } } });
  const calling =
    operation === "saveRegistryAuth" ? client.registryAuths.create(INPUT) : client.registryAuths.update(id, INPUT);
  const error = (await it.run(calling.catch((each: unknown) => each))) as Error;
  expect(error.message).toContain("[redacted]");
  expect(error.message).not.toMatch(/canary|b-/);
});
