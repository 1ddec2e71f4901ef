import { isDeepStrictEqual } from "node:util";
import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import { changedNothing } from "../../sdk/endpoints/putBack";
import type { FieldTable } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { existing } from "../../sdk/records/reads";
import { recordedService } from "../connection/account";
import { type Connection, currentPlace } from "../connection/connection";
import { secretFields } from "../engine/forEngine";
import { log } from "../engine/log";
import { isObject, type Properties, pick } from "../engine/properties";
import { fieldsIn, newlyManagedIn } from "../fields/managed";
import { declaredSettings, differing, fieldOf, namesOf, nested, sameSettings } from "../fields/settings";
import { closeNote, type Note, noteWrite, openNote, type Purpose, type Written } from "../machine/note";
import { oneAtATime } from "../ownership/oneAtATime";
import { shownFields } from "./outputs";
import type { RecordKind, Save, Situation } from "./recordKind";

/*
 * One rule applies to every write: it contains the settings that the preview showed as changed, and
 * keeps all others as they are at the service at that moment. The preview compares with state, and
 * the client takes the other settings from a read right before the write.
 */

/** The result of a write. */
export interface Outcome<T> {
  /** The record, or `undefined` if it was neither written nor read. */
  readonly record: T | undefined;
  /** The settings that were written. */
  readonly settings: Properties;
  /** The fields whose values the write changed. */
  readonly changed: readonly string[];
  /** `true` if state now describes the record, regardless of what earlier runs wrote. */
  readonly isWritten: boolean;
  /** Restores the values from right before the write. Absent if nothing was written. */
  readonly undo?: (() => Promise<Undone<T>>) | undefined;
}

/** The result of a restore. */
export interface Undone<T> {
  readonly record: T;
  /**
   * The settings that still have the values of the write, because someone else changed them or
   * because their previous values are not known.
   */
  readonly left: readonly string[];
}

/** Returns the values that identify a record's note on this machine. */
export function writtenBy({ account }: Pick<Connection, "account">, noun: string, id: string): Written {
  return { service: account.service, apiKey: account.apiKey, noun, id };
}

/**
 * Returns the note of a write that this machine sent and that state does not contain, without a
 * request.
 */
export function openIn(noun: string, { id, outputs }: Pick<Situation, "id" | "outputs">): Note | undefined {
  const apiKey = currentPlace()?.account.apiKey;
  return openNote({ service: recordedService(outputs) ?? "", noun, id, apiKey }, outputs);
}

/** Returns that note, and logs it, because the update checks the settings that the write sent. */
export function announceOpen(noun: string, { id, outputs }: Situation): Note | undefined {
  const open = openIn(noun, { id, outputs });
  if (!open) return undefined;
  const sent = Object.keys(open.sent).length === 0 ? "" : `, which sent ${namesOf(open.sent)}`;
  const what = {
    change: "a change of",
    adoption: "the adoption of",
    deletion: "the deletion of",
    recycle: "a restart of the workers of",
  };
  log(
    String(outputs.name ?? id),
    `an earlier run on this machine may not have completed ${what[open.purpose]} ${noun} ${id}${sent}: up verifies it`,
  );
  return open;
}

/**
 * Reads a record whose earlier write may not have been completed. For a while, the service may
 * still show the record as it was before that write.
 */
export async function readAfter<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { client }: Connection,
  { id, outputs }: Situation,
  open: Note,
): Promise<T> {
  await sleep(systemClock, Math.min(Math.max(open.at + LIST_LAG_MS - Date.now(), 0), LIST_LAG_MS));
  const known = { ...outputs, ...nested(open.sent) };
  return existing(await kind.records(client).find(id, { known }), { noun: kind.noun }, id);
}

/** Returns the settings that a program declares for a record. */
export function declared<T extends NamedRecord, Fields extends object>(
  { table, savesAutomaticName }: Pick<RecordKind<T, Fields>, "table" | "savesAutomaticName">,
  inputs: Properties,
  outputs: Properties,
): Properties {
  // An automatic name is not compared, because its random digits may have been replaced.
  const isNameSaved = savesAutomaticName || !isAutomatic(inputs);
  return pick(declaredSettings(table, inputs, outputs), (setting) => setting !== "name" || isNameSaved);
}

