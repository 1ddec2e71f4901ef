import { createStack } from "./harness";
import { createPluginStack } from "./pluginStack";

const CANARY = "canary-5b20e9d1f7";

function expectRefusedInSecret({ exitCode, output }: { exitCode: number | null; output: string }): void {
  expect(exitCode).not.toBe(0);
  expect(output).not.toContain(CANARY);
}

test("the plugin's refusal of an explicit provider shows no key", async () => {
  const provider = (args: string) => `new plugin.Provider("mine", { ${args} });`;
  const stack = await createPluginStack(provider(`apiKey: "${CANARY}", apiKeyEnv: "A_KEY"`), {});
  const both = await stack.run(["preview"]);
  expectRefusedInSecret(both);
  expect(both.output).toContain('apiKey: the provider "mine" needs either apiKey or apiKeyEnv');
});

test("the plugin's refusal of a start command in two forms shows no part of the command", async () => {
  const args = `imageName: "app:1", dockerArgs: "serve", command: { cmd: ["serve", pulumi.secret("${CANARY}")] }`;
  const stack = await createPluginStack(`new plugin.ServerlessTemplate("one", { ${args} });`, {});
  const two = await stack.run(["preview"]);
  expectRefusedInSecret(two);
  expect(two.output).toContain("command: set either command or dockerArgs");
});

test("a refusal of the dynamic form shows no value that a transform sets", async () => {
  const program = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessTemplate } = require("pulumi-serverless-gpu");
const transform = ({ props }) => ({ props: { ...props, readme: { part: pulumi.secret("${CANARY}") } }, opts: {} });
new ServerlessTemplate("one", { imageName: "app:1" }, { transforms: [transform] });`;
  const refused = await (await createStack({ program })).run(["preview"]);
  expectRefusedInSecret(refused);
  expect(refused.output).toContain("readme: ");
});
