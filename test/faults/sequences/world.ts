import { readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";
import type { JournalEntry } from "../../../emulator";
import { type CommandResult, createStack, type PulumiStack, type StateResource } from "../../pulumi/harness";
import type { Command, Disturbance, MachineIndex, Setup } from "./actions";
import { INLINE_FILE, INLINE_PROGRAM, MODEL_FILE, PROGRAM, type Program, type ProviderName } from "./program";
import { type AccountName, accountOf, KEYS, type KeyName, type Service, startService } from "./service";

/** An endpoint as the service has it. */
export interface Alive {
  readonly id: string;
  readonly account: AccountName;
  readonly record: Readonly<Record<string, unknown>>;
}

/** A machine with a backend of its own. All have the same project and stack names. */
export interface Machine {
  /** Undefined until its first run. */
  stack: PulumiStack | undefined;
  program: Program;
  key: KeyName;
  /** The program to return to after a refusal. */
  lastGood: { readonly program: Program; readonly key: KeyName };
  /** The last command that was refused: its program and what it said. */
  refused?: { readonly program: Program; readonly key: KeyName; readonly output: string } | undefined;
  /** `true` if the last run failed to delete something. */
  hasFailedDeletion: boolean;
  /** Every key that it ever ran with. */
  readonly keys: Set<KeyName>;
  /** Every id that its program ever named in `adoptId`. */
  readonly adopted: Set<string>;
}

/** Everything that exists, and what the checks remember of it. */
export interface World {
  readonly setup: Setup;
  readonly service: Service;
  readonly machines: readonly [Machine, Machine];
  /** Endpoints that no program has ever declared. */
  readonly foreign: readonly string[];
  /** Endpoints that a program created or adopted. */
  readonly ours: Set<string>;
  /** Endpoints that a killed run or a lost response left without a state. */
  readonly orphans: Map<string, MachineIndex>;
  /** Endpoints whose state is known to be outdated until the next refresh. */
  readonly stale: Set<string>;
  /** The values to which people and programs have set an endpoint's counts, by its id. */
  readonly given: Map<string, Given>;
  /** Endpoints that a person has switched off, which no run has reported yet. */
  readonly switchedOff: Set<string>;
  /** Former names of endpoints. A lagging list still shows them. */
  readonly formerNames: Set<string>;
  stop(): Promise<void>;
}

/** Every value to which a program or a person has set each count of an endpoint. */
export type Given = Readonly<Record<"workersMin" | "workersMax", Set<unknown>>>;

export async function createWorld(setup: Setup): Promise<World> {
  const service = await startService(setup);
  const input = { gpuIds: "AMPERE_24", templateId: "template", workersMax: 1 };
  const foreign = [
    service.accounts.A.endpoints.create({ ...input, name: "theirs" }).id,
    service.accounts.B.endpoints.create({ ...input, name: "theirs" }).id,
  ];
  for (let index = 0; index < (setup.crowd ?? 0); index++) {
    foreign.push(service.accounts.A.endpoints.create({ ...input, name: `crowd-${index}` }).id);
  }
  const machines = [createMachine(), createMachine()] as const;
  return {
    setup,
    service,
    machines,
    foreign,
    ours: new Set(),
    orphans: new Map(),
    stale: new Set(),
    given: new Map(),
    switchedOff: new Set(),
    formerNames: new Set(),
    async stop() {
      await Promise.all(machines.map(({ stack }) => stack?.dispose()));
      await service.stop();
    },
  };
}

function createMachine(): Machine {
  const program: Program = { resources: [] };
  const lastGood = { program, key: "a1" } as const;
  return {
    stack: undefined,
    program,
    key: "a1",
    lastGood,
    hasFailedDeletion: false,
    keys: new Set(),
    adopted: new Set(),
  };
}

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
  const stack = await createStack({ program: PROGRAM, env });
  await stack.writeFile(INLINE_FILE, INLINE_PROGRAM);
  if (setup.namespace) await stack.setConfig({ "serverless-gpu:namespace": "sequences" });
  return stack;
}

