import type { Before } from "./deletable";
import type { Run } from "./engine";
import { type After, wrote } from "./unseen";
import { accountFor, differingFields, type World } from "./world";

/**
 * Records the adoptions that have succeeded: state has the endpoint, and it serves what the program
 * declares. From then on, it is the program's.
 */
export function noteAdoptions({ theirs, ours }: World, { program }: Before, run: Run, { alive, entries }: After): void {
  if (run.command === "preview") return;
  for (const { id, isHalfMade } of entries) {
    const one = program.resources.find(({ args }) => args.adoptId === id);
    const { adoptId: _, drainTimeout: __, rollOut: ___, ...args } = one?.args ?? {};
    const record = alive.get(id)?.record;
    const isAsDeclared = one && record && !isHalfMade && differingFields(record, args).length === 0;
    const isAccepted = one && run.exitCode === 0 && run.command.startsWith("up");
    if (!theirs.has(id) || !(isAsDeclared || isAccepted)) continue;
    theirs.delete(id);
    ours.add(id);
  }
}

/**
 * Returns the endpoints of others that are not as their owners left them. While a killed run's
 * adoption waits for the next one, it may differ. A run that succeeds on that machine must have
 * restored it, or name it, unless it has no key for that account.
 */
export function whatIsNotTheirs({ theirs }: World, before: Before, run: Run, { alive }: After): string[] {
  return Array.from(theirs).flatMap(([id, one]) => {
    const record = alive.get(id)?.record;
    // Whether it may be gone is another rule.
    const fields = record ? differingFields(one.record, record) : [];
    if (!record || fields.length === 0) {
      one.leftBy = undefined;
      return [];
    }
    const isDeclared = before.program.resources.some(({ args }) => args.adoptId === id);
    if (run.wasDisturbed && run.exitCode !== 0 && isDeclared && wrote(run, id)) one.leftBy = run.cache;
    if (run.output.includes(id) && run.exitCode === 0) {
      // It was named: what serves is known.
      one.record = record;
      one.leftBy = undefined;
      return [];
    }
    const { account } = alive.get(id) ?? {};
    const isReached = before.program.resources.some(({ provider }) => accountFor(before.machine, provider) === account);
    if (mayWait(before, run, id, one.leftBy) || (one.leftBy !== undefined && !isReached)) return [];
    const values = fields.map((field) => `${field} is ${record[field]}, not ${one.record[field]}`);
    return [`${id} was never adopted, and a ${run.command} leaves it changed without a word: ${values.join(", ")}`];
  });
}

function mayWait({ program, scope }: Before, run: Run, id: string, leftBy: string | undefined): boolean {
  if (run.exitCode !== 0) return leftBy !== undefined || run.output.includes(id);
  const isWhole = scope.only === undefined && scope.except === undefined;
  // Without a resource, the engine does not start the provider.
  const isRun = run.command.startsWith("up") && isWhole && program.resources.length > 0;
  return leftBy !== undefined && (leftBy !== run.cache || !isRun);
}

/**
 * Returns what a run did against an edit in the console that came while it judged a release: the
 * edit serves, so the release neither passes nor is taken back, and the run says what serves.
 */
export function whatWasOverruled({ edited, exitCode, output }: Run, { alive }: After): string[] {
  if (edited?.operation !== "run" || edited.edit.field !== "imageName") return [];
  const { id, edit } = edited;
  const image = alive.get(id)?.record.imageName;
  if (image === undefined) return [];
  if (image !== edit.value) return [`someone gave ${id} the image ${edit.value} meanwhile, and the run saved ${image}`];
  if (exitCode !== 0 || (output.includes(id) && output.includes(String(edit.value)))) return [];
  return [`someone gave ${id} the image ${edit.value} meanwhile, and the run judged it as ours and says nothing`];
}
