import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { COMPILE_CACHE } from "../support/compiledCode";
import { killProcessesIn, processesIn, type RunningProcess } from "./processes";

const REPOSITORY = path.resolve(__dirname, "../..");
/**
 * Folder for the tests' files. It is ignored by git, and inside the repository so that programs
 * find the package and `@pulumi/pulumi`.
 */
export const SCRATCH = path.join(REPOSITORY, ".scratch");

export interface StackOptions {
  /**
   * Source of the program: `index.js`, or `index.ts` where `typescript` is set.
   * @default an empty program
   */
  readonly program?: string;
  /**
   * A folder with a complete Pulumi program, such as `examples/quickstart`, which is copied.
   * Replaces `program`.
   */
  readonly folder?: string;
  /**
   * Runs `program` as TypeScript.
   * @default false, which saves about two seconds each time
   */
  readonly typescript?: boolean;
  /**
   * Parent of the scratch folder.
   * @default a folder in the repository, in which programs find the built package
   */
  readonly parent?: string;
  /**
   * Environment of every command, in addition to PATH, the cache of compiled code and the variables
   * that the engine needs. Nothing else is inherited.
   */
  readonly env?: Readonly<Record<string, string>>;
}

/** The result of a command. */
export interface CommandResult {
  /** Null where a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in the order in which they were printed. */
  readonly output: string;
}

/** A resource as the state holds it. */
export interface StateResource {
  readonly urn: string;
  readonly type: string;
  readonly id?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export interface State {
  readonly version: number;
  readonly deployment: { readonly resources?: StateResource[]; readonly pending_operations?: unknown[] };
}

/** The type of endpoints in state, pinned here: it is permanent. */
const ENDPOINT_TYPE = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";

/** The endpoints that a state holds. */
export function endpointsIn({ deployment }: State): StateResource[] {
  return (deployment.resources ?? []).filter(({ type }) => type === ENDPOINT_TYPE);
}

const stacks = new Set<PulumiStack>();

jest.setTimeout(600_000);
afterAll(async () => {
  await Promise.all([...stacks].map((stack) => stack.dispose()));
});

/**
 * Creates a project and its stack `dev` in a new scratch folder, with its own Pulumi home and
 * state. Stacks of several tests can run at once. After a test file, the stacks that it left are
 * removed.
 */
export async function createStack(options: StackOptions = {}): Promise<PulumiStack> {
  const engine = await ensurePulumi({ log: () => {} });
  const parent = options.parent ?? SCRATCH;
  await mkdir(parent, { recursive: true });
  const scratch = await mkdtemp(path.join(parent, "stack-"));
  const stack = new PulumiStack(scratch, engine.binDir, { ...(options.parent ? {} : COMPILE_CACHE), ...options.env });
  stacks.add(stack);
  await Promise.all(["home", "state", "temp", "program"].map((folder) => mkdir(path.join(scratch, folder))));
  if (options.folder) {
    const filter = (source: string) => path.basename(source) !== "node_modules";
    await cp(path.resolve(REPOSITORY, options.folder), stack.folder, { recursive: true, filter });
  } else {
    await writeProject(stack, options);
  }
  if (options.folder || options.parent) await stack.succeed(["stack", "init", "dev"]);
  else await copyEmptyStack(stack, path.join(SCRATCH, `empty-stack-${engine.version}`));
  return stack;
}

/** The files that `pulumi stack init` writes, except the one that names the selected stack. */
const OF_EMPTY_STACK = ["state", "program/Pulumi.dev.yaml"];

/**
 * Creates the stack `dev` by copying the files that `pulumi stack init dev` once wrote for the
 * project `test`.
 */
async function copyEmptyStack(stack: PulumiStack, copy: string): Promise<void> {
  if (!existsSync(copy)) {
    await stack.succeed(["stack", "init", "dev"]);
    const unfinished = await mkdtemp(`${copy}-`);
    for (const name of OF_EMPTY_STACK) {
      await cp(path.join(stack.scratch, name), path.join(unfinished, name), { recursive: true });
    }
    // Fails if another test file was faster.
    await rename(unfinished, copy).catch(() => rm(unfinished, { recursive: true }));
    return;
  }
  for (const name of OF_EMPTY_STACK) {
    await cp(path.join(copy, name), path.join(stack.scratch, name), { recursive: true });
  }
  const project = createHash("sha1").update(path.join(stack.folder, "Pulumi.yaml")).digest("hex");
  const workspaces = path.join(stack.scratch, "home/workspaces");
  await mkdir(workspaces);
  const selected = JSON.stringify({ stack: "organization/test/dev" });
  await writeFile(path.join(workspaces, `test-${project}-workspace.json`), selected);
}

async function writeProject(stack: PulumiStack, { program = "", typescript = false }: StackOptions) {
  await stack.writeFile(
    "Pulumi.yaml",
    `name: test\nruntime:\n  name: nodejs\n  options:\n    typescript: ${typescript}\n`,
  );
  await stack.writeFile("package.json", JSON.stringify({ name: "test", private: true }));
  await stack.writeFile(typescript ? "index.ts" : "index.js", program);
}

/** A Pulumi project in a scratch folder, and its stack. */
export class PulumiStack {
  /** The program's folder. */
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(
    readonly scratch: string,
    binDir: string,
    env: Readonly<Record<string, string>>,
  ) {
    this.folder = path.join(scratch, "program");
    this.#env = {
      PATH: binDir + path.delimiter + process.env.PATH,
      HOME: path.join(scratch, "home"),
      TMPDIR: path.join(scratch, "temp"),
      PULUMI_HOME: path.join(scratch, "home"),
      PULUMI_BACKEND_URL: `file://${path.join(scratch, "state")}`,
      PULUMI_CONFIG_PASSPHRASE: "test",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      ...env,
    };
  }

