import { type Before, entryFor, isInScope } from "./deletable";
import type { Run } from "./engine";
import type { Declared } from "./program";
import { type Alive, aliveIn, type Entry, type World } from "./world";

const COUNTS = ["workersMin", "workersMax"] as const;

/** The service's defaults for a new endpoint (published contract). */
const DEFAULTS = { workersMin: 0, workersMax: 3 } as const;

/** Records the counts that a run's program asks for, and those of new endpoints. */
export function noteGiven(world: World, { program, entries }: Before): void {
  for (const { id, record } of aliveIn(world).values()) {
    if (!world.given.has(id)) {
      world.given.set(id, {
        workersMin: new Set<unknown>([DEFAULTS.workersMin, record.workersMin]),
        workersMax: new Set<unknown>([DEFAULTS.workersMax, record.workersMax]),
      });
    }
  }
  for (const one of program.resources) {
    const id = entryFor(program, entries, one)?.id ?? one.args.adoptId;
    for (const count of COUNTS) {
      const value = one.args[count];
      if (value !== undefined && value >= 0) world.given.get(id ?? "")?.[count].add(value);
    }
  }
}

/** A declared resource with its endpoint. */
interface Declaration {
  readonly one: Declared;
  readonly entry: Entry;
  readonly alive: Alive;
}

/**
 * Returns the endpoints that are not in service as declared, although the run did not report it: it
 * succeeded, and no change or warning names them.
 * @param entries of the state after the run
 */
export function whatIsOutOfService(world: World, before: Before, run: Run, entries: readonly Entry[]): string[] {
  if (run.exitCode !== 0 || run.command === "destroy") return [];
  const alive = aliveIn(world);
  const shared = (id: string) => [...entries, ...before.others].filter((entry) => entry.id === id).length > 1;
  const declared = before.program.resources.flatMap((one): Declaration[] => {
    const entry = entryFor(before.program, entries, one);
    const found = entry && alive.get(entry.id);
    const isSeen = isInScope(before.scope, one.name, entry?.name) && !run.flags.includes("--target-replace");
    return entry && found && isSeen && !shared(entry.id) ? [{ one, entry, alive: found }] : [];
  });
  return [
    ...declared.flatMap((each) => wrongCounts(world, run, each)),
    ...declared.flatMap((each) => untold(world, run, each)),
  ];
}

/**
 * Counts that nobody asked for. A person's own changes are allowed until a run reads the service.
 */
function wrongCounts(world: World, run: Run, { one, entry: { id }, alive: { record } }: Declaration): string[] {
  const given = world.given.get(id);
  const isUp = run.command.startsWith("up") && !world.stale.has(id);
  return COUNTS.flatMap((count) => {
    const wanted = one.args[count];
    const allowed = isUp && wanted !== undefined ? new Set<unknown>([wanted]) : given?.[count];
    const value = record[count];
    // A minimum of 0 costs only a cold start. The program may ask for another minimum.
    const matters = count === "workersMax" || wanted !== undefined;
    if (!matters || !allowed || allowed.has(value) || says(run, one, id)) return [];
    return [`${count} of ${one.name} (${id}) is ${value} after a ${run.command} that says nothing, and nobody set it`];
  });
}

/**
 * An endpoint that a person has switched off. The run that reads the service repairs or reports it.
 */
function untold(world: World, run: Run, { one, entry: { id }, alive: { record } }: Declaration): string[] {
  const looks = run.command === "refresh" || run.command === "up --refresh";
  if (!looks || world.setup.lagMs || !world.switchedOff.delete(id)) return [];
  const isOff = record.workersMax === 0 && one.args.workersMax !== 0;
  if (!isOff || says(run, one, id)) return [];
  return [`${one.name} (${id}) is switched off, and the ${run.command} that took it over says nothing`];
}

/** Returns `true` if the output names the resource or its endpoint in a change or in a warning. */
export function says({ output }: Run, { name }: Declared, id: string): boolean {
  return output.split("\n").some((line) => {
    if (line.includes(id) && /warn|off|workers/i.test(line)) return true;
    const isItsLine = new RegExp(`ServerlessEndpoint \\(?${name}\\b`).test(line);
    return isItsLine && /updat|replac|creat|warn/i.test(line);
  });
}
