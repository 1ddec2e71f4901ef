import { type Before, declaredFor, deletable, entryFor, isInScope, isReplaced } from "./deletable";
import type { Run } from "./engine";
import type { Declared } from "./program";
import { accountFor, type Entry, type World } from "./world";

/** Returns the reason if a command may be refused. Otherwise it must succeed. */
export function reasonsToRefuse(before: Before, run: Run, world: World): string[] {
  const { command, wasDisturbed, wasRefused } = run;
  const { machine, program, entries, alive, scope } = before;
  const present = entries.filter(({ id }) => alive.has(id));
  const isElsewhere = present.some(({ id, provider }) => alive.get(id)?.account !== accountFor(machine, provider));
  const hasDead = present.length < entries.length;
  const isOther = hasDead && machine.keys.size > 1;
  const seen = { ...before, run, world };
  const common = [
    wasDisturbed && "disturbed",
    wasRefused && "refused by the service",
    mayTimeOut(before, run) && "a deletion with little time",
    isElsewhere && "wrong account",
    isOther && "gone, and another key",
    // The engine's rule.
    [scope.only, scope.except].some((name) => name !== undefined && !isKnown(before, run, name)) &&
      "a target that is nowhere",
  ];
  if (command === "refresh") return named(common);
  if (command === "destroy") return named([...common, isShared(before, entries) && "what two resources have"]);
  return named([
    ...common,
    hasDead && "gone",
    program.resources.some(({ provider }) => provider === "px") && "a key that nobody has",
    program.createsFirst && before.replaced.length > 0 && "replaced by creating first",
    hasAliasClash(before) && "an alias that is declared",
    run.flags.length > 0 && hasExplicitProvider(before) && "a provider that is not targeted",
    isShared(before, undeclared(before)) && "the removal of one of two resources that have an endpoint",
    leavesOutAdopter(before) && "an endpoint to be adopted by a resource that is not acted on",
    hasTwoOwners(before) && "an endpoint that two declared resources have",
    ...program.resources.flatMap((one) => [
      adoptionProblem(before, one),
      nameProblem(before, one),
      isBehind(before, one, world) && "a name that a list still shows",
      isTemplateUnseen(seen, one) && "a move to an account that does not show the template",
      isReplacedWhileShared(before, one) && "replacement of what two resources share",
      containerProblem(seen, one),
      releaseProblem(seen, one),
    ]),
  ]);
}

/** A refresh and a deletion act on what state has. */
const isKnown = ({ program, entries }: Before, { command }: Run, name: string) =>
  [...(command === "refresh" || command === "destroy" ? [] : program.resources), ...entries].some(
    (one) => one.name === name,
  );

/**
 * The previous resource of an endpoint does not delete it while the adopter may still manage it.
 */
const isShared = ({ entries }: Before, some: readonly Entry[]) =>
  some.some((one) => entries.some((other) => other !== one && other.id === one.id));

const undeclared = ({ program, entries }: Before) => entries.filter((entry) => !declaredFor(program, entries, entry));

const named = (reasons: readonly (string | false | undefined)[]) =>
  reasons.filter((reason) => typeof reason === "string");

/** Long enough for any deletion of an endpoint without a job, in seconds. */
const ENOUGH_TIME = 60;

function mayTimeOut(before: Before, run: Run): boolean {
  const may = deletable(before, run);
  return before.entries.some(
    ({ id, outputs: { drainTimeout } }) =>
      may.has(id) && typeof drainTimeout === "number" && drainTimeout < ENOUGH_TIME,
  );
}

/** A resource that is declared again gets the same automatic name. */
function isBehind({ program, entries }: Before, one: Declared, { setup, formerNames }: World): boolean {
  if (!setup.lagMs) return false;
  const own = entryFor(program, entries, one)?.outputs.name;
  return own === undefined || !isNameOf(one, String(own))
    ? [...formerNames].some((name) => isNameOf(one, name))
    : false;
}

/**
 * A move needs the template in the new account, or an endpoint that uses it. A list that is behind
 * may show neither, and REST v2 does not show an endpoint's template.
 */
function isTemplateUnseen({ program, entries, machine, run, world }: Seen, one: Declared): boolean {
  const own = entryFor(program, entries, one);
  if ((!world.setup.lagMs && run.api !== "v2") || !own) return false;
  return accountFor(machine, own.provider) !== accountFor(machine, one.provider);
}

