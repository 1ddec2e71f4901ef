import type { Action, Command, MachineIndex, Manner } from "./actions";
import { edit, switchOff } from "./console";
import type { Before } from "./deletable";
import { changed, edited, find } from "./edits";
import { type Run, run } from "./engine";
import type { Program } from "./program";
import { check, checkAgain, type Problem } from "./rules";
import { aliveIn, type Entry, entriesOf, type Machine, typeOf, type World } from "./world";

/** The result of a step. */
export interface StepResult {
  readonly action: Action;
  /** `undefined` if the engine did not run. */
  readonly exitCode?: number | null;
  readonly seconds?: number;
  readonly wasDisturbed?: boolean;
  readonly problems: readonly Problem[];
  /** Output of the engine. */
  readonly output?: string;
}

/**
 * Performs the user's action, runs the engine, and checks the result. Returns `undefined` if the
 * action has nothing to act on.
 */
export async function play(world: World, action: Action): Promise<StepResult | undefined> {
  if (!("on" in action)) return disturbService(world, action);
  const machine = world.machines[action.on];
  const other = world.machines[1 - action.on] as Machine;
  const [entries, others] = await Promise.all([entriesOf(machine), entriesOf(other)]);
  const program = await programAfter(world, action, {
    machine,
    other,
    entries,
    others,
    ids: [...aliveIn(world).keys()],
  });
  if (!program) return undefined;
  const replaced =
    action.do === "replace" ? entries.filter((entry) => entry.name === action.name && !entry.isDoomed) : [];
  if (action.do === "replace" && replaced.length !== 1) return undefined;
  machine.program = program;
  if (action.do === "key") machine.key = action.key;
  const scope = { only: action.only, except: action.except };
  const flags = [
    ...replaced.flatMap(({ urn }) => [action.do === "replace" ? action.flag : "", urn]),
    ...flagsOf(world, action),
  ];
  const before: Before = {
    machine,
    program,
    alive: aliveIn(world),
    entries,
    others,
    replaced: replaced.map(({ name }) => name),
    scope,
    isPlugin: world.setup.isPlugin ?? false,
    isTypo: action.do === "typo",
  };
  const { disturb, planned, inline, api, elsewhere } = action;
  const editedId = disturb?.edit && (await idOf(world, disturb.edit.of));
  const options = { flags, disturb, planned, inline, api, elsewhere, editedId };
  const result = await run(world, machine, commandOf(action), options);
  const problems = await check(world, before, result);
  settle(machine, result);
  const wasDeletion = action.do === "takeOut" || action.do === "replace" || result.command === "destroy";
  machine.hasFailedDeletion = result.exitCode !== 0 && wasDeletion;
  machine.wasDisturbed = result.exitCode !== 0 && result.wasDisturbed;
  const isGood = result.command.startsWith("up") && result.exitCode === 0 && flags.length === 0;
  const again = action.again && isGood ? checkAgain(await upAgain(world, machine, { api, elsewhere })) : [];
  const { exitCode, seconds, wasDisturbed, output } = result;
  return { action, exitCode, seconds, wasDisturbed, problems: [...problems, ...again], output };
}

function flagsOf({ setup }: World, { only, except, continues }: Manner): string[] {
  const urn = (name: string) => `urn:pulumi:dev::test::${typeOf(setup)}::${name}`;
  return [
    ...(only === undefined ? [] : ["--target", urn(only)]),
    ...(except === undefined ? [] : ["--exclude", urn(except)]),
    ...(continues ? ["--continue-on-error"] : []),
  ];
}

const upAgain = (world: World, machine: Machine, manner: Manner) =>
  run(world, machine, "up", { ...manner, flags: ["--expect-no-changes"] });

function commandOf(action: Action & Manner): Command {
  if (action.do === "key") return action.run;
  const commands: readonly string[] = ["up", "up --refresh", "preview", "refresh", "destroy"] satisfies Command[];
  return commands.includes(action.do) ? (action.do as Command) : action.refreshes ? "up --refresh" : "up";
}

/** Restores the last accepted program after a refusal, as a user does who undoes the edit. */
function settle(machine: Machine, { command, exitCode, wasDisturbed, output }: Run): void {
  const { program, key } = machine;
  if (exitCode === 0) {
    if (command.startsWith("up")) machine.lastGood = { program, key };
    else machine.lastGood = { ...machine.lastGood, key };
    if (command.startsWith("up")) machine.refused = undefined;
  } else if (!wasDisturbed) {
    if (command.startsWith("up")) machine.refused = { program, key, output };
    machine.program = machine.lastGood.program;
    machine.key = machine.lastGood.key;
  }
}

type Outside = Exclude<Action, { on: MachineIndex }>;

