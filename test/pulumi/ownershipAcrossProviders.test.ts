import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const ARGS = { gpuIds: "AMPERE_24", templateId: "template" };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "first-account-key" });
});
afterEach(() => emulator.stop());

const ids = () => emulator.endpoints.list().map(({ id }) => id);

/** A program with the explicit provider `p`, whose key may be another one for the same account. */
function program(declarations: string, { url = emulator.url, key = "first-account-key", name = "p" } = {}): string {
  return `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const urls = { graphqlUrl: "${url}", restUrl: "${url}", queueUrl: "${url}" };
const p = new ServerlessGpuProvider("${name}", { apiKey: "${key}", ...urls });
const endpoint = (name, args, options) => new ServerlessEndpoint(name, { ...${JSON.stringify(ARGS)}, ...args }, options);
${declarations}
`;
}

async function refused(stack: PulumiStack, ...args: string[]) {
  const result = await stack.run(["up", "--yes", "--skip-preview", ...args]);
  expect(result.exitCode).not.toBe(0);
  return result.output;
}

async function urnOf(stack: PulumiStack, name: string) {
  return endpointsIn(await stack.exportState()).find(({ urn }) => urn.endsWith(`::${name}`))?.urn ?? "";
}

test("an adopted endpoint survives a replacement under another provider, even if it is interrupted", async () => {
  const { id } = emulator.endpoints.create({ ...ARGS, name: "by hand" });
  const stack = await createStack({ program: program(`endpoint("a", { adoptId: "${id}" });`), env: emulator.env });
  await stack.up();
  await stack.writeProgram(program(`endpoint("a", { adoptId: "${id}" }, { provider: p });`));
  await stack.up("--replace", await urnOf(stack, "a"));
  expect(ids()).toEqual([id]);

  emulator.faults.add({ match: { operation: "myself" }, effect: { status: 400 }, times: 1 });
  await refused(stack, "--replace", await urnOf(stack, "a"));
  await stack.up();
  expect(ids()).toEqual([id]);
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeProgram(
    program(`const q = endpoint("q", {});\nendpoint("a", { adoptId: "${id}" }, { provider: p, replaceWith: [q] });`),
  );
  expect(await refused(stack)).toContain("adoptId cannot be combined with the option replaceWith");
  expect(ids()).toContain(id);
});

test("an endpoint that resources of two providers declare is refused, and kept when one of them is removed", async () => {
  const stack = await createStack({ program: program('endpoint("a", { name: "llama" });'), env: emulator.env });
  await stack.up();
  const [id = ""] = ids();
  const other = `endpoint("b", { name: "llama", adoptId: "${id}" }, { provider: p });`;
  await stack.writeProgram(program(`endpoint("a", { name: "llama" });\n${other}`));
  expect(await refused(stack)).toContain(`two resources in this program manage endpoint ${id}`);
  await stack.writeProgram(program(other));
  // The two providers see each other even if the user's cache cannot be written.
  const { output } = await stack.succeed(["up", "--yes", "--skip-preview"], { HOME: "/dev/null/home" });
  expect(output).toContain(`endpoint ${id} is not deleted`);
  expect(ids()).toEqual([id]);
  await stack.preview("--expect-no-changes");
});

test("an endpoint that another resource declares is kept, even if the engine compares that resource last", async () => {
  await using second = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "second-account-key" });
  const { id: foreign } = second.endpoints.create({ ...ARGS, name: "by hand" });
  const stack = await createStack({ program: program('endpoint("a", {});'), env: emulator.env });
  await stack.up();
  const [id = ""] = ids();
  // The refusal of `a` comes too late for `b`, which is now in state.
  await stack.writeProgram(
    program(`const b = endpoint("b", { adoptId: "${id}" });\nendpoint("a", {}, { dependsOn: b });`),
  );
  expect(await refused(stack)).toContain(`two resources in this program manage endpoint ${id}`);

  const moved = `const b = endpoint("b", { adoptId: "${foreign}" }, { provider: p });\nendpoint("a", {}, { dependsOn: b });`;
  await stack.writeProgram(program(moved, { url: second.url, key: "second-account-key" }));
  expect((await stack.up()).output).toContain(`endpoint ${id} is released, not deleted`);
  expect(ids()).toEqual([id]);
  expect(emulator.journal.operations()).not.toContain("deleteEndpoint");
  await stack.preview("--refresh", "--expect-no-changes");
});

test("rotating a key while renaming the provider moves nothing, even after an adoption", async () => {
  const { id } = emulator.endpoints.create({ ...ARGS, name: "by hand" });
  const adopted = `endpoint("a", { adoptId: "${id}" }, { provider: p });`;
  const stack = await createStack({ program: program(adopted), env: emulator.env });
  await stack.up();
  const { port } = new URL(emulator.url);
  const endpoints = [{ ...ARGS, id, name: "by hand" }];
  await emulator.stop();
  emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    apiKey: "rotated-key",
    port: Number(port),
    seed: { endpoints },
  });
  for (const declaration of [adopted, 'endpoint("a", {}, { provider: p });']) {
    await stack.writeProgram(program(declaration, { key: "rotated-key", name: "renamed" }));
    await stack.up();
    expect(ids()).toEqual([id]);
  }
  await stack.preview("--refresh", "--expect-no-changes");
});

test("another account is detected before anything is created there, and a preview without a key warns about a move", async () => {
  await using second = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "second-account-key" });
  const stack = await createStack({ program: program('endpoint("a", {});'), env: emulator.env });
  await stack.up();
  await stack.writeProgram(program('endpoint("a", {});\nendpoint("b", {});'));
  // The preview inside up is what comes before a create: without it, the engine creates `b` while
  // it compares `a`.
  const lost = await stack.run(["up", "--yes"], second.env);
  expect(lost.exitCode).not.toBe(0);
  expect(lost.output).toContain("is not in this account");
  expect(second.endpoints.list()).toEqual([]);

  // The replacement's name is taken there, but the endpoint's name is not.
  const stolen = await createStack({ program: program('endpoint("z", { templateId: "theirs" });'), env: second.env });
  await stolen.up();
  const renamed = 'endpoint("z", { templateId: "theirs" }, { aliases: [{ name: "a" }], provider: p });';
  await stack.writeProgram(program(renamed, { url: second.url, key: "second-account-key" }));
  expect(await refused(stack)).toContain("cannot move to this account: an endpoint with its name already exists");
  expect(ids()).toHaveLength(1);

  const unknown = program('endpoint("a", { templateId: "theirs" }, { provider: p });', { url: second.url }).replace(
    'apiKey: "first-account-key"',
    'apiKeyEnv: "SECOND_KEY"',
  );
  await stack.writeProgram(unknown);
  expect((await stack.preview()).output).toMatch(/warning: endpoint \w+ now has another provider/);
});

test("an automatic name stays automatic under ignoreChanges", async () => {
  const declare = (options: string) => program(`endpoint("z", {}, { aliases: [{ name: "a" }]${options} });`);
  const stack = await createStack({ program: program('endpoint("a", {});'), env: emulator.env });
  await stack.up();
  const [{ id, name } = { id: "", name: "" }] = emulator.endpoints.list();
  await stack.writeProgram(declare(', ignoreChanges: ["name"]'));
  await stack.up();
  await stack.writeProgram(declare(""));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id, name }]);
});
