import { type Before, declaredFor, deletable, isInScope, isReleased } from "./deletable";
import type { Run } from "./engine";
import { noteGiven, whatIsOutOfService } from "./inService";
import { reasonsToRefuse } from "./refusals";
import { noteAdoptions, whatIsNotTheirs, whatWasOverruled } from "./theirs";
import { noteUnseen, whatWasForgotten, whatWasTakenBack, writesOf } from "./unseen";
import {
  type Alive,
  aliveIn,
  differingFields,
  type Entry,
  entriesOf,
  type Machine,
  TEMPLATE,
  TEMPLATE_IMAGE,
  type World,
} from "./world";

/** A rule that a step broke. */
export interface Problem {
  readonly rule: string;
  readonly text: string;
}

const problem = (rule: string, text: string): Problem => ({ rule, text });

interface Step {
  readonly world: World;
  readonly before: Before;
  readonly run: Run;
  readonly alive: ReadonlyMap<string, Alive>;
  readonly entries: readonly Entry[];
  readonly succeeded: boolean;
}

/** Reads the service and both states after a step, and returns the problems. */
export async function check(world: World, before: Before, run: Run): Promise<Problem[]> {
  const alive = aliveIn(world);
  const entries = await entriesOf(before.machine);
  const step: Step = { world, before, run, alive, entries, succeeded: run.exitCode === 0 };
  const forgotten = whatWasForgotten(world, before, run, step);
  noteUnseen(world, before, run, step);
  noteAdoptions(world, before, run, step);
  remember(step);
  noteGiven(world, before);
  return [
    ...forgotten.map((text) => problem("forgotten", text)),
    ...whatWasTakenBack(world, before, run, step).map((text) => problem("taken back", text)),
    ...whatIsNotTheirs(world, before, run, step).map((text) => problem("theirs", text)),
    ...whatWasOverruled(run, step).map((text) => problem("overruled", text)),
    ...whatDied(step),
    ...whatWasReleased(step),
    ...whatWasDoubled(step),
    ...whatWasTouched(step),
    ...whatStateSays(step),
    ...whatIsOutOfService(world, before, run, entries).map((text) => problem("service", text)),
    ...whatTyposDid(step),
    ...(run.leftProcesses ? [problem("process", "a process outlived the killed engine by 60 s")] : []),
    ...whatWasRefused(step),
  ];
}

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id);

/** Records what is ours, what a disturbed run left, and which parts of state are outdated. */
function remember({ world, before, run, alive, entries, succeeded }: Step): void {
  const { ours, orphans, stale, machines } = world;
  const index = machines.indexOf(before.machine) === 0 ? 0 : 1;
  for (const id of idsOf(entries)) {
    if (!world.theirs.has(id)) ours.add(id);
    orphans.delete(id);
  }
  // From then on, an endpoint is whoever's it was.
  for (const { id } of released(before, entries)) ours.delete(id);
  if (run.wasDisturbed && !succeeded) {
    const held = new Set([...idsOf(entries), ...idsOf(before.others)]);
    for (const id of alive.keys()) {
      const isNew = !before.alive.has(id) || idsOf(before.entries).includes(id);
      if (isNew && !held.has(id)) orphans.set(id, index);
    }
    for (const id of [...idsOf(before.entries), ...idsOf(entries), ...orphans.keys()]) stale.add(id);
  }
  for (const id of alive.keys()) if (!before.alive.has(id)) ours.add(id);
  for (const [id, { record }] of before.alive) if (!alive.has(id)) world.formerNames.add(String(record.name));
  // The run may have read the endpoint before.
  const isFresh = succeeded && !run.edited && (run.command === "refresh" || run.command === "up --refresh");
  // A lagging list may have brought back earlier values.
  if (isFresh && world.setup.lagMs) for (const id of idsOf(entries)) stale.add(id);
  if (!isFresh || world.setup.lagMs) return;
  for (const entry of entries)
    if (isInScope(before.scope, entry.name) && !isUnseen(entry, alive)) stale.delete(entry.id);
}