/** Performs an action at the service, without a run. */
async function disturbService(world: World, action: Outside): Promise<StepResult | undefined> {
  if (action.do === "endJobs") {
    world.holdsJobs = false;
    world.service.endJobs();
    return { action, problems: [] };
  }
  const id = await idOf(world, action.of);
  const one = id === undefined ? undefined : aliveIn(world).get(id);
  if (!one || (action.do === "vanish" && world.foreign.includes(one.id))) return undefined;
  if (action.do === "job") {
    if (one.record.workersMax === 0) return undefined;
    world.holdsJobs = true;
    await world.service.holdJob(one.account, one.id);
    return { action, problems: [] };
  }
  if (action.do === "vanish") world.service.accounts[one.account].endpoints.delete(one.id);
  else if (action.do === "switchOff") switchOff(world, one.id);
  else await edit(world, one.id, action);
  world.stale.add(one.id);
  return { action, problems: [] };
}

/** The id of `foreign:0`, of `own:0`, or of `0:a`. */
async function idOf(world: World, reference: string): Promise<string | undefined> {
  const [where = "", name = ""] = reference.split(":");
  if (where === "foreign") return world.foreign[Number(name)];
  if (where === "own") return world.own[Number(name)];
  const machine = world.machines[Number(where) as 0 | 1];
  return (await entriesOf(machine)).find((entry) => entry.name === name && !entry.isDoomed)?.id;
}

interface Here {
  readonly machine: Machine;
  readonly other: Machine;
  readonly entries: readonly Entry[];
  readonly others: readonly Entry[];
  /** All endpoints at the service. */
  readonly ids: readonly string[];
}

async function programAfter(world: World, action: Action, here: Here): Promise<Program | undefined> {
  const { machine, other, entries, others } = here;
  if (action.do === "copyProgram") {
    // An endpoint that two machines adopt has two owners, which the documents advise against.
    const isSafe = other.program.resources.every(({ args }) => !args.adoptId);
    return isSafe && other.program.resources.length > 0 ? other.program : undefined;
  }
  if (action.do === "goBack") return machine.lastGood.program;
  if (action.do === "followAdvice") return advised(machine, action.how, here);
  const reference = action.do === "adopt" ? action.of : "";
  const id = action.do === "adopt" ? await idOf(world, reference) : undefined;
  if (id !== undefined && others.some((entry) => entry.id === id)) return undefined;
  const alive = aliveIn(world);
  return edited(machine.program, action, {
    idOf: () => id,
    providerFor(each) {
      const holder = entries.find((entry) => entry.id === each);
      return holder ? holder.provider : alive.get(each)?.account === "B" ? "pb" : undefined;
    },
  });
}

/** Returns the refused program, changed as its error advises. */
function advised(machine: Machine, how: "adoptId" | "aliases", { entries, others, ids }: Here): Program | undefined {
  const { refused } = machine;
  if (!refused?.output.includes(how)) return undefined;
  for (const { name, id } of namedIn(refused.output, ids)) {
    const holder = entries.find((entry) => entry.id === id && !entry.isDoomed);
    // An endpoint that two machines adopt has two owners, which the documents advise against.
    if (holder?.name === name || others.some((entry) => entry.id === id)) continue;
    if (how === "adoptId") {
      return changed(refused.program, name, (one) => ({ ...one, args: { ...one.args, adoptId: id } }));
    }
    if (!holder || find(refused.program, holder.name)) continue;
    return changed(refused.program, name, (one) => ({ ...one, aliases: [holder.name] }));
  }
  return undefined;
}

/** The endpoints that an engine's output names, each with the resource whose error it is. */
function namedIn(output: string, ids: readonly string[]) {
  const found: { name: string; id: string }[] = [];
  let name = "";
  for (const line of output.split("\n")) {
    name = /ServerlessEndpoint \(?([a-z0-9]+)\)?/.exec(line)?.[1] ?? name;
    const id = ids.find((each) => line.includes(each));
    if (id && name) found.push({ name, id });
  }
  return found;
}

/** Destroys what is left on both machines, with either key, and returns the problems. */
export async function finish(world: World): Promise<StepResult[]> {
  world.service.endJobs();
  const { apis } = world.setup;
  const results: StepResult[] = [];
  for (const on of [0, 1] as const) {
    for (const key of ["a1", "b1", "a1"] as const) {
      const machine = world.machines[on];
      if ((await entriesOf(machine)).length === 0) continue;
      machine.lastGood = { program: machine.program, key };
      const result = await play(world, { do: "key", on, key, run: "destroy", ...(apis === "v2" && { api: "v2" }) });
      if (result) results.push(result);
    }
  }
  const alive = aliveIn(world);
  const stuck = (await Promise.all(world.machines.map(entriesOf))).flat().filter(({ id }) => alive.has(id));
  const last = results.at(-1);
  if (stuck.length === 0 || !last) return results;
  const text = `no destroy could delete ${stuck.map(({ name, id }) => `${name} (${id})`).join(", ")}`;
  return [...results.slice(0, -1), { ...last, problems: [...last.problems, { rule: "stuck", text }] }];
}
