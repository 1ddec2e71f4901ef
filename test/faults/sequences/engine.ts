import { readdir, readlink } from "node:fs/promises";
import path from "node:path";
import type { JournalEntry } from "../../../emulator";
import type { ManagementApi } from "../../../sdk";
import { type CommandResult, createStack, type PulumiStack } from "../../pulumi/harness";
import { createPluginStack } from "../../pulumi/pluginStack";
import type { Command, ConsoleEdit, Disturbance, Manner } from "./actions";
import { edit } from "./console";
import { INLINE_FILE, inlineProgramText, MODEL_FILE, programText } from "./program";
import { type AccountName, KEYS } from "./service";
import type { Machine, World } from "./world";

async function createMachineStack({ service: { url }, setup }: World): Promise<PulumiStack> {
  const env = {
    SERVERLESS_GPU_GRAPHQL_URL: url,
    SERVERLESS_GPU_REST_URL: url,
    SERVERLESS_GPU_QUEUE_URL: url,
    KEY_OF_PB: KEYS.b1,
    KEY_OF_PX: "a-mistyped-key",
    // Shows the options of saved plans.
    PULUMI_EXPERIMENTAL: "true",
    ...(setup.observed && { SERVERLESS_GPU_SERVICE: "runpod" }),
  };
  const stack = setup.isPlugin ? await createPluginStack("", env) : await createStack({ env });
  await stack.writeProgram(programText(setup.isPlugin));
  await stack.writeFile(INLINE_FILE, inlineProgramText(setup.isPlugin));
  if (setup.namespace) await stack.setConfig({ "serverless-gpu:namespace": "sequences" });
  return stack;
}

/** The result of a run of the engine. */
export interface Run extends CommandResult {
  readonly command: Command;
  readonly flags: readonly string[];
  readonly seconds: number;
  /** `true` if the engine was killed, or a response was lost. */
  readonly wasDisturbed: boolean;
  /** `true` if the service refused a request for a reason of its own. */
  readonly wasRefused: boolean;
  /** Requests at each account, in order. */
  readonly requests: Readonly<Record<AccountName, readonly JournalEntry[]>>;
  readonly api: ManagementApi;
  /** The cache folder that it used. */
  readonly cache: string;
  /** What somebody edited in the console meanwhile. */
  readonly edited:
    | { readonly id: string; readonly operation: string | undefined; readonly edit: ConsoleEdit }
    | undefined;
  /** `true` if a process ran on long after its engine was killed. */
  readonly leftProcesses: boolean;
}

/** How a command is run. */
export interface RunOptions extends Pick<Manner, "planned" | "inline" | "api" | "elsewhere"> {
  readonly flags?: readonly string[];
  readonly disturb?: Disturbance | undefined;
  /** The id of the endpoint that the disturbance edits. */
  readonly editedId?: string | undefined;
}

const ARGUMENTS: Readonly<Record<Command, readonly string[]>> = {
  up: ["up", "--yes", "--skip-preview"],
  "up --refresh": ["up", "--yes", "--skip-preview", "--refresh"],
  preview: ["preview"],
  refresh: ["refresh", "--yes", "--skip-preview"],
  destroy: ["destroy", "--yes", "--skip-preview"],
};

const PLAN_FILE = "plan.json";

/** Runs the engine on a machine, with its current program and key. */
export async function run(world: World, machine: Machine, command: Command, options: RunOptions = {}): Promise<Run> {
  const { flags = [], disturb, editedId, api = "graphql", elsewhere } = options;
  machine.stack ??= await createMachineStack(world);
  const { service } = world;
  const { stack, program, key } = machine;
  machine.keys.add(key);
  for (const { args } of program.resources) if (args.adoptId) machine.adopted.add(args.adoptId);
  await stack.writeFile(MODEL_FILE, JSON.stringify(program));
  for (const { journal } of Object.values(service.accounts)) journal.clear();
  let wasHeld = false;
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const onHeld = async () => {
    wasHeld = true;
    if (disturb?.edit && editedId) return edit(world, editedId, disturb.edit);
    if (disturb?.kind !== "kill") return;
    await killEngine(stack);
    await released;
  };
  const { kind } = disturb ?? {};
  service.setTrap(
    disturb && { when: "after", ...disturb, refuses: kind === "refuse", goesOn: kind === "edit", onHeld },
  );
  const begun = performance.now();
  const keyOfA = key === "b1" ? KEYS.a1 : KEYS[key];
  const cache = path.join(stack.scratch, elsewhere ? "home/.other-cache" : "home/.cache");
  const env = {
    SERVERLESS_GPU_API_KEY: KEYS[key],
    KEY_OF_PA: keyOfA,
    SERVERLESS_GPU_API: api,
    XDG_CACHE_HOME: cache,
  };
  const result = await runEngine(stack, command, options, env);
  service.setTrap(undefined);
  const wasKilled = wasHeld && kind === "kill";
  const leftProcesses = wasKilled && !(await allEnd(stack));
  release();
  if (wasKilled) await stack.run(["cancel", "--yes"], env);
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  const requestsOf = (account: AccountName) => service.accounts[account].journal.requests().filter(isOurs);
  const requests = { A: requestsOf("A"), B: requestsOf("B") };
  const wasRefused = wasHeld && kind === "refuse";
  const wasEdited = wasHeld && kind === "edit" && disturb?.edit && editedId;
  return {
    ...result,
    command,
    flags,
    seconds,
    wasDisturbed: wasHeld && !wasRefused && kind !== "edit",
    wasRefused,
    requests,
    api,
    cache,
    edited: wasEdited ? { id: wasEdited, operation: disturb?.operation, edit: disturb.edit as ConsoleEdit } : undefined,
    leftProcesses,
  };
}

/** Returns `false` for a request of the console. */
const isOurs = ({ arguments: { console } }: JournalEntry) => console === undefined;

async function runEngine(
  stack: PulumiStack,
  command: Command,
  { flags = [], planned, inline }: RunOptions,
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  if (inline && command.startsWith("up")) {
    return stack.exec("node", [INLINE_FILE, "up", JSON.stringify({ refresh: command === "up --refresh" })], { env });
  }
  if (!planned || command !== "up") return stack.run([...ARGUMENTS[command], ...flags], env);
  const forPreview = flags.filter((flag) => flag !== "--continue-on-error");
  const preview = await stack.run(["preview", "--save-plan", PLAN_FILE, ...forPreview], env);
  if (preview.exitCode !== 0) return preview;
  return stack.run([...ARGUMENTS.up, "--plan", PLAN_FILE, ...flags], env);
}

async function killEngine(stack: PulumiStack): Promise<void> {
  for (const { pid, command } of await stack.processes()) {
    if (!/(^|\/)pulumi (up|preview|refresh|destroy) /.test(command)) continue;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
    }
  }
}

/**
 * Returns `true` if all processes of the stack end on their own. Pulumi's own host of dynamic
 * providers does not if the engine is killed before it has used it: none of our code is in it, and
 * it only listens.
 */
async function allEnd(stack: PulumiStack): Promise<boolean> {
  for (const giveUpAt = performance.now() + 60_000; performance.now() < giveUpAt; ) {
    if ((await stack.processes()).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const left = await stack.processes();
  const isUnused = await Promise.all(left.map(async ({ pid }) => (await socketsOf(pid)) <= 1));
  return isUnused.every((each) => each);
}

/** Returns the number of sockets that a process has open. */
async function socketsOf(pid: number): Promise<number> {
  const files = await readdir(`/proc/${pid}/fd`).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => "")));
  return targets.filter((target) => target.startsWith("socket:")).length;
}