function hasAliasClash({ program: { resources } }: Before): boolean {
  const names = resources.map(({ name }) => name);
  const aliases = resources.flatMap((one) => one.aliases ?? []);
  return aliases.some((alias, index) => names.includes(alias) || aliases.indexOf(alias) !== index);
}

/**
 * The engine needs the provider of each resource that it skips, even if the program has changed it.
 */
const hasExplicitProvider = ({ program, entries }: Before) =>
  [...program.resources, ...entries].some(({ provider }) => provider);

/** The endpoint would be deleted with the resource that has it now. */
function leavesOutAdopter({ program, entries, scope }: Before): boolean {
  const left = program.resources.filter((one) => one.args.adoptId !== undefined && !isInScope(scope, one.name));
  const gone = entries.filter((entry) => isInScope(scope, entry.name) && !declaredFor(program, entries, entry));
  return left.some(({ args }) => gone.some(({ id }) => id === args.adoptId));
}

/** A refused adoption may already be in the state, because the engine runs steps in parallel. */
function hasTwoOwners({ program, entries }: Before): boolean {
  const ids = program.resources.flatMap((one) => entryFor(program, entries, one)?.id ?? []);
  return new Set(ids).size < ids.length;
}

function adoptionProblem(before: Before, one: Declared): string | undefined {
  const { adoptId } = one.args;
  if (adoptId === undefined) return undefined;
  const { program, entries, machine, alive } = before;
  if (alive.get(adoptId)?.account !== accountFor(machine, one.provider)) return "adoption of what is not there";
  if (program.resources.some((other) => other !== one && other.args.adoptId === adoptId)) return "two adopt the same";
  const own = entryFor(program, entries, one);
  if (own && own.id !== adoptId) return "adoption for a resource that has another endpoint";
  const isHeld = entries.some(
    (entry) => entry.id === adoptId && ![undefined, one].includes(declaredFor(program, entries, entry)),
  );
  return isHeld ? "adoption of what another resource has" : undefined;
}

/** A create, or a change of the name, that meets an endpoint of the same name. */
function nameProblem(before: Before, one: Declared): string | undefined {
  const { program, entries, machine, alive } = before;
  const own = entryFor(program, entries, one);
  if (one.args.adoptId !== undefined && one.args.name === undefined) return undefined;
  const isKept = own && alive.has(own.id) && !isReplaced(before, own, one);
  const names = own ? [own.outputs.name, alive.get(own.id)?.record.name] : [];
  // Without a name, an endpoint gets its automatic one.
  if (isKept && names.every((name) => isNameOf(one, String(name)))) return undefined;
  const account = accountFor(machine, one.provider);
  const onlyOwn = own && entries.filter(({ id }) => id === own.id).length === 1 ? own.id : undefined;
  const taken = [...alive.values()].some(
    ({ id, account: its, record: { name } }) =>
      its === account && id !== onlyOwn && id !== one.args.adoptId && isNameOf(one, String(name)),
  );
  return taken ? "a name that is taken" : undefined;
}

/**
 * Returns `true` if a resource may give its endpoint this name. An automatic name ends with
 * unpredictable digits.
 */
const isNameOf = ({ name, args }: Declared, taken: string) =>
  args.name === undefined ? taken.startsWith(`${name}-`) : taken === args.name;

interface Seen extends Before {
  readonly run: Run;
  readonly world: World;
}

/** What GraphQL cannot do with an endpoint that has an image of its own, or has had one. */
function containerProblem({ program, entries, run }: Seen, one: Declared): string | undefined {
  const own = entryFor(program, entries, one);
  const isContainer = one.args.imageName !== undefined || Boolean(own?.outputs.imageName);
  return isContainer && run.api === "graphql" && (own || one.args.adoptId) ? "an image over GraphQL" : undefined;
}

/** The reasons to refuse a release. */
function releaseProblem({ program, entries, machine, run, world }: Seen, one: Declared): string | undefined {
  const { imageName, rollOut } = one.args;
  const own = entryFor(program, entries, one);
  if (own?.isHalfMade) return "an update that has failed before";
  if (rollOut === undefined) return undefined;
  if (imageName?.endsWith("wrong")) return "a release that fails";
  if (run.edited) return "an edit meanwhile";
  if (world.holdsJobs) return "jobs that hold workers";
  if (machine.keys.size > 1) return "another key";
  return own && !own.outputs.imageName ? "a template before" : undefined;
}

function isReplacedWhileShared(before: Before, one: Declared): boolean {
  const own = entryFor(before.program, before.entries, one);
  return !!own && before.replaced.includes(one.name) && before.entries.filter(({ id }) => id === own.id).length > 1;
}
