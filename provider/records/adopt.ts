import type { NamedRecord } from "../../sdk/records/listed";
import { describeChanges, existingAdoptee, NO_CHANGE, refusedAdoption } from "../adoption/adoption";
import { type Comparison, compareForAdoption } from "../adoption/comparison";
import type { Connection } from "../connection/connection";
import { log } from "../engine/log";
import { type Properties, pick } from "../engine/properties";
import { nested, sameSettings } from "../fields/settings";
import { closeNote, type Note, openNote, type Written } from "../machine/note";
import { markAdopter } from "../ownership/adopters";
import { fieldsToCreate, shownFields } from "./outputs";
import type { RecordKind } from "./recordKind";
import { declared, type Outcome, prepared, putBacks, restore, shownSettings, write, writtenBy } from "./write";

/*
 * Records that exist and are in no state: those that a program adopts, and those that a killed run
 * has created under a name that it had drawn.
 */

/** Adopts the record with the program's `adoptId` and changes it to match the program. */
export async function adoptRecord<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  inputs: Properties,
  owner: string,
): Promise<Outcome<T>> {
  const id = String(inputs.adoptId);
  markAdopter(id, owner, "wants");
  const known = kind.known?.(fieldsToCreate(kind, inputs) as Properties);
  const found = existingAdoptee(await kind.records(connection.client).find(id, { known }), kind.noun, id);
  const comparison = compareForAdoption(kind, found, inputs, connection.capabilities);
  if (comparison.refusal !== undefined) throw refusedAdoption(comparison.refusal);
  return matchProgram(kind, connection, found, inputs, comparison);
}

/** `true` once this process, which serves one deployment, has said what an adoption means. */
let hasSaid = false;

/** Says once per run that adopted records are not the stack's own yet. */
function sayReleased(): void {
  if (hasSaid) return;
  hasSaid = true;
  log(
    "serverless-gpu",
    "adopted records are released, not deleted, while the program sets their adoptId. To make them this stack's own, remove " +
      "adoptId and run pulumi up again",
  );
}

/** Ends an adoption: the resource manages the record from now on. */
export function endAdoption({ noun }: { readonly noun: string }, connection: Connection, id: string, owner: string) {
  markAdopter(id, owner, "has");
  sayReleased();
  closeNote(writtenBy(connection, noun, id));
}

/**
 * Takes over a record that a killed run created for this resource. Returns `undefined` if the
 * record cannot be changed to match the program.
 */
export async function takeOver<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  record: T,
  { name, ...inputs }: Properties,
): Promise<T | undefined> {
  const comparison = compareForAdoption(kind, record, inputs, connection.capabilities);
  if (comparison.refusal !== undefined) return undefined;
  const { record: taken } = await matchProgram(kind, connection, record, inputs, comparison);
  // If the engine is killed now, the next run takes the record over again.
  closeNote(writtenBy(connection, kind.noun, record.id));
  return taken;
}

/**
 * Returns this machine's unfinished write to a record that is in no state of this resource. Only
 * state can void the note of a change, and most such notes are of changes that were completed.
 */
function unfinished(written: Written): Note | undefined {
  const open = openNote(written);
  return open?.purpose === "change" ? undefined : open;
}

/** Changes a record that is not in any state to match the program. */
async function matchProgram<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  found: T,
  inputs: Properties,
  { changed }: Comparison,
): Promise<Outcome<T>> {
  const { noun, table } = kind;
  const { id } = found;
  const ours = declared(kind, inputs, {});
  // A killed run may have left the record scaled to zero, or with settings of another program.
  const written = writtenBy(connection, noun, id);
  const open = unfinished(written);
  const back = open ? putBacks(kind, open, ours, inputs, found) : {};
  const own = { ...back, ...pick(ours, (setting) => changed.includes(setting)) };
  const save = { id, outputs: {}, inputs, purpose: "adopt", name: found.name, settings: own, theirs: found } as const;
  const settings = await prepared(kind, connection, save);
  const outcome: Outcome<T> =
    Object.keys(settings).length > 0
      ? await write(kind, connection, { ...save, purpose: "adoption", settings, theirs: found })
      : { record: found, settings: {}, changed: [], isWritten: true };
  const record = outcome.record ?? found;
  const applied = kind.appliedUnseen?.(found, inputs);
  const before = sameSettings(settings, shownSettings(kind, found, {}));
  const shownBefore = pick({ ...shownFields(kind, found, inputs), ...nested(before) }, (f) => f !== applied?.field);
  // A save may show a field that the list did not show, and that it did not change.
  const isCompared = (field: string) => field in shownBefore || field in nested(settings);
  const shownAfter = pick(shownFields(kind, record, inputs), (field) => field !== applied?.field && isCompared(field));
  const changes = describeChanges(table, shownBefore, shownAfter, inputs);
  const told = applied && changes === NO_CHANGE ? [applied.done] : [changes, ...(applied ? [applied.done] : [])];
  log(record.name, `adopted ${noun} ${id}; ${told.join("; ")}`);
  // If this adoption fails, the changes of a killed adoption are reverted too, even if this
  // adoption writes nothing.
  const note = unfinished(written);
  return note ? { ...outcome, undo: () => restore(kind, connection, { id, outputs: {}, inputs }, note) } : outcome;
}
