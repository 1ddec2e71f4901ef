import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const ARGS = { name: "llama", gpuIds: "AMPERE_24", templateId: "template" };

/** A program that declares an endpoint for each logical name. */
function program(endpoints: Record<string, Record<string, unknown>>, options: Record<string, string> = {}): string {
  const declarations = Object.entries(endpoints).map(
    ([name, args]) => `new ServerlessEndpoint("${name}", ${JSON.stringify(args)}, ${options[name] ?? "{}"});`,
  );
  return ['const { ServerlessEndpoint } = require("pulumi-serverless-gpu");', ...declarations].join("\n");
}

async function refused(stack: PulumiStack, args: readonly string[] = [], env?: Record<string, string>) {
  const result = await stack.run(["up", "--yes", "--skip-preview", ...args], env);
  expect(result.exitCode).not.toBe(0);
  return result.output;
}

async function logicalNames(stack: PulumiStack) {
  return endpointsIn(await stack.exportState()).map(({ urn }) => urn.split("::").pop());
}

async function urnOf(stack: PulumiStack, name: string) {
  return endpointsIn(await stack.exportState()).find(({ urn }) => urn.endsWith(`::${name}`))?.urn ?? "";
}

describe("an endpoint that two resources name", () => {
  let emulator: Emulator;
  beforeEach(async () => {
    emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  });
  afterEach(() => emulator.stop());
  const ids = () => emulator.endpoints.list().map(({ id }) => id);

  test("an endpoint that two resources name survives a rename that follows the error's advice, and is released by replacements while adoptId is still set", async () => {
    const stack = await createStack({ program: program({ a: ARGS }), env: emulator.env });
    await stack.up();
    const [id = ""] = ids();
    await stack.writeProgram(program({ b: ARGS }));
    expect(await refused(stack)).toMatch(new RegExp(`aliases.* set adoptId to "${id}"`, "s"));
    expect(ids()).toEqual([id]);

    const adopting = program({ b: { ...ARGS, adoptId: id } });
    await stack.writeProgram(adopting);
    expect((await stack.up()).output).toContain(`warning: endpoint ${id} is not deleted`);
    expect(ids()).toEqual([id]);
    expect(await logicalNames(stack)).toEqual(["b"]);

    const replaced = await stack.up("--replace", await urnOf(stack, "b"));
    expect(replaced.output).toContain(`warning: endpoint ${id} is not deleted, because another resource`);
    expect(ids()).toEqual([id]);
    await stack.preview("--refresh", "--expect-no-changes");
    expect(JSON.stringify(await stack.preview("--diff"))).not.toContain("__stamp");

    // After a deletion elsewhere, the advice still works. An empty list would prove nothing.
    const { id: neighbour } = emulator.endpoints.create({ ...ARGS, name: "neighbour" });
    emulator.endpoints.delete(id);
    await stack.refresh();
    expect(await refused(stack)).toContain("remove adoptId from the program");
    await stack.writeProgram(program({ b: ARGS }));
    await stack.up();
    await stack.destroy();
    expect(ids()).toEqual([neighbour]);
  });

  test("an endpoint that two resources name is refused if both are declared, and kept if one of them is removed", async () => {
    const stack = await createStack({ program: program({ a: ARGS }), env: emulator.env });
    await stack.up();
    const [id = ""] = ids();
    const both = { b: { ...ARGS, adoptId: id }, c: { ...ARGS, adoptId: id } };
    await stack.writeProgram(program(both));
    expect(await refused(stack)).toContain(`the resources "b" and "c" have the same adoptId, ${id}`);

    // Ids that become known only during the run.
    const other = emulator.endpoints.create({ ...ARGS, name: "by hand" });
    const late = program({ d: ARGS, e: ARGS }).replaceAll('"name":"llama"', `adoptId: pulumi.output("${other.id}")`);
    await stack.writeProgram(`const pulumi = require("@pulumi/pulumi");\n${late}`);
    expect(await refused(stack)).toContain(`another resource also adopts ${other.id}`);
    emulator.endpoints.delete(other.id);

    await stack.writeProgram(program({ a: ARGS, b: { ...ARGS, adoptId: id } }));
    expect(await refused(stack)).toContain(`two resources in this program manage endpoint ${id}`);
    expect(ids()).toEqual([id]);

    await stack.writeProgram(program({ b: { ...ARGS, adoptId: id } }));
    await stack.up();
    expect(await logicalNames(stack)).toEqual(["b"]);
    expect(ids()).toEqual([id]);
  });

  test("an endpoint that two resources name is never adopted by its name: not after an alias is removed, from a second backend, or in a replacement", async () => {
    const args = { gpuIds: "AMPERE_24", templateId: "template" };
    const stack = await createStack({ program: program({ a: args }), env: emulator.env });
    await stack.setConfig({ "serverless-gpu:namespace": "team-a" });
    await stack.up();
    const [id = ""] = ids();
    await stack.writeProgram(program({ b: args }, { b: '{ aliases: [{ name: "a" }] }' }));
    await stack.up();
    await stack.writeProgram(program({ b: args, a: args }));
    expect(await refused(stack)).toContain("already exists");

    const laptop = { PULUMI_BACKEND_URL: `file://${path.join(stack.scratch, "temp")}` };
    await stack.succeed(["stack", "init", "dev"], laptop);
    await stack.succeed(["config", "set", "serverless-gpu:namespace", "team-a"], laptop);
    await stack.writeProgram(program({ a: args }));
    expect(await refused(stack, [], laptop)).toContain("already exists");
    await stack.succeed(["destroy", "--yes", "--skip-preview"], laptop);
    expect(ids()).toEqual([id]);

    const createFirst = `require("@pulumi/pulumi").runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, deleteBeforeReplace: false } }));\n`;
    await stack.writeProgram(createFirst + program({ b: ARGS }));
    await stack.up();
    expect(await refused(stack, ["--replace", await urnOf(stack, "b")])).toContain("already exists");
    expect(ids()).toEqual([id]);
  });
});

