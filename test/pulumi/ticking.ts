import { cp, rm } from "node:fs/promises";
import path from "node:path";
import type { Emulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";
import { PLUGIN_PROJECT, withPlugin } from "./pluginStack";

// A repository with pipeline.sh and a program of scheduled endpoints in both forms, and its steps
// at chosen instants.

const IDENTITY = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"];

/** An endpoint of the program: its form, and its arguments as JavaScript. */
export interface Declared {
  readonly name: string;
  readonly form: "npm" | "plugin";
  readonly args: string;
  /** The endpoint's own image, instead of a template. */
  readonly imageName?: string;
}

/** Returns the program of some endpoints. `more` is JavaScript that follows. */
export function programOf(endpoints: readonly Declared[], more = ""): string {
  const lines = endpoints.map(({ name, form, args, imageName }) => {
    const [from, gpuIds] = form === "npm" ? ["npm", '"AMPERE_24"'] : ["plugin", '["AMPERE_24"]'];
    const source = imageName === undefined ? 'templateId: "app"' : `imageName: "${imageName}"`;
    return `new ${from}.ServerlessEndpoint("${name}", { gpuIds: ${gpuIds}, ${source}, ${args} });`;
  });
  return withPlugin(`const npm = require("pulumi-serverless-gpu");\n${lines.join("\n")}\n${more}`);
}

/** Creates the repository and its stack `production`, without deploying it. */
export const createRepository = (emulator: Emulator, program: string, env: Readonly<Record<string, string>> = {}) =>
  createRepositoryOf(
    emulator,
    {
      "Pulumi.yaml": PLUGIN_PROJECT,
      "package.json": JSON.stringify({ name: "test", private: true }),
      "index.js": program,
    },
    env,
  );

/** The same with any files, for a program in another language. */
export async function createRepositoryOf(
  emulator: Emulator,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
) {
  const stack = await createStack({ folder: "examples/gitops", env: { ...emulator.env, ...env } });
  for (const name of ["index.ts", "Pulumi.dev.yaml", "package.json"]) await rm(path.join(stack.folder, name));
  for (const [name, text] of Object.entries(files)) await stack.writeFile(name, text);
  await stack.succeed(["stack", "init", "production"]);
  await git(stack, "init", "--quiet");
  await commit(stack, "Deploy");
  return stack;
}

export async function commit(stack: PulumiStack, message: string): Promise<string> {
  await git(stack, "add", ".");
  await git(stack, ...IDENTITY, "commit", "--quiet", "--message", message);
  return (await git(stack, "rev-parse", "HEAD")).trim();
}

export async function git(stack: PulumiStack, ...args: string[]): Promise<string> {
  const { exitCode, output } = await stack.exec("git", args);
  if (exitCode !== 0) throw new Error(output);
  return output;
}

let checkouts = 0;

/** Runs a step of pipeline.sh at an instant, in a new checkout as on a new runner. */
export async function stepAt(
  stack: PulumiStack,
  instant: string | number,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
) {
  checkouts += 1;
  const cwd = path.join(stack.scratch, `checkout-${checkouts}`);
  await cp(stack.folder, cwd, { recursive: true });
  const result = await stack.exec("bash", ["./pipeline.sh", ...args], {
    cwd,
    env: { STACK: "production", SERVERLESS_GPU_NOW: new Date(instant).toISOString(), ...env },
  });
  await rm(cwd, { recursive: true, force: true });
  return result;
}

/** Returns the worker counts of each endpoint at the service, by the beginning of its name. */
export function countsAt(emulator: Emulator): Record<string, readonly [number, number]> {
  const entries = emulator.endpoints.list().map(({ name, workersMin, workersMax }) => {
    return [name.replace(/-[0-9a-f]{7}$/, ""), [workersMin, workersMax] as const] as const;
  });
  return Object.fromEntries(entries);
}

/** Returns how many updates the stack has had. */
export async function updatesOf(stack: PulumiStack): Promise<number> {
  const { stdout } = await stack.run(["stack", "history", "--stack", "production", "--json"]);
  return (JSON.parse(stdout) as unknown[]).length;
}