/** Returns `true` if the program does not set the name of a record that it did not adopt. */
export function isAutomatic({ __automaticName }: Properties): boolean {
  return __automaticName !== undefined && __automaticName !== false;
}

/**
 * Returns the settings that an update writes: those that differ between state and program, those
 * that the last run did not manage, and those that an unfinished write sent. If the program does
 * not declare one of the latter, its value from before that write is restored, unless someone else
 * has changed it since.
 */
export function settingsToWrite<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
  open?: Note,
  theirs?: T,
): Properties {
  const { table, hiddenFields = [] } = kind;
  const { outputs, inputs } = situation;
  const ours = declared(kind, inputs, outputs);
  const fresh = newlyManagedIn(table, outputs, inputs);
  const also = [kind.alsoWrites?.(situation)?.field ?? [], isUnknown(open) ? hiddenFields : []].flat();
  const changed = differing(table, ours, outputs);
  const isWritten = (setting: string) => {
    const field = fieldOf(setting);
    return (open && setting in open.sent) || setting in changed || fresh.includes(field) || also.includes(field);
  };
  const putBack = open && theirs ? putBacks(kind, open, ours, inputs, theirs) : {};
  const own = pick(ours, isWritten);
  // Values that the inputs do not contain, such as that of an environment variable.
  const unnamed = also.filter((field) => !Object.keys(own).some((setting) => fieldOf(setting) === field));
  return { ...putBack, ...Object.fromEntries(unnamed.map((field) => [field, null])), ...own };
}

/** Returns `true` if an earlier write may have changed settings that the service never shows. */
function isUnknown(open: Note | undefined): boolean {
  return open?.purpose === "change" || open?.purpose === "adoption";
}

/**
 * Returns the values from before an unfinished write, for settings that it sent, that the program
 * does not declare, and that nobody else has changed since.
 */
export function putBacks<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { sent, before, purpose }: Note,
  ours: Properties,
  inputs: Properties,
  theirs: T,
): Properties {
  const { table } = kind;
  const now = shownSettings(kind, theirs, sent);
  const others = differing(table, sent, now);
  const isOpen = (setting: string) => setting !== "name" && !(setting in ours) && !(setting in others);
  // A program that declares one of two alternatives also decides about the other one.
  const back = pick(before, (setting) => isOpen(setting) && !kind.staysUnset?.(fieldOf(setting), inputs));
  const found = pick(back, (setting) => setting in differing(table, back, now));
  if (Object.keys(found).length > 0)
    log(theirs.name, `restores ${namesOf(found)}, which an unfinished ${purpose} left changed`);
  return found;
}

/** Returns the fields that a record shows, with all of its variables. */
export function shownSettings<T extends NamedRecord, Fields extends object>(
  kind: Pick<RecordKind<T, Fields>, "toFields">,
  record: T,
  known: Properties,
): Properties {
  const { env } = { env: undefined, ...record } as { env?: unknown };
  const isEnvShown = isObject(env) && !record.unshown?.includes("env");
  return { ...shownFields(kind, record, known), ...(isEnvShown && { env }) };
}

/** A write to an existing record. */
interface NewWrite<T> extends Situation {
  readonly purpose: Purpose;
  readonly settings: Properties;
  readonly open?: Note | undefined;
  readonly theirs?: T | undefined;
}