describe("an endpoint of another account", () => {
  let own: Emulator;
  let other: Emulator;
  beforeEach(async () => {
    own = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "own-account-key" });
    other = await startEmulator({ profile: "contract", drainMs: 0, apiKey: "other-account-key" });
  });
  afterEach(async () => {
    await own.stop();
    await other.stop();
  });

  test("an endpoint of another account stays in state after an update that makes no call, no deletion is sent, and it counts as deleted only if the user says so", async () => {
    const stack = await createStack({ program: program({ a: ARGS }), env: own.env });
    await stack.up();
    await stack.writeProgram(program({ a: { ...ARGS, drainTimeout: 60 } }));
    expect(await refused(stack, [], other.env)).toContain("is not in this account");
    // A service that does not treat the deletion of an unknown id as an error.
    other.faults.add({
      match: { operation: "deleteEndpoint" },
      effect: { status: 200, body: { data: { deleteEndpoint: null } } },
    });
    for (const command of ["refresh", "destroy"]) {
      const result = await stack.run([command, "--yes", "--skip-preview"], other.env);
      expect(result.exitCode).not.toBe(0);
      expect(result.output).toContain("is not in this account");
      expect(result.output).toContain(`It was last seen at ${own.url}`);
      expect(result.output).toContain("SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE");
    }
    expect(other.journal.requests({ operation: "deleteEndpoint" })).toEqual([]);
    expect(await logicalNames(stack)).toEqual(["a"]);
    await stack.up();
    await stack.succeed(["refresh", "--yes", "--skip-preview"], {
      ...other.env,
      SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE: "true",
    });
    expect(await logicalNames(stack)).toEqual([]);
    expect(own.endpoints.list()).toHaveLength(1);
  });

  test("an endpoint of another account is deleted in a move only after the new account was verified, and moves back with its provider", async () => {
    const urls = (url: string) => `graphqlUrl: "${url}", restUrl: "${url}", queueUrl: "${url}"`;
    const providers = (key: string) => `
const { ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const same = new ServerlessGpuProvider("same", { apiKey: "own-account-key", ${urls(own.url)} });
const target = new ServerlessGpuProvider("target", { apiKey: "${key}", ${urls(other.url)} });
`;
    const at = (provider: string, key = "other-account-key", args: Record<string, unknown> = ARGS) =>
      providers(key) + program({ a: args }, provider ? { a: `{ provider: ${provider} }` } : {});
    const stack = await createStack({ program: at(""), env: own.env });
    await stack.up();
    const [{ id } = { id: "" }] = own.endpoints.list();

    await stack.writeProgram(at("target", "mistyped-key"));
    expect(await refused(stack)).toMatch(/cannot move to this account: .*401/);
    await stack.writeProgram(at("target"));
    const unknown =
      /cannot move to this account: its templateId is from the previous account.*the new account does not show it/;
    expect(await refused(stack)).toMatch(unknown);
    other.faults.add({
      match: { operation: "podTemplate" },
      effect: { status: 401 },
    });
    expect(await refused(stack)).toMatch(/its templateId is from the previous account.*401/);
    other.faults.clear();
    other.templates.create({ id: ARGS.templateId, name: "shared", imageName: "app:1", isServerless: true });
    expect((await stack.preview()).output).toContain("moves to another account");
    other.endpoints.create({ ...ARGS, templateId: "theirs" });
    await stack.writeProgram(at("target", undefined, { ...ARGS, templateId: "theirs" }));
    expect(await refused(stack)).toMatch(/cannot move to this account: an endpoint with its name already exists/);
    expect(own.endpoints.list()).toMatchObject([{ id }]);

    // The same account under another provider: found there, recorded, and nothing written.
    await stack.writeProgram(at("same"));
    const writes = () => own.journal.requests({ operation: "saveEndpoint" }).length;
    const before = writes();
    await stack.up();
    await stack.preview("--expect-no-changes");
    expect(writes()).toBe(before);

    // Back to the default provider, which now has the key of another account: it moves once.
    await stack.writeProgram(
      providers("other-account-key") + program({ a: { ...ARGS, name: "moved", templateId: "theirs" } }),
    );
    await stack.succeed(["up", "--yes", "--skip-preview"], other.env);
    expect(own.endpoints.list()).toEqual([]);
    expect(other.endpoints.list().map(({ name }) => name)).toEqual(["llama", "moved"]);
    await stack.succeed(["preview", "--refresh", "--expect-no-changes"], other.env);
  });

  test("a new queue URL is recorded once the endpoint has been found", async () => {
    const stack = await createStack({ program: program({ a: ARGS }), env: own.env });
    await stack.up();
    const env = { SERVERLESS_GPU_QUEUE_URL: "http://127.0.0.1:9" };
    expect((await stack.run(["preview", "--expect-no-changes"], env)).exitCode).toBe(7);
    await stack.succeed(["up", "--yes", "--skip-preview"], env);
    expect(endpointsIn(await stack.exportState())[0]?.outputs?.queueUrl).toMatch(/^http:\/\/127\.0\.0\.1:9\/v2\//);
    await stack.succeed(["preview", "--expect-no-changes"], env);
  });
});
