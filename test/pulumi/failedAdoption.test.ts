import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const URLS = (url: string) => `graphqlUrl: "${url}", restUrl: "${url}", queueUrl: "${url}"`;

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "key-of-the-account" });
});
afterEach(() => emulator.stop());

/**
 * A program with a resource of each kind under a logical name. It adopts the objects whose ids it
 * is given.
 */
function program(name: string, ids: readonly string[] = [], options = "{}"): string {
  const [template, volume, login, endpoint] = ids.map((id) => `, adoptId: "${id}"`);
  return `
const sgpu = require("pulumi-serverless-gpu");
const p = new sgpu.ServerlessGpuProvider("p", { apiKey: "key-of-the-account", ${URLS(emulator.url)} });
new sgpu.ServerlessTemplate("${name}", { name: "t", imageName: "app:1"${template ?? ""} }, ${options});
new sgpu.NetworkVolume("${name}", { name: "v", size: 10, dataCenterId: "EU-RO-1"${volume ?? ""} }, ${options});
new sgpu.ContainerRegistryAuth("${name}", { name: "c", username: "me", password: "word"${login ?? ""} }, ${options});
new sgpu.ServerlessEndpoint("${name}", { name: "e", gpuIds: "AMPERE_24", templateId: "of-a-person"${endpoint ?? ""} }, ${options});
`;
}

const ids = () =>
  [emulator.templates, emulator.volumes, emulator.registryAuths, emulator.endpoints].flatMap((kind) =>
    kind.list().map(({ id }) => id),
  );

test("a record stays in state when its adoption fails, and a rename works with --refresh, --replace and targets", async () => {
  const stack = await createStack({ program: program("a"), env: emulator.env });
  await stack.up();
  const all = ids();
  expect(all).toHaveLength(4);
  const managed = async (name: string) =>
    (await stack.exportState()).deployment.resources?.filter(({ urn }) => urn.endsWith(`::${name}`)) ?? [];

  const stays = "is not deleted, and this resource stays in state, because the resource that should adopt the";

  // The adoptions fail in a different process from the deletions.
  await stack.writeProgram(program("b", all, "{ provider: p }").replaceAll("key-of-the-account", "mistyped-key"));
  const failed = await stack.run(["up", "--yes", "--skip-preview", "--continue-on-error"]);
  expect(failed.exitCode).not.toBe(0);
  for (const id of all) expect(failed.output).toContain(`${id} ${stays}`);
  expect(await managed("a")).toHaveLength(4);
  expect(ids()).toEqual(all);

  // The engine does not call the provider for new resources that are not targeted. The program says
  // that they adopt the records.
  await stack.writeProgram(program("b", all));
  const target = (name: string) => ["--target", `**::${name}`];
  const early = await stack.run(["up", "--yes", "--skip-preview", ...target("a")]);
  expect(early.exitCode).not.toBe(0);
  for (const id of all) expect(early.output).toContain(`${id} ${stays}`);
  expect(early.output).toContain("run pulumi up without --target");
  expect(await managed("a")).toHaveLength(4);
  expect(ids()).toEqual(all);

  // Under --target, the previous resources stay in state.
  const targeted = await stack.up(...target("b"));
  for (const id of all)
    expect(targeted.output).toMatch(new RegExp(`: adopted [a-z ]+ ${id}; (nothing changed|changed [^.]+)$`, "m"));
  await stack.refresh();
  // Another machine, which has not seen the adoption.
  const elsewhere = { XDG_CACHE_HOME: path.join(stack.scratch, "temp") };
  const removed = await stack.succeed(["up", "--yes", "--skip-preview"], elsewhere);
  for (const id of all)
    expect(removed.output).toMatch(new RegExp(`${id} is not deleted, because another resource in the program has`));
  expect(await managed("a")).toEqual([]);
  expect(ids()).toEqual(all);

  await stack.writeProgram(program("c", all));
  await stack.up("--refresh");
  expect([await managed("b"), (await managed("c")).length]).toEqual([[], 4]);
  const urns = (await managed("c")).flatMap(({ urn }) => ["--replace", urn]);
  await stack.up("--refresh", ...urns);
  expect(ids()).toEqual(all);
  await stack.preview("--refresh", "--expect-no-changes");

  // What is adopted is released, and what is the stack's own is deleted.
  const released = await stack.destroy();
  for (const id of all) expect(released.output).toContain(`${id} is released, not deleted`);
  expect(ids()).toEqual(all);
  await stack.up();
  await stack.writeProgram(program("c"));
  await stack.up();
  await stack.destroy();
  expect(ids()).toEqual([]);
});
