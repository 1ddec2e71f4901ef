import { type Emulator, startEmulator } from "../../../emulator";
import { graphql, invalidMutation, mutate, refusedMutation } from "../../support/plainClient";

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});
afterEach(() => emulator.stop());

const PASSWORD = "canary-password";
const create = (name: string, password = PASSWORD) =>
  `saveRegistryAuth(input: { name: "${name}", username: "me", password: "${password}" }) { id name }`;
const update = (id: string, password: string) =>
  `updateRegistryAuth(input: { id: "${id}", username: "me", password: "${password}" }) { id name }`;
const remove = (id: string) => `deleteRegistryAuth(registryAuthId: "${id}")`;
const created = async (name = "ghcr") => (await mutate(emulator, create(name))).body.data.saveRegistryAuth;

test("[registry.create] [registry.list] saveRegistryAuth creates a credential, and lists its id and name", async () => {
  const credential = await created();
  expect(credential).toEqual({ id: expect.stringMatching(/^cm[a-z0-9]{23}$/), name: "ghcr" });
  const { body } = await graphql(emulator, "{ myself { containerRegistryCreds { id name } } }");
  expect(body.data.myself.containerRegistryCreds).toEqual([credential]);
  expect(emulator.registryAuths.matches(credential.id, "me", PASSWORD)).toBe(true);
});

test("[registry.input] every field is required, and a change cannot set the name", async () => {
  const provided = /of required type "String!" was not provided/;
  expect(await invalidMutation(emulator, 'saveRegistryAuth(input: { name: "a", username: "b" }) { id }')).toMatch(
    provided,
  );
  expect(await invalidMutation(emulator, 'updateRegistryAuth(input: { username: "a", password: "b" }) { id }')).toMatch(
    provided,
  );
  const renamed = 'updateRegistryAuth(input: { id: "x", name: "n", username: "a", password: "b" }) { id }';
  expect(await invalidMutation(emulator, renamed)).toContain('Field "name" is not defined');
});

test("[registry.update] a change replaces the password and keeps the id", async () => {
  const { id } = await created();
  expect((await mutate(emulator, update(id, "new-password"))).body.data.updateRegistryAuth).toEqual({
    id,
    name: "ghcr",
  });
  expect([PASSWORD, "new-password"].map((password) => emulator.registryAuths.matches(id, "me", password))).toEqual([
    false,
    true,
  ]);
});

test.each([
  "username",
  "password",
  "registryAuth { username }",
])("[registry.hidden] GraphQL has no field %s", async (field) => {
  const { status } = await graphql(emulator, `{ myself { containerRegistryCreds { ${field} } } }`);
  expect(status).toBe(400);
  await created();
  expect(JSON.stringify(emulator.registryAuths.list())).not.toContain(PASSWORD);
});

test("[registry.unique-name] a name can be used only once", async () => {
  await created();
  expect(await refusedMutation(emulator, create("ghcr"))).toContain("unique");
  expect(emulator.registryAuths.list()).toHaveLength(1);
});

test("[registry.not-empty] an empty name and an empty password are refused", async () => {
  expect(await refusedMutation(emulator, create(" "))).toContain("name");
  expect(await refusedMutation(emulator, create("a", ""))).toContain("password");
});

test("[registry.unknown-id] an unknown id is refused", async () => {
  expect(await refusedMutation(emulator, update("x", "new"))).toContain("not found");
  expect(await refusedMutation(emulator, remove("x"))).toContain("not found");
});

test("[registry.delete] [registry.reference] templates lose their reference to a credential when it is deleted", async () => {
  const { id } = await created();
  const template = emulator.templates.create({ name: "t", imageName: "i", containerRegistryAuthId: id });
  expect((await mutate(emulator, remove(id))).body).toEqual({ data: { deleteRegistryAuth: null } });
  expect(emulator.registryAuths.list()).toEqual([]);
  expect(emulator.templates.get(template.id)?.containerRegistryAuthId).toBeNull();
});

test("[registry.in-use] a deletion fails without a reason while a pod or the template of an endpoint uses the credential", async () => {
  const { id } = await created();
  const refusal = {
    errors: [
      {
        message: "Something went wrong. Please try again later or contact support.",
        path: ["deleteRegistryAuth"],
        extensions: { code: "INTERNAL_SERVER_ERROR" },
      },
    ],
    data: { deleteRegistryAuth: null },
  };
  emulator.templates.create({ id: "t", name: "t", imageName: "i", containerRegistryAuthId: id });
  const endpoint = emulator.endpoints.create({ name: "e", gpuIds: "ADA_24", templateId: "t" });
  expect(await mutate(emulator, remove(id))).toMatchObject({ status: 200, body: refusal });
  emulator.endpoints.delete(endpoint.id);
  emulator.pods.add({ id: "p", containerRegistryAuthId: id });
  expect((await mutate(emulator, remove(id))).body).toEqual(refusal);
  emulator.pods.remove("p");
  expect((await mutate(emulator, remove(id))).body.errors).toBeUndefined();
});

test("a direct change through the emulator must set the user name and the password together", async () => {
  const { id } = await created();
  expect(() => emulator.registryAuths.change(id, { password: "x" })).toThrow(RangeError);
  emulator.registryAuths.change(id, { name: "other", username: "you", password: "x" });
  expect(emulator.registryAuths.get(id)).toEqual({ id, name: "other" });
  expect(emulator.registryAuths.matches(id, "you", "x")).toBe(true);
});