/** All endpoints of both accounts. */
export function aliveIn({ service }: World): Map<string, Alive> {
  const accounts: AccountName[] = ["A", "B"];
  return new Map(
    accounts.flatMap((account) =>
      service.accounts[account].endpoints
        .list()
        .map(({ pods: _, ...record }) => [record.id, { id: record.id, account, record: { ...record } }] as const),
    ),
  );
}

/** An endpoint in a state. */
export interface Entry {
  readonly name: string;
  readonly urn: string;
  readonly id: string;
  /** `true` if only its deletion is left to do. */
  readonly isDoomed: boolean;
  /**
   * `true` if a replacement has deleted it and not yet created the next. A refresh does not read it
   * (the engine's rule).
   */
  readonly isReplaced: boolean;
  readonly provider: ProviderName | undefined;
  readonly outputs: Readonly<Record<string, unknown>>;
}

export const TYPE = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";

/**
 * The endpoints in a machine's state, read from the backend's file, which is a second faster than
 * the engine's export.
 */
export async function entriesOf({ stack }: Machine): Promise<Entry[]> {
  if (!stack) return [];
  const file = path.join(stack.scratch, "state/.pulumi/stacks/test/dev.json");
  const { checkpoint } = JSON.parse(await readFile(file, "utf8"));
  const resources: StateResource[] = checkpoint.latest?.resources ?? [];
  return resources
    .filter(({ type, id }) => type === TYPE && id)
    .map(({ urn, id, outputs, delete: isDoomed, pendingReplacement, provider }) => ({
      name: urn.slice(urn.lastIndexOf("::") + 2),
      urn,
      id: id ?? "",
      isDoomed: isDoomed === true,
      isReplaced: pendingReplacement === true,
      provider: providerName(String(provider)),
      outputs: outputs ?? {},
    }));
}

const providerName = (reference: string): ProviderName | undefined => {
  const name = reference.split("::").at(-2);
  return name === "pa" || name === "pb" || name === "px" ? name : undefined;
};

/** The account that a resource of the program belongs to; `undefined` if its key is unknown. */
export function accountFor(machine: Machine, provider: ProviderName | undefined): AccountName | undefined {
  if (provider === undefined) return accountOf(machine.key);
  return ({ pa: "A", pb: "B", px: undefined } as const)[provider];
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
  /** `true` if a process ran on long after its engine was killed. */
  readonly leftProcesses: boolean;
}

/** How a command is run. */
export interface RunOptions {
  readonly flags?: readonly string[];
  readonly disturb?: Disturbance | undefined;
  /** `true` if a preview saves a plan first, which the `up` carries out. */
  readonly planned?: boolean | undefined;
  /** `true` for an inline program. */
  readonly inline?: boolean | undefined;
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
export async function run(
  world: World,
  machine: Machine,
  command: Command,
  { flags = [], disturb, planned, inline }: RunOptions = {},
): Promise<Run> {
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
    if (disturb?.kind !== "kill") return;
    await killEngine(stack);
    await released;
  };
  service.setTrap(disturb && { when: "after", ...disturb, refuses: disturb.kind === "refuse", onHeld });
  const begun = performance.now();
  const keyOfA = key === "b1" ? KEYS.a1 : KEYS[key];
  const env = { SERVERLESS_GPU_API_KEY: KEYS[key], KEY_OF_PA: keyOfA };
  const result = await runEngine(stack, command, { flags, planned, inline }, env);
  service.setTrap(undefined);
  const wasKilled = wasHeld && disturb?.kind === "kill";
  const leftProcesses = wasKilled && !(await allEnd(stack));
  release();
  if (wasKilled) await stack.run(["cancel", "--yes"], env);
  const seconds = Math.round((performance.now() - begun) / 100) / 10;
  const requests = { A: service.accounts.A.journal.requests(), B: service.accounts.B.journal.requests() };
  const wasRefused = wasHeld && disturb?.kind === "refuse";
  return {
    ...result,
    command,
    flags,
    seconds,
    wasDisturbed: wasHeld && !wasRefused,
    wasRefused,
    requests,
    leftProcesses,
  };
}

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
