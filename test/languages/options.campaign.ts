import { setTimeout as sleep } from "node:timers/promises";
import { startEmulator } from "../../emulator";
import { createPluginStack, withPlugin } from "../pulumi/pluginStack";

test("an image becomes an endpoint: values that are not known yet, secrets, a rollout and a smoke test", async () => {
  await using emulator = await startEmulator({
    profile: "contract",
    drainMs: 0,
    coldStartMs: 0,
    handlers: { default: async () => ({ text: "4" }) },
  });
  const program = (model: string) => `
const ghcr = new plugin.ContainerRegistryAuth("ghcr", { username: "the-user", password: "the-password" });
const template = new plugin.ServerlessTemplate("llama", {
  imageName: "ghcr.io/me/llama:1.4.0",
  env: { MODEL: "${model}", HF_TOKEN: "plain-token", PRIVATE: pulumi.secret("private-value") },
  command: { cmd: ["serve"] },
  containerRegistryAuthId: ghcr.id,
});
const endpoint = new plugin.ServerlessEndpoint("llama", {
  gpuIds: ["ADA_24"], templateId: template.id, templateRevision: template.revision, workersMin: 1, awaitReady: true,
}, { customTimeouts: { create: "30s", delete: "1m" } });
const test = new plugin.SmokeTest("llama", {
  endpointId: endpoint.id, input: { prompt: "2 + 2 =" }, expectedOutput: { text: "4" }, triggers: [template.revision],
});
exports.status = test.status;
exports.env = template.env;
`;
  const stack = await createPluginStack(program("llama"), emulator.env);
  const first = await stack.preview("--diff");
  expect(first.output).toMatch(/templateId +: \[unknown\]/);
  expect(emulator.journal.requests()).toEqual([]);
  await stack.up();
  expect(await stack.outputs()).toMatchObject({
    status: "COMPLETED",
    env: { MODEL: "llama", HF_TOKEN: "plain-token" },
  });
  await stack.preview("--expect-no-changes");
  const files = [...(await stack.files())].filter(([name]) => !name.endsWith("index.js"));
  for (const [, text] of files) expect(text).not.toMatch(/the-password|plain-token|private-value/);
  expect(JSON.stringify(await stack.exportState())).not.toMatch(/awaitReadyTimeout|drainTimeout/);

  await stack.writeProgram(withPlugin(program("mistral")));
  const changed = await stack.preview("--diff");
  expect(changed.output).toMatch(/MODEL *: "llama" => "mistral"/);
  expect(changed.output).toMatch(/templateRevision *: 1 => \[unknown\]/);
  expect(changed.output).not.toMatch(/the-password|plain-token|private-value/);
  const { output } = await stack.up();
  expect(output).toContain("its templateRevision has changed");
  expect(emulator.templates.list()).toMatchObject([{ imageName: "ghcr.io/me/llama:1.4.0" }]);
  await stack.destroy();
  expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
});

test("an explicit provider changes its form, has its own account, and moving a resource deletes it from the old one", async () => {
  await using first = await startEmulator({ profile: "contract", apiKey: "first-account-key", drainMs: 0 });
  await using second = await startEmulator({ profile: "contract", apiKey: "second-account-key", drainMs: 0 });
  const urls = (url: string) => JSON.stringify({ graphqlUrl: url, restUrl: url, queueUrl: url }).slice(1, -1);
  const dynamic = `
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
const one = new ServerlessGpuProvider("one", { apiKeyEnv: "FIRST_KEY", ${urls(first.url)} });
new ServerlessEndpoint("moved", { name: "moved", gpuIds: "AMPERE_16", templateId: "template" }, { provider: one });
`;
  const program = (provider: string, templateId = "template") => `
const one = new plugin.Provider("one", { apiKeyEnv: "FIRST_KEY", ${urls(first.url)} });
const two = new plugin.Provider("two", { apiKey: "second-account-key", ${urls(second.url)} });
const args = { name: "moved", gpuIds: ["AMPERE_16"], templateId: "${templateId}" };
const aliases = [{ type: "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint" }];
const moved = new plugin.ServerlessEndpoint("moved", args, { provider: ${provider}, aliases });
exports.queueUrl = moved.queueUrl;
exports.count = pulumi.output(pulumi.runtime.invoke("serverless-gpu:index:getEndpoints", {}, { provider: one }))
  .apply(({ endpoints }) => endpoints.length);
`;
  // The key and the URL in the environment belong to another account and must not be used.
  const env = {
    FIRST_KEY: "first-account-key",
    SERVERLESS_GPU_API_KEY: "wrong",
    SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9",
  };
  const stack = await createPluginStack("", env);
  await stack.writeProgram(dynamic);
  await stack.up();
  const [before] = first.endpoints.list();
  await stack.writeProgram(withPlugin(program("one")));
  await stack.up();
  expect(first.endpoints.list()).toMatchObject([{ id: before?.id }]);
  expect(first.journal.requests({ operation: "saveEndpoint" })).toHaveLength(1);
  expect(await stack.outputs()).toEqual({ queueUrl: expect.stringContaining(first.url), count: 1 });
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeProgram(withPlugin(program("two", "template of the second account")));
  await stack.up();
  expect([first.endpoints.list(), second.endpoints.list()]).toMatchObject([[], [{ name: "moved" }]]);
  expect(JSON.stringify(await stack.exportState())).not.toMatch(/(first|second)-account-key/);
  await stack.destroy();
  expect(second.endpoints.list()).toEqual([]);
});

