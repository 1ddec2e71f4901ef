import { type Emulator, startEmulator } from "../../emulator";
import { createClient } from "../../sdk/client/client";
import { apisOr } from "../faults/rules/stack";
import { createStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

/** It must appear in no output and in no state. */
const CANARY = "canary-of-the-container-9b21";
const TYPE = "serverless-gpu:index:ServerlessEndpoint";

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, templateReleaseMs: 0 });
});
beforeEach(() => emulator.reset());
afterAll(() => emulator.stop());

const envOf = (api: string) => ({ ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api });
const writes = () => emulator.journal.operations().filter((each) => /^(save|create|update|delete)/.test(each));

/** Creates an endpoint with its own container, as somebody else would. Returns its id. */
async function theirs(): Promise<string> {
  await using client = createClient({
    service: "runpod",
    graphqlUrl: emulator.url,
    queueUrl: emulator.url,
    apiKey: emulator.apiKey,
  });
  const env = { HF_TOKEN: CANARY, THEIRS: CANARY };
  const container = { imageName: "me/llama:1", env, containerDiskInGb: 50 };
  const { id } = await client.endpoints.create({ name: "theirs", gpuIds: ["ADA_24"], ...container });
  emulator.journal.clear();
  return id;
}

function container() {
  const [endpoint] = emulator.endpoints.list();
  const template = emulator.templates.list().find(({ boundEndpointId }) => boundEndpointId === endpoint?.id);
  return template && { ...template, env: Object.fromEntries(template.env.map(({ key, value }) => [key, value])) };
}

test.each(
  apisOr("graphql"),
)("over %s, get returns an endpoint with its own container, without the values of its variables", async (api) => {
  const id = await theirs();
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const { templateId, imageName, env } = ServerlessEndpoint.get("theirs", "${id}");
module.exports = { templateId, imageName, env };`;
  const stack = await createStack({ program, env: envOf(api) });
  const up = await stack.up();
  // Over GraphQL, its template is one that a program can declare as well.
  const template = { templateId: container()?.id };
  expect(await stack.outputs()).toEqual(api === "v2" ? { templateId: "", imageName: "me/llama:1" } : template);
  const refreshed = await stack.up("--refresh");
  await stack.destroy();
  expect(writes()).toEqual([]);
  for (const shown of [up.output, refreshed.output, JSON.stringify(await stack.exportState())])
    expect(shown).not.toContain(CANARY);
});

test.each(
  apisOr("v2"),
)("over %s, an imported endpoint is declared in the form that the API returns, and destroyed completely", async (api) => {
  const id = await theirs();
  const stack = await createPluginStack("", envOf(api));
  await stack.succeed(["import", TYPE, "one", id, "--yes", "--generate-code=false", "--skip-preview"]);
  const declare = (args: string) =>
    stack.writeProgram(
      withPlugin(`new plugin.ServerlessEndpoint("one", { name: "theirs", gpuIds: ["ADA_24"], ${args} });`),
    );
  const own = `imageName: "me/llama:1", containerDiskInGb: 50`;
  await stack.succeed(["state", "unprotect", "--all", "--yes"]);
  await declare(api === "v2" ? own : `templateId: "${container()?.id}"`);
  await stack.preview("--refresh", "--expect-no-changes");
  expect(writes()).toEqual([]);
  await declare(`${own.replace(":1", ":2")}, env: { HF_TOKEN: "${CANARY}", MODE: "fast" }`);
  if (api === "v2") {
    await stack.up();
    const env = { HF_TOKEN: CANARY, THEIRS: CANARY, MODE: "fast" };
    expect(container()).toMatchObject({ imageName: "me/llama:2", env, containerDiskInGb: 50 });
    await stack.preview("--refresh", "--expect-no-changes");
  } else {
    const { exitCode, output } = await stack.run(["preview"]);
    expect(exitCode).not.toBe(0);
    expect(output).toContain("cannot replace templateId over GraphQL");
  }
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  expect(JSON.stringify(await stack.exportState())).not.toContain(CANARY);
  await stack.destroy();
  expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
});

test("over REST v2, an endpoint with its own container is adopted, changed and destroyed, and other people's variables are kept", async () => {
  const id = await theirs();
  const program = (args: string) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("llama", { gpuIds: ["ADA_24"], imageName: "me/llama:2", env: { MODE: "fast" }, ${args} });`;
  const stack = await createStack({ program: program(`adoptId: "${id}"`), env: envOf("v2") });
  const preview = await stack.preview();
  expect(preview.output).toMatch(/imageName: "?me\/llama:1"? → "?me\/llama:2/);
  const up = await stack.up();
  const env = { HF_TOKEN: CANARY, THEIRS: CANARY, MODE: "fast" };
  expect(container()).toMatchObject({ imageName: "me/llama:2", env });
  await stack.preview("--refresh", "--expect-no-changes");
  await stack.writeProgram(program(""));
  await stack.up();
  await stack.preview("--refresh", "--expect-no-changes");
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  for (const shown of [preview.output, up.output, JSON.stringify(await stack.exportState())])
    expect(shown).not.toContain(CANARY);
  await stack.destroy();
  expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
});
