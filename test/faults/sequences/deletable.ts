import type { Run } from "./engine";
import type { Declared, Program } from "./program";
import { type Alive, accountFor, type Entry, type Machine } from "./world";

/** The relevant part of the world before a step. */
export interface Before {
  readonly machine: Machine;
  readonly program: Program;
  readonly alive: ReadonlyMap<string, Alive>;
  /** The entries of the machine that the step is on. */
  readonly entries: readonly Entry[];
  /** Of the other machine. */
  readonly others: readonly Entry[];
  /** Logical names whose replacement is asked for. */
  readonly replaced: readonly string[];
  readonly scope: Scope;
  readonly isPlugin: boolean;
  /** `true` if one argument is wrong, so that nothing may happen. */
  readonly isTypo: boolean;
}

/** What a command acts on. */
export interface Scope {
  /** The only one, by its logical name. */
  readonly only?: string | undefined;
  /** All but this one. */
  readonly except?: string | undefined;
}

/** Returns `true` if a command acts on the resource with any of these logical names. */
export function isInScope({ only, except }: Scope, ...names: readonly (string | undefined)[]): boolean {
  if (except !== undefined && names.includes(except)) return false;
  return only === undefined || names.includes(only);
}

/**
 * The resource of the program that an entry of the state belongs to: by its name, else by an alias.
 */
export const declaredFor = (
  program: Program,
  entries: readonly Entry[],
  { name }: Pick<Entry, "name">,
): Declared | undefined =>
  program.resources.find((one) => one.name === name) ??
  program.resources.find((one) => nameInState(entries, one) === name);

/**
 * The engine asks for an alias only while the state has no entry by the name, and for the next only
 * without the first.
 */
const nameInState = (entries: readonly Entry[], { name, aliases = [] }: Declared): string | undefined =>
  [name, ...aliases].find((each) => entries.some((entry) => !entry.isDoomed && entry.name === each));

/** The entry of the state that belongs to a resource of the program. */
export const entryFor = (program: Program, entries: readonly Entry[], one: Declared): Entry | undefined =>
  entries.find((entry) => !entry.isDoomed && declaredFor(program, entries, entry) === one);

/** Returns `true` if the user asked for another endpoint in place of this entry's. */
export function isReplaced({ machine, replaced, alive }: Before, entry: Entry, one: Declared): boolean {
  if (one.args.adoptId === entry.id) return false;
  if (replaced.includes(one.name)) return true;
  const account = alive.get(entry.id)?.account;
  return entry.provider !== one.provider && account !== undefined && account !== accountFor(machine, one.provider);
}

/** Returns `true` if state has an `adoptId`: the endpoint is released, not deleted. */
export const isReleased = ({ outputs }: Pick<Entry, "outputs">): boolean => outputs.adoptId !== undefined;

/**
 * The ids that this command may delete: what the user took out or had replaced, and nobody else
 * declares.
 */
export function deletable(before: Before, { command }: Pick<Run, "command">): Set<string> {
  if (command === "preview" || command === "refresh" || before.isTypo) return new Set();
  const { program, entries, others, scope } = before;
  const held = new Set(others.filter(({ isDoomed }) => !isDoomed).map(({ id }) => id));
  const own = entries.filter((entry) => !isReleased(entry));
  if (command === "destroy") {
    for (const { name, id } of entries) if (!isInScope(scope, name)) held.add(id);
    return new Set(own.map(({ id }) => id).filter((id) => !held.has(id)));
  }
  for (const { name, args } of program.resources) {
    // With the plugin, a resource that is not acted on cannot say that it adopts, as
    // docs/how-to/adopt-an-account.md warns.
    if (args.adoptId && (!before.isPlugin || isInScope(scope, name))) held.add(args.adoptId);
  }
  const free = own.filter((entry) => {
    const one = entry.isDoomed ? undefined : declaredFor(program, entries, entry);
    const canGo = isInScope(scope, entry.name, one?.name);
    if (canGo && (!one || isReplaced(before, entry, one))) return true;
    // An error has said that the endpoint is deleted with the first of two resources that the
    // program no longer declares.
    const isLeftOver = !one && entries.filter(({ id }) => id === entry.id).length > 1;
    if (!isLeftOver) held.add(entry.id);
    return false;
  });
  return new Set(free.map(({ id }) => id).filter((id) => !held.has(id)));
}
