import { type Before, declaredFor, isInScope } from "./deletable";
import type { Run } from "./engine";
import { says } from "./inService";
import { type Alive, differingFields, type Entry, type World } from "./world";

/** What there is after a step. */
export interface After {
  readonly alive: ReadonlyMap<string, Alive>;
  readonly entries: readonly Entry[];
}

const READS = ["refresh", "up --refresh"];

/**
 * Returns what a run with exit code 0 left otherwise than the program declares it, although a
 * disturbed run of the same machine had changed it: the run must verify that, or say what serves.
 */
export function whatWasForgotten(world: World, before: Before, run: Run, { alive, entries }: After): string[] {
  const { program, scope } = before;
  if (run.exitCode !== 0 || !run.command.startsWith("up") || run.flags.includes("--target-replace")) return [];
  return entries.flatMap((entry) => {
    const { id, name, isDoomed, outputs } = entry;
    const one = isDoomed ? undefined : declaredFor(program, entries, entry);
    const found = alive.get(id);
    const isDue = world.unseen.get(id) === run.cache || run.command === "up --refresh";
    if (!one || !found || !world.unseen.has(id) || !isDue || !isInScope(scope, name, one.name)) return [];
    const { adoptId: _, drainTimeout: __, rollOut: ___, ...args } = one.args;
    const fields = differingFields(found.record, { ...outputs, ...args });
    if (fields.length === 0 || says(run, one, id)) return [];
    const values = fields.map((field) => `${field} is ${found.record[field]}`);
    return [`a disturbed run changed ${name} (${id}), and this ${run.command} leaves it and says nothing: ${values}`];
  });
}

/** Records which endpoints a disturbed run changed, and which of them a run has verified since. */
export function noteUnseen({ unseen, setup }: World, before: Before, run: Run, { alive, entries }: After): void {
  const succeeded = run.exitCode === 0;
  if (run.wasDisturbed && !succeeded) {
    for (const { id } of entries) {
      const [was, is] = [before.alive.get(id), alive.get(id)];
      if (was && is && differingFields(is.record, was.record).length > 0) unseen.set(id, run.cache);
    }
  }
  if (!succeeded || setup.lagMs || run.command === "preview") return;
  for (const { id, name } of entries) {
    if (READS.includes(run.command) ? isInScope(before.scope, name) : wrote(run, id)) unseen.delete(id);
  }
}

/**
 * Returns the images that a successful `up` saved although the program does not declare them, while
 * the endpoint served what an earlier `up` had accepted: it took that back, if only for a while.
 */
export function whatWasTakenBack({ accepted }: World, before: Before, run: Run, { alive, entries }: After): string[] {
  if (run.exitCode !== 0 || !run.command.startsWith("up")) return [];
  return entries.flatMap((entry) => {
    const { id } = entry;
    const image = entry.isDoomed ? undefined : declaredFor(before.program, entries, entry)?.args.imageName;
    const wasAccepted = accepted.get(id) === before.alive.get(id)?.record.imageName;
    accepted.set(id, alive.get(id)?.record.imageName);
    if (image === undefined || !wasAccepted) return [];
    const saved = writesOf(run).filter(({ endpointId }) => endpointId === id);
    const images = saved.flatMap((each) => (each.arguments.input as { image?: string } | undefined)?.image ?? []);
    const others = images.filter((each) => each !== image);
    return others.map((each) => `the up saved ${each} for ${id}, which serves an accepted image, and wants ${image}`);
  });
}

/** The operations that change an endpoint, over both APIs. */
export const WRITES = ["saveEndpoint", "deleteEndpoint", "createEndpoint", "updateEndpoint"];

/** The requests of a run that change endpoints. */
export const writesOf = ({ requests: { A, B } }: Run) =>
  [...A, ...B].filter(({ operation }) => WRITES.includes(operation));

/** Returns `true` if a run has sent a change of the endpoint. */
export const wrote = (run: Run, id: string) => writesOf(run).some(({ endpointId }) => endpointId === id);
