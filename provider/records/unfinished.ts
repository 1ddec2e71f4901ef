import { sleep, systemClock } from "../../sdk/contract/clock";
import { LIST_LAG_MS } from "../../sdk/contract/limits";
import type { NamedRecord } from "../../sdk/records/listed";
import { existing } from "../../sdk/records/reads";
import { compareForAdoption } from "../adoption/comparison";
import { type Connection, currentPlace } from "../connection/connection";
import { changedIn } from "../fields/managed";
import { withoutZero } from "../fields/withoutZero";
import { log } from "../log";
import { noteUnfinished, openWrite, type UnfinishedWrite, type Written } from "../machine/unfinishedWrite";
import { changedByOtherAt, noteWriter, recordedAs } from "../ownership/lastAdopter";
import { ownerOf } from "../ownership/owners";
import { objectOrEmpty, type Properties, pick } from "../properties";
import { fieldsToSave } from "./outputs";
import type { RecordKind, Situation, Unsure } from "./recordKind";

/*
 * Writes whose end nobody saw. State does not tell what the record has then, so an update compares
 * the program with the record itself, as an adoption does.
 */

/**
 * Returns `true` if an update has to verify a write that this machine has sent and that state does
 * not contain. The finding is logged. Makes no request.
 */
export function announceUnfinished(noun: string, { id, outputs }: Situation): boolean {
  const apiKey = currentPlace()?.account.apiKey;
  const record = recordedAs(noun, { id, outputs });
  // State also lacks the writes of the other resource, so the other resource is named first.
  const isAdopted = changedByOtherAt(record, ownerOf(outputs)) !== undefined;
  if (!isAdopted && openWrite({ ...record, apiKey }, outputs) === undefined) return false;
  const reason = isAdopted
    ? `another resource has adopted ${noun} ${id} on this machine and may have changed it`
    : `an earlier run on this machine may not have completed its change of ${noun} ${id}`;
  log(String(outputs.name ?? id), `${reason}: up verifies the settings of the ${noun}`);
  return true;
}

/** Returns what identifies a record's writes on this machine, with the account's key. */
function writtenBy({ account }: Connection, noun: string, id: string): Written {
  return { service: account.service, apiKey: account.apiKey, noun, id };
}

/** Notes the fields that are about to be saved and that differ from state. */
export function noteChange<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  { id, outputs }: Situation,
  before: Properties,
  fields: object,
): void {
  const { table, hiddenFields = [] } = kind;
  const shown = pick({ ...fields }, (field) => !hiddenFields.includes(field));
  const changed = changedIn(table, before, shown);
  const [sent, former] = [shown, before].map((each) => pick(each, (field) => changed.includes(field)));
  noteUnfinished(writtenBy(connection, kind.noun, id), outputs, sent ?? {}, former ?? {});
  if (ownerOf(outputs) !== "") noteWriter(recordedAs(kind.noun, { id, outputs }), ownerOf(outputs));
}

/**
 * Reads the record again and compares it with the program, if an earlier write's outcome is unknown
 * or if another resource may have written to the record.
 * @returns `undefined` if there was no such write
 */
export async function lookAgain<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  { id, outputs, inputs }: Situation,
): Promise<Unsure<T> | undefined> {
  const open = openWrite(writtenBy(connection, kind.noun, id), outputs) ?? writeOfAdopter(kind.noun, { id, outputs });
  if (!open) return undefined;
  // For a while, RunPod may still show the record as it was before the write.
  await sleep(systemClock, Math.min(Math.max(open.at + LIST_LAG_MS - Date.now(), 0), LIST_LAG_MS));
  const known = kind.known?.(fieldsToSave(kind, inputs));
  const found = await kind.records(connection.client).find(id, { known });
  const record = existing(found, { noun: kind.noun }, id);
  const { before, changed } = compareForAdoption(kind, record, inputs, connection.capabilities);
  const isNameSaved = kind.savesAutomaticName || inputs.__automaticName === undefined;
  return {
    record,
    shown: before,
    outputs: {
      ...outputs,
      ...before,
      // Variables that the program no longer sets are now only in state.
      ...(outputs.env !== undefined && { env: { ...objectOrEmpty(outputs.env), ...objectOrEmpty(before.env) } }),
    },
    sent: open.sent,
    changed: changed.filter((field) => field !== "name" || isNameSaved),
    restored: restored(kind, open, before, inputs),
  };
}

/**
 * Returns the write of another resource that has adopted the record. The settings that it wrote are
 * not known.
 */
function writeOfAdopter(noun: string, situation: Omit<Situation, "inputs">): UnfinishedWrite | undefined {
  const at = changedByOtherAt(recordedAs(noun, situation), ownerOf(situation.outputs));
  return at === undefined ? undefined : { sent: {}, former: {}, at };
}

/**
 * Returns the previous values of the fields that the program does not set and that still have the
 * value from the earlier run. Variables are not included, because they are removed by name.
 */
function restored<T extends NamedRecord, Fields extends object>(
  { table }: RecordKind<T, Fields>,
  { sent, former: noted }: UnfinishedWrite,
  now: Properties,
  inputs: Properties,
): Properties {
  const former = withoutZero(noted);
  const left = pick(sent, (field) => field !== "env" && field !== "name" && !(field in inputs) && field in former);
  const others = changedIn(table, now, left);
  return pick(former, (field) => field in left && !others.includes(field));
}