/** Writes settings of a record. The write is noted on this machine before it is sent. */
export async function write<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  { id, outputs, inputs, purpose, settings, open, theirs }: NewWrite<T>,
): Promise<Outcome<T>> {
  const { table, hiddenFields = [] } = kind;
  const written = writtenBy(connection, kind.noun, id);
  const known = { ...outputs, ...(theirs && fieldsIn(table, theirs)) };
  const sent = pick(settings, (setting) => !hiddenFields.includes(setting));
  let before: Properties = {};
  let changed: string[] = [];
  const onSave = (record: T) => {
    const seen = sameSettings(sent, shownSettings(kind, record, known));
    changed = Object.keys(differing(table, settings, seen)).map(fieldOf);
    before = valuesBefore(sent, seen, sameSettings(sent, outputs), open);
    const isOwn = (setting: string) => isDeepStrictEqual(seen[setting], open?.sent[setting]);
    sayOverwritten(
      table,
      String(record.name),
      { base: outputs, before: pick(seen, (s) => !isOwn(s)), settings },
      inputs,
    );
    noteWrite(written, outputs, { purpose, name: String(record.name), sent, before });
  };
  const fields = nested(settings) as Partial<Fields>;
  // After an unfinished write, state does not say whether a field that the service never shows is
  // already set, so the client must send it.
  const sure = open ? pick(known, (field) => !(field in fields)) : known;
  const change = { id, outputs, inputs, known: sure, fields, onSave };
  // This must not run at the same time as a create with the same name, because each of them must
  // see the other's record.
  const saving = oneAtATime(`${kind.noun} ${inputs.name}`, () => kind.update(connection, change));
  const record = await saving.catch((error: unknown) => {
    if (!open && changedNothing(error)) closeNote(written);
    throw error;
  });
  const undo = () => restore(kind, connection, { id, outputs, inputs }, { sent, before });
  return { record, settings, changed: [...new Set(changed)], isWritten: true, undo };
}

/**
 * Returns the values right before a write. If the record already has the values to send, because an
 * unfinished write sent them, returns the values from before that write: those in its note or,
 * without a note, those in state.
 */
function valuesBefore(sent: Properties, seen: Properties, base: Properties, open: Note | undefined): Properties {
  const entries = Object.entries(seen).map(([setting, value]) => {
    if (open && setting in open.before && isDeepStrictEqual(value, open.sent[setting]))
      return [setting, open.before[setting]];
    const isThere = isDeepStrictEqual(value, sent[setting]);
    return [setting, isThere && setting in base ? base[setting] : value];
  });
  return Object.fromEntries(entries);
}

/** Names the written settings that someone else had changed since state was written. */
function sayOverwritten(
  table: FieldTable,
  name: string,
  { base, before, settings }: { readonly base: Properties; readonly before: Properties; readonly settings: Properties },
  inputs: Properties,
): void {
  const recorded = sameSettings(settings, base);
  const drifted = pick(before, (setting) => setting in recorded && setting in differing(table, before, recorded));
  const overwritten = pick(drifted, (setting) => setting in differing(table, settings, before));
  const secrets = secretFields(inputs);
  const shown = Object.keys(overwritten).map((setting) => {
    const isHidden = fieldOf(setting) !== setting || secrets.includes(setting);
    return isHidden ? setting : `${setting} ${JSON.stringify(recorded[setting])} → ${JSON.stringify(before[setting])}`;
  });
  if (shown.length > 0)
    log(name, `someone else has changed ${shown.join(", ")} since the last run or refresh: this run overwrites that`);
}

/**
 * Restores the values that a record had right before a write. Settings that someone else has
 * changed since are left as they are.
 */
export async function restore<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Pick<Connection, "client" | "account">,
  situation: Situation,
  { sent, before }: Pick<Note, "sent" | "before">,
): Promise<Undone<T>> {
  const { table, noun } = kind;
  const { id } = situation;
  const records = kind.records(connection.client);
  const now = existing(await records.find(id, { known: nested(sent) }), { noun }, id);
  const seen = shownSettings(kind, now, nested(sent));
  const others = differing(table, sent, seen);
  const back = pick(before, (setting) => !(setting in others));
  const changes = pick(back, (setting) => setting in differing(table, back, seen));
  const left = Object.keys(sent).filter((setting) => setting in others || !(setting in before));
  let record = now;
  if (Object.keys(changes).length > 0) {
    log(now.name, `restores what ${noun} ${id} had before: ${namesOf(changes)}`);
    const known = { ...situation.outputs, ...fieldsIn(table, now) };
    const change = { ...situation, known, fields: nested(changes) as Partial<Fields>, onSave: () => {} };
    record = await kind.update(connection, change);
  }
  if (left.length === 0) closeNote(writtenBy(connection, noun, id));
  return { record, left };
}

/** Adds the settings that the kind also needs, and refuses a write that cannot work. */
export async function prepared<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  save: Save<T>,
): Promise<Properties> {
  return { ...save.settings, ...(await kind.beforeSave?.(connection, save)) };
}
