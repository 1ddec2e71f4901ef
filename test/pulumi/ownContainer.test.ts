import { type Emulator, startEmulator } from "../../emulator";
import { EVERYWHERE } from "../faults/rules/stack";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

/** It must appear in no output and in no state. */
const CANARY = "canary-of-the-container-71c4";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, templateReleaseMs: 0 });
});
beforeEach(() => {
  emulator.reset();
  emulator.seed({ templates: [{ id: "shared", name: "shared", imageName: "me/shared:1" }] });
});
afterAll(() => emulator.stop());

const envOf = (api: string) => ({ ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api, CANARY });
const writes = () => emulator.journal.operations().filter((each) => /^(save|create|update|delete)/.test(each));

const resource = (prefix: string, name: string, args: string) => `
new ${prefix}ServerlessEndpoint("${name}", { gpuIds: ["ADA_24"], ${args} });`;
const dynamic = (args: string, name = "llama") => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
${resource("", name, args)}`;

const FIRST = `imageName: "me/llama:1", env: { HF_TOKEN: process.env.CANARY, MODEL: "a", OLD: "1" }, containerDiskInGb: 50`;
const SECOND = `imageName: "me/llama:2", env: { HF_TOKEN: process.env.CANARY, MODEL: "b" }, command: { cmd: ["serve"] }, ports: ["8000/http"]`;

/** Returns the template that belongs to the only endpoint, with its variables as an object. */
function container() {
  const [endpoint, ...others] = emulator.endpoints.list();
  expect(others).toEqual([]);
  const template = emulator.templates.list().find(({ boundEndpointId }) => boundEndpointId === endpoint?.id);
  return template && { ...template, env: Object.fromEntries(template.env.map(({ key, value }) => [key, value])) };
}

async function expectUpToDate(stack: PulumiStack): Promise<void> {
  emulator.journal.clear();
  await stack.preview("--refresh", "--expect-no-changes");
  expect(writes()).toEqual([]);
}

function expectNothingLeft(): void {
  expect(emulator.endpoints.list()).toEqual([]);
  expect(emulator.templates.list().map(({ id }) => id)).toEqual(["shared"]);
}

async function expectNoCanary(stack: PulumiStack, ...outputs: { readonly output: string }[]): Promise<void> {
  expect(JSON.stringify(await stack.exportState())).not.toContain(CANARY);
  for (const { output } of outputs) expect(output).not.toContain(CANARY);
  expect(JSON.stringify(emulator.journal.requests())).not.toContain(CANARY);
}

describe.each(EVERYWHERE)("over $api, in the $form form", ({ api, form }) => {
  const program = (args: string, name = "llama") =>
    form === "plugin" ? withPlugin(resource("plugin.", name, args)) : dynamic(args, name);

  test("an endpoint without a template is created, changed, repaired, replaced and destroyed", async () => {
    const stack = form === "plugin" ? await createPluginStack("", envOf(api)) : await createStack({ env: envOf(api) });
    await stack.writeProgram(program(FIRST));
    const created = await stack.up();
    const env = { HF_TOKEN: CANARY, MODEL: "a", OLD: "1" };
    expect(container()).toMatchObject({ imageName: "me/llama:1", containerDiskInGb: 50, env });
    await expectUpToDate(stack);

    // Somebody else changes the image, and adds a variable of their own.
    const { id = "", env: before = {} } = container() ?? {};
    const theirs = Object.entries({ ...before, MODEL: "theirs", THEIRS: CANARY });
    emulator.templates.change(id, { imageName: "x/y:1", env: theirs.map(([key, value]) => ({ key, value })) });
    const repaired = await stack.up("--refresh", "--diff");
    expect(repaired.output).toMatch(/imageName\s*: "x\/y:1" => "me\/llama:1"/);
    expect(container()).toMatchObject({ imageName: "me/llama:1", env: { ...env, THEIRS: CANARY } });
    await expectUpToDate(stack);

    // A variable that the program removes is removed, and the disk returns to its default.
    await stack.writeProgram(program(SECOND));
    const changed = await stack.up("--diff");
    expect(changed.output).not.toMatch(/replaced|deleted/);
    expect(container()).toMatchObject({
      imageName: "me/llama:2",
      containerDiskInGb: 20,
      ports: "8000/http",
      dockerArgs: '{"cmd":["serve"]}',
      env: { HF_TOKEN: CANARY, MODEL: "b", THEIRS: CANARY },
    });
    await expectUpToDate(stack);

    // CPUs need another endpoint, which gets the same container.
    const first = emulator.endpoints.list()[0]?.id;
    await stack.writeProgram(program(`${SECOND}, instanceIds: ["cpu3g-4-16"]`).replace(`gpuIds: ["ADA_24"], `, ""));
    const replaced = await stack.up();
    expect(emulator.endpoints.list().map((each) => each.id)).not.toContain(first);
    expect(container()).toMatchObject({ imageName: "me/llama:2", env: { HF_TOKEN: CANARY, MODEL: "b" } });
    await expectUpToDate(stack);
    await expectNoCanary(stack, created, repaired, changed, replaced);
    await stack.destroy();
    expectNothingLeft();
  });
});

test("a preview refuses settings that the service does not support, and names the supported ones", async () => {
  const stack = await createStack({ program: dynamic(FIRST), env: envOf("graphql") });
  const refusal = async (program: string, env: Readonly<Record<string, string>> = {}) => {
    await stack.writeProgram(program);
    const { exitCode, output } = await stack.run(["preview"], env);
    expect(exitCode).not.toBe(0);
    return output;
  };
  const unnamed = await refusal(dynamic(FIRST), { SERVERLESS_GPU_SERVICE: "" });
  expect(unnamed).toContain("imageName: is supported only by the service runpod, and over REST v2");
  const both = await refusal(dynamic(`${FIRST}, templateId: "shared"`));
  expect(both).toContain("cannot be combined with templateId");
  expect(await refusal(dynamic(""))).toContain("is required (or imageName");
  const { id } = emulator.endpoints.create({ name: "theirs", gpuIds: "ADA_24", templateId: "shared" });
  expect(await refusal(dynamic(`${FIRST}, adoptId: "${id}"`))).toContain("has a template that does not belong to it");
  emulator.endpoints.delete(id);
  expect(writes()).toEqual([]);

  await stack.writeProgram(dynamic(FIRST));
  await stack.up();
  expect(await refusal(dynamic(`templateId: "shared"`))).toContain("cannot replace imageName over GraphQL");
  // REST v2 can do it, in both directions.
  const v2 = { SERVERLESS_GPU_API: "v2" };
  expect((await stack.run(["up", "--yes", "--skip-preview"], v2)).exitCode).toBe(0);
  expect((await stack.run(["preview", "--refresh", "--expect-no-changes"], v2)).exitCode).toBe(0);
  const state = JSON.stringify(await stack.exportState());
  expect(state).not.toContain("me/llama:1");
  expect(await refusal(dynamic(FIRST))).toContain("cannot replace templateId over GraphQL");
  expect((await stack.run(["up", "--yes", "--skip-preview"], v2)).exitCode).toBe(0);
  expect((await stack.run(["preview", "--refresh", "--expect-no-changes"], v2)).exitCode).toBe(0);
  await stack.run(["destroy", "--yes", "--skip-preview"], v2);
  expect(emulator.endpoints.list()).toEqual([]);
});
