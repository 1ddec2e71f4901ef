import path from "node:path";
import { createStack, type PulumiStack } from "./harness";

/** The beginning of a `Pulumi.yaml` that names the built plugin. */
export const PLUGIN_PROJECT = `name: test
runtime:
  name: nodejs
  options:
    typescript: false
plugins:
  providers:
    - name: serverless-gpu
      path: ${path.resolve(__dirname, "../../plugin/bin")}
`;

/** Returns a stack whose project names the built plugin. `config` is a part of `Pulumi.yaml`. */
export async function createPluginStack(
  program: string,
  env: Readonly<Record<string, string>>,
  config = "",
): Promise<PulumiStack> {
  const stack = await createStack({ env });
  await stack.writeFile("Pulumi.yaml", PLUGIN_PROJECT + config);
  await stack.writeProgram(withPlugin(program));
  return stack;
}

/**
 * Returns a program in which the classes of `plugin` are resources of the plugin, without a
 * generated SDK.
 */
export function withPlugin(program: string): string {
  return `
const pulumi = require("@pulumi/pulumi");
const outputs = ["name", "gpuIds", "locations", "queueUrl", "workersMax", "revision", "reference", "version", "env", "jobId", "status"];
const unresolved = Object.fromEntries(outputs.map((each) => [each, undefined]));
const kinds = ["ServerlessEndpoint", "ServerlessTemplate", "NetworkVolume", "ContainerRegistryAuth", "Secret", "SmokeTest"];
const plugin = {
  Provider: class extends pulumi.ProviderResource {
    constructor(name, args) { super("serverless-gpu", name, args); }
  },
};
for (const kind of kinds) {
  plugin[kind] = class extends pulumi.CustomResource {
    constructor(name, args, options) { super("serverless-gpu:index:" + kind, name, { ...unresolved, ...args }, options); }
  };
}
${program}`;
}