/**
 * GraphQL shows the template of an endpoint, whatever container the console has given it. REST v2
 * shows no template, so state keeps it (docs/how-to/use-rest-v2.md).
 */
function isUnseen({ id, outputs }: Entry, alive: Step["alive"]): boolean {
  return outputs.templateId === TEMPLATE && alive.get(id)?.record.imageName !== TEMPLATE_IMAGE;
}

/** The adopted endpoints that have left the state. */
const released = ({ entries: previous }: Before, entries: readonly Entry[]) =>
  previous.filter((entry) => isReleased(entry) && !idsOf(entries).includes(entry.id));

/** A run that releases an endpoint names it. */
function whatWasReleased({ before, run, alive, entries, succeeded }: Step): Problem[] {
  const untold = released(before, entries).filter(({ id }) => alive.has(id) && !run.output.includes(id));
  return succeeded ? untold.map(({ id }) => problem("released", `${id} was released without a word`)) : [];
}

function whatDied({ world, before, run, alive, succeeded }: Step): Problem[] {
  const died = [...before.alive.keys()].filter((id) => !alive.has(id));
  const may = deletable(before, run);
  // An adoption that never succeeded made nothing the program's.
  for (const id of world.theirs.keys()) may.delete(id);
  const lost = died.filter((id) => !may.has(id)).map((id) => problem("alive", `${id} was deleted`));
  if (succeeded || run.wasDisturbed || run.wasRefused || run.command === "destroy") return lost;
  const declared = before.entries.filter(
    (entry) => !entry.isDoomed && declaredFor(before.program, before.entries, entry),
  );
  const tooEarly = died.filter((id) => may.has(id) && idsOf(declared).includes(id) && !world.foreign.includes(id));
  return [...lost, ...tooEarly.map((id) => problem("refusal", `${id} was deleted, and what replaces it refused`))];
}

function whatWasDoubled({ world, before, run, alive, entries }: Step): Problem[] {
  const { machine, others } = before;
  const names = new Map<string, string[]>();
  for (const { id, account, record } of alive.values()) {
    const name = `"${record.name}" in account ${account}`;
    names.set(name, [...(names.get(name) ?? []), id]);
  }
  // A list that lags cannot prevent a second one, but the run that creates it must say so.
  const isSaid = (ids: readonly string[]) => ids.every((id) => run.output.includes(id));
  if (world.setup.lagMs) for (const [name, ids] of names) if (ids.length > 1 && isSaid(ids)) world.said.add(name);
  const twice = [...names].filter(([name, ids]) => ids.length > 1 && !world.said.has(name)).map(([name]) => name);
  const held = new Set([...idsOf(entries), ...idsOf(others)]);
  const lost = [...world.ours].filter((id) => alive.has(id) && !held.has(id) && !world.orphans.has(id));
  const mine = entries.filter(({ isDoomed }) => !isDoomed);
  const shared = idsOf(mine).filter((id, index) => idsOf(mine).indexOf(id) !== index || idsOf(others).includes(id));
  const taken = shared.filter((id) => !wasAdopted(world, machine, id));
  return [
    ...twice.map((name) => problem("doubled", `two endpoints are named ${name}`)),
    ...lost.map((id) => problem("lost", `${id} is at the service and in no state any more`)),
    ...taken.map((id) => problem("taken", `${id} belongs to two resources, and none named it in adoptId`)),
  ];
}

const wasAdopted = ({ machines }: World, machine: Machine, id: string) =>
  machine.adopted.has(id) || machines.some(({ adopted }) => adopted.has(id));

