import { startEmulator } from "../../emulator";
import { createStack } from "./harness";
import { createPluginStack } from "./pluginStack";

const CANARY = "canary-5b20e9d1f7";

function expectRefusedInSecret({ exitCode, output }: { exitCode: number | null; output: string }): void {
  expect(exitCode).not.toBe(0);
  expect(output).not.toContain(CANARY);
}

test("the plugin shows no key when it refuses an explicit provider", async () => {
  const provider = (args: string) => `new plugin.Provider("mine", { ${args} });`;
  const stack = await createPluginStack(provider(`apiKey: "${CANARY}", apiKeyEnv: "A_KEY"`), {});
  const both = await stack.run(["preview"]);
  expectRefusedInSecret(both);
  expect(both.output).toContain('the provider "mine" needs either apiKey or apiKeyEnv');
});

test("the plugin shows no part of the command when it refuses a start command in two forms", async () => {
  const args = `imageName: "app:1", dockerArgs: "serve", command: { cmd: ["serve", pulumi.secret("${CANARY}")] }`;
  const stack = await createPluginStack(`new plugin.ServerlessTemplate("one", { ${args} });`, {});
  const two = await stack.run(["preview"]);
  expectRefusedInSecret(two);
  expect(two.output).toContain("command: set either command or dockerArgs");
});

test.each([
  ["ServerlessTemplate", 'imageName: "app:1"', "readme: { part: secret }", ["readme"]],
  [
    "ServerlessEndpoint",
    'gpuIds: "ADA_24", templateId: "t"',
    "flashBootType: secret, gpuIds: secret",
    ["flashBootType", "gpuIds"],
  ],
])("a refusal of a dynamic %s shows no value that a transform sets", async (kind, args, more, fields) => {
  const program = `
const pulumi = require("@pulumi/pulumi");
const { ${kind} } = require("pulumi-serverless-gpu");
const secret = pulumi.secret("${CANARY}");
const transform = ({ props }) => ({ props: { ...props, ${more} }, opts: {} });
new ${kind}("one", { ${args} }, { transforms: [transform] });`;
  const refused = await (await createStack({ program })).run(["preview"]);
  expectRefusedInSecret(refused);
  for (const field of fields) expect(refused.output).toContain(`${field}: `);
});

test("a refusal shows the plain values that the program wrote, and hides only values that a transform may have set", async () => {
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const transform = ({ props }) => ({ props: { ...props, flashBootType: "SLOW" }, opts: {} });
new ServerlessEndpoint("one", { gpuIds: ["ADA_42", "ADA_24"], workersMin: 4, workersMax: 3, templateId: "t" }, { transforms: [transform] });`;
  const { output } = await (await createStack({ program })).run(["preview"]);
  expect(output).toContain('gpuIds: "ADA_42" is not a known GPU pool');
  expect(output).toContain("workersMin: is 4, more than workersMax (3)");
  expect(output).toContain('flashBootType: "[hidden: a transform may have set it]"');
  expect(output).not.toContain("[secret]");
});

test("state does not reveal whether a transform has changed the arguments, and a second up changes nothing", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const transform = ({ props }) => ({ props: { ...props, workersMax: 2 }, opts: {} });
new ServerlessEndpoint("one", { gpuIds: "ADA_24", templateId: "t" }, { transforms: [transform] });`;
  const stack = await createStack({ program, env: emulator.env });
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 2 }]);
  const { resources = [] } = (await stack.exportState()).deployment;
  expect(JSON.stringify(resources.map(({ inputs, outputs }) => [inputs, outputs]))).not.toContain("__changedLater");
  await stack.up("--refresh", "--expect-no-changes");
  await stack.destroy();
});