  /**
   * Runs `pulumi` with these arguments, whatever the exit code. `env` is added for this command
   * alone.
   */
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    return this.exec("pulumi", [...args, "--non-interactive", "--color", "never"], { env });
  }

  /**
   * Runs any command in the stack's environment, in the program's folder unless `cwd` says
   * otherwise.
   */
  exec(
    file: string,
    args: readonly string[],
    { env = {}, cwd = this.folder }: { env?: Readonly<Record<string, string>>; cwd?: string } = {},
  ): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const child = spawn(file, args, { cwd, env: { ...this.#env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
      const result = { stdout: "", stderr: "", output: "" };
      const collect = (stream: "stdout" | "stderr") => (chunk: string) => {
        result[stream] += chunk;
        result.output += chunk;
      };
      child.stdout.setEncoding("utf8").on("data", collect("stdout"));
      child.stderr.setEncoding("utf8").on("data", collect("stderr"));
      child.on("error", reject);
      child.on("close", (exitCode) => resolve({ exitCode, ...result }));
    });
  }

  /** Like `run`, and throws an error with all output unless the exit code is 0. */
  async succeed(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    const result = await this.run(args, env);
    if (result.exitCode !== 0) {
      throw new Error(`pulumi ${args.join(" ")} ended with exit code ${result.exitCode}:\n${result.output}`);
    }
    return result;
  }

  /** Applies the program without a preview. Throws if that fails. Use `run` for anything else. */
  up(...args: string[]): Promise<CommandResult> {
    return this.succeed(["up", "--yes", "--skip-preview", ...args]);
  }

  /** Throws when the preview fails. */
  preview(...args: string[]): Promise<CommandResult> {
    return this.succeed(["preview", ...args]);
  }

  /** Brings the service's values into the state, without a preview; throws when that fails. */
  refresh(...args: string[]): Promise<CommandResult> {
    return this.succeed(["refresh", "--yes", "--skip-preview", ...args]);
  }

  /** Deletes all resources, without a preview; throws when that fails. */
  destroy(...args: string[]): Promise<CommandResult> {
    return this.succeed(["destroy", "--yes", "--skip-preview", ...args]);
  }

  /** The outputs of the stack, secret ones in plain text. */
  async outputs(): Promise<Record<string, unknown>> {
    return JSON.parse((await this.succeed(["stack", "output", "--json", "--show-secrets"])).stdout);
  }

  /** The state as `pulumi stack export` prints it: secrets stay encrypted. */
  async exportState(): Promise<State> {
    return JSON.parse((await this.succeed(["stack", "export"])).stdout);
  }

  /** Replaces the state. */
  async importState(state: State): Promise<void> {
    const file = path.join(this.scratch, "temp", "state.json");
    await writeFile(file, JSON.stringify(state));
    await this.succeed(["stack", "import", "--file", file]);
  }

  /** Sets config values, such as `{ "serverless-gpu:apiKey": … }`. */
  async setConfig(values: Readonly<Record<string, string>>, { secret = false } = {}): Promise<void> {
    const flag = secret ? "--secret" : "--plaintext";
    await this.succeed([
      "config",
      "set-all",
      ...Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`]),
    ]);
  }

  /** Replaces the program, which is `index.js` unless `file` says otherwise. */
  async writeProgram(source: string, file = "index.js"): Promise<void> {
    await this.writeFile(file, source);
  }

  /** Writes a file of the program's folder. */
  async writeFile(name: string, text: string): Promise<void> {
    await writeFile(path.join(this.folder, name), text);
  }

  /**
   * Returns all files of the program and the engine as one text: program, config, state with its
   * history, temporary files. Each byte is one character, so that a search finds a key in binary
   * files too.
   */
  async files(): Promise<Map<string, string>> {
    const entries = await readdir(this.scratch, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
    return new Map(
      await Promise.all(names.map(async (name) => [name, await readFile(name, "latin1")] as [string, string])),
    );
  }

  /**
   * The engine and its plugins, while a command runs or after it was killed. Known on Linux only.
   */
  processes(): Promise<RunningProcess[]> {
    return processesIn(this.scratch);
  }

  /** Ends every process that still runs in the scratch folder, and removes the folder. */
  async dispose(): Promise<void> {
    stacks.delete(this);
    await killProcessesIn(this.scratch);
    await rm(this.scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}
