import schema from "../../plugin/schema.json";
import { createStack } from "../pulumi/harness";
import { createPluginStack, withPlugin } from "../pulumi/pluginStack";

const CANARY = "canary-5b20e9d1f7";
const NUMBER = -7310592.25;

/**
 * Wrong values of every input, as programs of every language may give them. Each kind of value is
 * wrong in some input.
 */
const SHAPES = [
  `pulumi.secret("${CANARY}")`,
  `pulumi.secret(${NUMBER})`,
  `[pulumi.secret("${CANARY}"), { part: pulumi.secret("${CANARY}") }]`,
  `{ "PA RT": pulumi.secret("${CANARY}"), HF_TOKEN: { deep: "${CANARY}" } }`,
];

const KINDS = Object.entries(schema.resources).map(([token, { inputProperties }]) => ({
  kind: token.split(":")[2] ?? "",
  inputs: Object.keys(inputProperties).filter((input) => !["adoptId", "command"].includes(input)),
}));

/**
 * All inputs of a kind with one kind of wrong value: a check reports all their problems at once.
 */
function wrongArgs(inputs: readonly string[], value: string): string {
  return `{ ${inputs.map((input) => `${input}: ${value}`).join(", ")} }`;
}

function expectRefusedInSecret({ exitCode, output }: { exitCode: number | null; output: string }, what: string): void {
  expect([what, exitCode]).not.toEqual([what, 0]);
  for (const secret of [CANARY, String(NUMBER)]) {
    const at = output.indexOf(secret);
    if (at >= 0) throw new Error(`${what} shows ${secret}: ${output.slice(Math.max(0, at - 300), at)}`);
  }
}

/** Settings that a provider refuses, with a key among them. */
const PROVIDERS = [
  `apiKey: "${CANARY}", apiKeyEnv: "A_KEY"`,
  `apiKey: pulumi.secret("${CANARY}"), apiKeyEnv: "A_KEY"`,
  `apiKey: pulumi.secret("${CANARY}"), apiKeyEnv: "A_KEY", acceptWords: ["${CANARY}"]`,
  `apiKey: { part: "${CANARY}" }, apiKeyEnv: "A_KEY"`,
];

test.each(PROVIDERS)("no refusal of a provider with { %s } shows the key", async (args) => {
  const stack = await createPluginStack(`new plugin.Provider("mine", { ${args} });`, {});
  expectRefusedInSecret(await stack.run(["preview", "--diff"]), `the plugin's provider with ${args}`);
  const dynamic = `const pulumi = require("@pulumi/pulumi");
const { ServerlessGpuProvider } = require("pulumi-serverless-gpu");
new ServerlessGpuProvider("mine", { ${args} });`;
  const { exitCode, output } = await (await createStack({ program: dynamic })).run(["preview", "--diff"]);
  // The trace of the error shows the program's own line.
  const printed = output.split(args).join("");
  expectRefusedInSecret({ exitCode, output: printed }, `the dynamic form's provider with ${args}`);
});

test("no refusal of the plugin shows a secret of any input", async () => {
  const stack = await createPluginStack("", {});
  for (const { kind, inputs } of KINDS) {
    for (const shape of SHAPES) {
      await stack.writeProgram(withPlugin(`new plugin.${kind}("one", ${wrongArgs(inputs, shape)});`));
      expectRefusedInSecret(await stack.run(["preview", "--diff"]), `${kind} with ${shape}`);
    }
  }
});

test("no refusal of the dynamic form shows a secret input, even one that a transform sets", async () => {
  const stack = await createStack({});
  for (const { kind, inputs } of KINDS) {
    for (const shape of SHAPES) {
      const args = wrongArgs(inputs, shape);
      for (const program of [
        `new ${kind}("one", ${args});`,
        `new ${kind}("one", {}, { transforms: [({ props }) => ({ props: { ...props, ...${args} }, opts: {} })] });`,
      ]) {
        const imports = `const pulumi = require("@pulumi/pulumi");\nconst { ${kind} } = require("pulumi-serverless-gpu");\n`;
        await stack.writeProgram(imports + program);
        expectRefusedInSecret(await stack.run(["preview", "--diff"]), program);
      }
    }
  }
});