test("Ctrl-C ends a drain and restores the workers, and state keeps the endpoint, whose name comes from pulumi:autonaming", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 45_000 });
  const program = `new plugin.ServerlessEndpoint("one", { gpuIds: ["ADA_24"], templateId: "a", workersMin: 1 });`;
  const verbatim = "config:\n  pulumi:autonaming:\n    value:\n      mode: verbatim\n";
  const stack = await createPluginStack(program, emulator.env, verbatim);
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ name: "one" }]);
  const ended = stack.run(["destroy", "--yes", "--skip-preview"]);
  while (emulator.endpoints.list()[0]?.workersMin !== 0) await sleep(50);
  const [engine] = (await stack.processes()).filter(({ command }) => /(^|\/)pulumi destroy /.test(command));
  const before = performance.now();
  process.kill(engine?.pid ?? 0, "SIGINT");
  const { exitCode, output } = await ended;
  expect(exitCode).not.toBe(0);
  expect(output).toContain("the run was cancelled before this operation completed");
  expect(performance.now() - before).toBeLessThan(15_000);
  expect(output).toContain("is in service and billed again");
  expect(emulator.endpoints.list()).toMatchObject([{ workersMin: 1, workersMax: 3 }]);
  const types = ((await stack.exportState()).deployment.resources ?? []).map(({ type }) => type);
  expect(types).toContain("serverless-gpu:index:ServerlessEndpoint");
});

test("an endpoint that a plugin resource adopts from a dynamic one is not deleted with the dynamic one", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const stack = await createPluginStack("", emulator.env);
  await stack.writeProgram(`
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("a", { name: "llama", gpuIds: "ADA_24", templateId: "template" });`);
  await stack.up();
  const id = emulator.endpoints.list()[0]?.id;
  const adopting = (name: string, templateId = "template") =>
    `new plugin.ServerlessEndpoint("${name}", { adoptId: "${id}", gpuIds: ["ADA_24"], templateId: "${templateId}" }`;
  await stack.writeProgram(withPlugin(`${adopting("b")});`));
  expect((await stack.up()).output).toContain(`endpoint ${id} is not deleted`);
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  await stack.writeProgram(withPlugin(`${adopting("b")});\n${adopting("c")});`));
  const twice = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(twice.output).toContain(`two resources in this program manage endpoint ${id}`);
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);

  // Without adoptId, a replacement deletes the endpoint before it makes the next one.
  const own = (templateId: string) =>
    `new plugin.ServerlessEndpoint("b", { name: "llama", gpuIds: ["ADA_24"], templateId: "${templateId}" }, { replaceOnChanges: ["templateId"] });`;
  await stack.writeProgram(withPlugin(own("template")));
  await stack.up();
  await stack.writeProgram(withPlugin(own("another")));
  expect((await stack.up()).output).toMatch(/replaced/);
  expect(emulator.endpoints.list()).toMatchObject([{ name: "llama", templateId: "another" }]);
  expect(emulator.endpoints.list()[0]?.id).not.toBe(id);
  await stack.destroy();
});
