import { withPlugin } from "../../pulumi/pluginStack";
import type { Image } from "./actions";

/**
 * An explicit provider of the program: `pa` for account A, `pb` for account B, `px` with a key that
 * nobody has.
 */
export type ProviderName = "pa" | "pb" | "px";

/** A resource as the program declares it. */
export interface Declared {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly provider?: ProviderName;
  /** The arguments, except for the two that all resources have in common. */
  readonly args: {
    readonly name?: string;
    readonly adoptId?: string;
    readonly workersMin?: number;
    readonly workersMax?: number;
    readonly idleTimeout?: number;
    readonly drainTimeout?: number;
    readonly imageName?: string;
    readonly rollOut?: object;
  };
}

/** The declarations of a program. */
export interface Program {
  readonly resources: readonly Declared[];
  /** `true` if a stack transformation makes replacements create first. */
  readonly createsFirst?: boolean;
}

/** The name of one of our images. */
export const imageNamed = (image: Image) => `me/app-${image}`;

/** What the workers of good images answer to the test. */
export const RIGHT_OUTPUT = { text: "4" };

/** Tests a release. */
export const ROLL_OUT = {
  test: { input: { prompt: "2 + 2" }, expectedOutput: RIGHT_OUTPUT, timeout: 20 },
  timeout: 60,
};

/** The file from which the program reads its declarations. */
export const MODEL_FILE = "model.json";

const DYNAMIC = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, ServerlessGpuProvider } = require("pulumi-serverless-gpu");
`;

const PLUGIN = withPlugin("const { ServerlessEndpoint, Provider: ServerlessGpuProvider } = plugin;");

const DECLARE = `
const { readFileSync } = require("node:fs");

function declare() {
  const { resources, createsFirst } = JSON.parse(readFileSync("${MODEL_FILE}", "utf8"));
  if (createsFirst) {
    pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, deleteBeforeReplace: false } }));
  }
  const { SERVERLESS_GPU_GRAPHQL_URL: url, SERVERLESS_GPU_SERVICE: service } = process.env;
  const providers = {};
  for (const { provider } of resources) {
    if (!provider || providers[provider]) continue;
    const urls = { graphqlUrl: url, restUrl: url, queueUrl: url, ...(service && { service }) };
    providers[provider] = new ServerlessGpuProvider(provider, { apiKeyEnv: "KEY_OF_" + provider.toUpperCase(), ...urls });
  }
  for (const { name, aliases, provider, args } of resources) {
    new ServerlessEndpoint(name, { gpuIds: "AMPERE_24", ...(args.imageName ? {} : { templateId: "template" }), ...args }, {
      ...(typeof plugin !== "undefined" && { deleteBeforeReplace: true }),
      ...(aliases && { aliases: aliases.map((alias) => ({ name: alias })) }),
      ...(provider && { provider: providers[provider] }),
    });
  }
}
`;

/**
 * The form of the resources, as a source text. The plugin needs the option `deleteBeforeReplace`
 * for `--replace`.
 */
const form = (isPlugin = false) => (isPlugin ? PLUGIN : DYNAMIC) + DECLARE;

/** Returns the Pulumi program, which is the same in all steps. */
export const programText = (isPlugin?: boolean) => `${form(isPlugin)}\ndeclare();\n`;

/** The same program inline: `node inline.js up '{"refresh":true}'`. */
export const INLINE_FILE = "inline.js";
export const inlineProgramText = (isPlugin?: boolean) => `${form(isPlugin)}
const { LocalWorkspace } = require("@pulumi/pulumi/automation");

async function main([command, options]) {
  const workDir = __dirname;
  const inline = { stackName: "organization/test/dev", projectName: "test", program: async () => declare() };
  const stack = await LocalWorkspace.createOrSelectStack(inline, { workDir });
  await stack[command]({ onOutput: (text) => process.stdout.write(text), color: "never", ...JSON.parse(options) });
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
`;
