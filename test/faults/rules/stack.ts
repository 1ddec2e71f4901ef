import path from "node:path";
import { type CommandResult, createStack, type PulumiStack, type StateResource } from "../../pulumi/harness";
import { createPluginStack, withPlugin } from "../../pulumi/pluginStack";
import { IS_EVERYWHERE } from "../../support/everywhere";
import type { StandIn } from "./standIn";

/** The dynamic provider of the npm package, or the plugin. */
export type Form = "npm" | "plugin";
export const FORMS: readonly Form[] = ["npm", "plugin"];
export type Api = "graphql" | "v2";
export const APIS: readonly Api[] = ["graphql", "v2"];

/**
 * The combinations of form and API in which a rule is tested: each form and each API once, and with
 * `npm run test:everywhere` all of them.
 */
export const EVERYWHERE = FORMS.flatMap((form) => APIS.map((api) => ({ form, api }))).filter(
  ({ form, api }) => IS_EVERYWHERE || (form === "npm") === (api === "graphql"),
);

/** The combination with this form, and with `npm run test:everywhere` all of them. */
export const placesOr = (form: Form) => EVERYWHERE.filter((place) => IS_EVERYWHERE || place.form === form);

/** The API over which a test runs, and with `npm run test:everywhere` both. */
export const apisOr = (api: Api): readonly Api[] => (IS_EVERYWHERE ? APIS : [api]);

/**
 * The rows of a table for one of these combinations: every second, and with `npm run
 * test:everywhere` all of them.
 */
export const rowsFor = <T>({ form }: { readonly form: Form }, rows: readonly T[]): readonly T[] =>
  rows.filter((_, at) => IS_EVERYWHERE || at % FORMS.length === FORMS.indexOf(form));

export type ResourceClass =
  | "ServerlessEndpoint"
  | "ServerlessTemplate"
  | "NetworkVolume"
  | "ContainerRegistryAuth"
  | "Secret";

/** A resource as a program declares it. `{ "$id": "name" }` is the id of another resource. */
export interface Declared {
  readonly is: ResourceClass;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Options of the resource. `deletedWith` is the name of another resource. */
  readonly options?: Readonly<Record<string, unknown>>;
}

const MODEL = "model.json";

const DECLARE = `
const { readFileSync } = require("node:fs");
const made = {};
const resolve = (value) => {
  if (Array.isArray(value)) return value.map(resolve);
  if (value === null || typeof value !== "object") return value;
  if ("$id" in value) return made[value.$id].id;
  // A value that is known only some time after the program began.
  if ("$later" in value) return require("@pulumi/pulumi").output(new Promise((done) => setTimeout(() => done(value.$later), 4_000)));
  if ("$secret" in value) return require("@pulumi/pulumi").secret(value.$secret);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, resolve(each)]));
};
for (const { is, name, args, options: { deletedWith, ...options } = {} } of JSON.parse(readFileSync("${MODEL}", "utf8"))) {
  made[name] = new classes[is](name, resolve(args), { ...options, ...(deletedWith && { deletedWith: made[deletedWith] }) });
}
`;

/** A program's folder and its stack, at one service. */
export interface RulesStack {
  readonly pulumi: PulumiStack;
  readonly form: Form;
  /** Declares these resources from now on. */
  declare(resources: readonly Declared[]): Promise<void>;
  /** Runs the engine on a machine of this name, whatever the exit code. */
  run(args: readonly string[], options?: RunOptions): Promise<CommandResult>;
  /** The resources of the state, without the stack and providers. */
  state(): Promise<StateResource[]>;
}

export interface RunOptions {
  /** Each machine has its own cache. @default "one" */
  readonly machine?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Creates a stack whose program declares what `declare` last said. */
export async function createRulesStack(
  { env }: Pick<StandIn, "env">,
  { form, api }: { readonly form: Form; readonly api: Api },
): Promise<RulesStack> {
  const all = { ...env, SERVERLESS_GPU_API: api, PULUMI_EXPERIMENTAL: "true" };
  const pulumi = form === "plugin" ? await createPluginStack("", all) : await createStack({ env: all });
  const program = form === "plugin" ? "const classes = plugin;" : 'const classes = require("pulumi-serverless-gpu");';
  await pulumi.writeProgram(form === "plugin" ? withPlugin(program + DECLARE) : program + DECLARE);
  await pulumi.writeFile(MODEL, "[]");
  return {
    pulumi,
    form,
    declare: (resources) => pulumi.writeFile(MODEL, JSON.stringify(resources)),
    run: (args, { machine = "one", env: more = {} } = {}) =>
      pulumi.run(args, { XDG_CACHE_HOME: path.join(pulumi.scratch, `cache-${machine}`), ...more }),
    async state() {
      const { deployment } = await pulumi.exportState();
      return (deployment.resources ?? []).filter(({ type }) => !type.startsWith("pulumi:"));
    },
  };
}

export const UP = ["up", "--yes", "--skip-preview"] as const;
export const UP_REFRESH = [...UP, "--refresh"] as const;
export const REFRESH = ["refresh", "--yes", "--skip-preview"] as const;
export const DESTROY = ["destroy", "--yes", "--skip-preview"] as const;

const ENGINE = /(^|\/)pulumi (up|preview|refresh|destroy|import) /;
const PLUGIN = /pulumi-resource-(serverless-gpu|pulumi-nodejs)/;

/** Sends a signal to the engine, or kills the provider only. */
export async function signal(
  { pulumi }: Pick<RulesStack, "pulumi">,
  whom: "engine" | "provider",
  name: "SIGKILL" | "SIGINT",
): Promise<void> {
  for (const { pid, command } of await pulumi.processes()) {
    if (!(whom === "engine" ? ENGINE : PLUGIN).test(command)) continue;
    try {
      process.kill(pid, name);
    } catch {
      // It has ended meanwhile.
    }
  }
}