/** Checks the writes of a run: it may write to its own endpoints, and to those that it names. */
function whatWasTouched({ world, before, run }: Step): Problem[] {
  const writes = writesOf(run);
  if (run.command === "preview" || run.command === "refresh") {
    return writes.map(({ operation }) => problem("touched", `a ${run.command} sent ${operation}`));
  }
  const { entries, program, alive, machine } = before;
  const index = world.machines.indexOf(machine);
  const own = new Set([
    ...idsOf(entries),
    ...program.resources.map(({ args }) => args.adoptId),
    ...[...world.orphans].filter(([, whose]) => whose === index).map(([id]) => id),
  ]);
  return writes
    .map(({ operation, endpointId }) => ({ operation, id: endpointId ?? "" }))
    .filter(({ id }) => alive.has(id) && !own.has(id))
    .map(({ operation, id }) => problem("touched", `${operation} for ${id}, which is not this program's`));
}

/** A run whose program has a mistake must fail without sending any change. */
function whatTyposDid({ before, run, succeeded }: Step): Problem[] {
  if (!before.isTypo || run.wasDisturbed) return [];
  const writes = writesOf(run);
  return [
    ...(succeeded ? [problem("typo", `${run.command} accepted a wrong argument`)] : []),
    ...writes.map(({ operation }) => problem("typo", `a program with a wrong argument sent ${operation}`)),
  ];
}

function whatStateSays({ world, before, run, alive, entries, succeeded }: Step): Problem[] {
  const { program } = before;
  const isUp = succeeded && run.command.startsWith("up") && !run.flags.includes("--target-replace");
  const current = entries.filter(({ isDoomed }) => !isDoomed);
  const missing = isUp
    ? program.resources.filter(
        (one) =>
          isInScope(before.scope, one.name) && !current.some((entry) => declaredFor(program, entries, entry) === one),
      )
    : [];
  const isFresh = succeeded && (run.command === "refresh" || run.command === "up --refresh");
  const known = current.filter(({ id, isReplaced }) => !isReplaced && !world.stale.has(id));
  const isAlone = ({ id }: Entry) =>
    [...idsOf(entries), ...idsOf(before.others)].filter((each) => each === id).length === 1;
  return [
    ...missing.map(({ name }) => problem("state", `${name} is declared, and not in state after a good ${run.command}`)),
    ...known
      .filter(({ name }) => isInScope(before.scope, name))
      .filter(({ id }) => !alive.has(id) && (isFresh || before.alive.has(id)) && !run.wasDisturbed)
      .map(({ id, name }) => problem("state", `state says that ${name} has ${id}, which is gone`)),
    ...known.filter(isAlone).flatMap((entry) => {
      const isActedOn = isUp && isInScope(before.scope, entry.name);
      const one = isActedOn ? declaredFor(program, entries, entry) : undefined;
      const { adoptId: _, drainTimeout: __, rollOut: ___, ...args } = one?.args ?? {};
      return differences(entry, alive.get(entry.id), { ...entry.outputs, ...args });
    }),
  ];
}

function differences(
  { name, id }: Entry,
  alive: Alive | undefined,
  wanted: Readonly<Record<string, unknown>>,
): Problem[] {
  if (!alive) return [];
  return differingFields(alive.record, wanted).map((field) =>
    problem(
      "state",
      `${field} of ${name} (${id}) should be ${wanted[field] || "as the program says"}, and is ${alive.record[field]}`,
    ),
  );
}

function whatWasRefused({ world, before, run, succeeded }: Step): Problem[] {
  if (succeeded || before.isTypo || reasonsToRefuse(before, run, world).length > 0) return [];
  const said = run.output.split("\n").filter((line) => /error|refus/i.test(line));
  return [problem("stuck", `${run.command} failed without a reason: ${said.slice(0, 3).join(" | ")}`)];
}

/** Returns the changes of a second `up`. */
export function checkAgain(run: Run): Problem[] {
  const writes = writesOf(run);
  return [
    ...writes.map(({ operation, endpointId }) => problem("again", `a second up sent ${operation} for ${endpointId}`)),
    ...(run.exitCode === 0
      ? []
      : [problem("again", `a second up ended with ${run.exitCode}: ${run.output.slice(-600)}`)]),
  ];
}
