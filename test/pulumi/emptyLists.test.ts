import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

const PROGRAM = `
const { ContainerRegistryAuth, NetworkVolume, Secret, ServerlessTemplate } = require("pulumi-serverless-gpu");
new NetworkVolume("volume", { name: "volume", size: 10, dataCenterId: "EU-RO-1" });
new Secret("secret", { name: "secret", value: "value-canary-1" });
new ContainerRegistryAuth("login", { name: "login", username: "me", password: "password-canary-1" });
new ServerlessTemplate("template", { name: "template", imageName: "image" });
`;

let emulator: Emulator;
afterEach(() => emulator.stop());

async function start(api: "graphql" | "v2"): Promise<PulumiStack> {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  const stack = await createStack({ env: { ...emulator.env, SERVERLESS_GPU_API: api } });
  await stack.writeProgram(PROGRAM);
  await stack.up();
  return stack;
}

/** Returns the ids of everything in the account. */
function idsAt(): string[] {
  const { volumes, secrets, registryAuths, templates } = emulator;
  return [volumes, secrets, registryAuths, templates].flatMap((kind) => kind.list().map(({ id }) => id));
}

async function idsIn(stack: PulumiStack): Promise<string[]> {
  const { resources = [] } = (await stack.exportState()).deployment;
  return resources.flatMap(({ id, type }) => (id && !type.startsWith("pulumi:") ? [id] : []));
}

test.each([
  "graphql",
  "v2",
] as const)("over %s, empty lists cause no resource to be removed from state", async (api) => {
  const stack = await start(api);
  const ids = idsAt();
  expect(ids).toHaveLength(4);
  emulator.faults.add({ effect: { emptyLists: true } });
  const { stdout } = await stack.refresh();
  expect((await idsIn(stack)).sort()).toEqual([...ids].sort());
  if (api === "graphql") expect(stdout).toContain("pulumi state delete");
  else expect(stdout).not.toContain("cannot tell");
  emulator.faults.clear();
  await stack.up("--expect-no-changes");
  expect(idsAt()).toEqual(ids);
}, 180_000);

test("over graphql, following the advice removes a deleted volume from state and creates it again", async () => {
  const stack = await start("graphql");
  const [volume] = emulator.volumes.list();
  emulator.volumes.delete(volume?.id ?? "");
  await stack.refresh();
  expect(await idsIn(stack)).toContain(volume?.id);
  const { stdout } = await stack.succeed(["stack", "--show-urns"]);
  const urn = /urn:\S+::volume\b/.exec(stdout)?.[0] ?? "";
  await stack.succeed(["state", "delete", urn, "--yes"]);
  expect(await idsIn(stack)).not.toContain(volume?.id);
  await stack.up();
  expect(emulator.volumes.list()).toHaveLength(1);
  for (const kind of [emulator.volumes, emulator.secrets, emulator.registryAuths]) {
    for (const { id } of kind.list()) kind.delete(id);
  }
  await stack.destroy();
  expect(await idsIn(stack)).toEqual([]);
}, 180_000);
