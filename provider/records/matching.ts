import { NotFoundError, RejectedError } from "../../sdk/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import { describeChanges, existingAdoptee, NO_CHANGE } from "../adoption/adoption";
import { compareForAdoption } from "../adoption/comparison";
import type { Connection } from "../connection/connection";
import { log } from "../log";
import { forgetWrite } from "../machine/unfinishedWrite";
import { recordAdopter, recordAdopting, wasAdoptedFrom } from "../ownership/lastAdopter";
import { adoptAlone, claimsOfOthers } from "../ownership/owners";
import { type Properties, pick } from "../properties";
import { fieldsToSave } from "./outputs";
import type { JudgeChange, RecordKind, Save } from "./recordKind";
import { noteChange } from "./unfinished";

/*
 * Records that exist and are in no state: what a program adopts, and what an interrupted run has
 * left.
 */

/**
 * A record that matches the program, and the function that judges the change. The function is
 * missing if there is nothing to judge.
 */
export interface Matched<T> {
  readonly record: T;
  readonly judge?: JudgeChange | undefined;
}

/**
 * Takes over a record that an interrupted run created for this resource. Returns `undefined` if
 * another resource has adopted the record since, or if the record cannot be changed to match the
 * program.
 */
export async function takeOverOwn<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  record: T,
  inputs: Properties,
  owner: string,
): Promise<T | undefined> {
  const { account, capabilities } = connection;
  const adoptee = { service: account.service, noun: kind.noun, id: record.id };
  const isTaken = claimsOfOthers(record.id, owner).length > 0 || wasAdoptedFrom(adoptee, "");
  const { name, ...fields } = inputs;
  if (isTaken || compareForAdoption(kind, record, fields, capabilities).refusal !== undefined) return undefined;
  const own = await adoptAlone(kind.noun, record.id, owner, () =>
    matchProgram(kind, connection, record, fields, owner, "take over"),
  );
  recordAdopter(adoptee, owner);
  // If the engine is killed now, the next run takes the record over again.
  forgetWrite(adoptee);
  return own.record;
}

/** Adopts the record with the program's `adoptId` and changes it to match the program. */
export async function adoptRecord<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  inputs: Properties,
  owner: string,
): Promise<Matched<T>> {
  const id = String(inputs.adoptId);
  await kind.beforeAdoption?.(connection, { id, outputs: {}, inputs });
  const known = kind.known?.(fieldsToSave(kind, inputs));
  const found = existingAdoptee(await kind.records(connection.client).find(id, { known }), kind.noun, id);
  return matchProgram(kind, connection, found, inputs, owner, "adopt");
}

/**
 * Changes a record that is not in any state to match the program.
 * @throws NotFoundError if the record must not be adopted
 */
async function matchProgram<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  found: T,
  inputs: Properties,
  owner: string,
  purpose: Save<T>["purpose"],
): Promise<Matched<T>> {
  const { noun, table } = kind;
  const { id } = found;
  const { before, changed, refusal } = compareForAdoption(kind, found, inputs, connection.capabilities);
  if (refusal !== undefined) throw new NotFoundError(refusal);
  const situation = { id, outputs: before, inputs };
  const leftover = kind.leftover?.(connection.account.service, situation);
  const isChanged = changed.length > 0 || leftover !== undefined;
  const save: Save<T> = { purpose, name: found.name, ...situation, changed, isSaved: isChanged, adoptee: found };
  const { fields: repairs = {}, judge, onRejected } = (await kind.beforeSave?.(connection, save)) ?? {};
  const isSaved = isChanged || Object.keys(repairs).length > 0;
  const fields = { ...fieldsToSave(kind, inputs), ...repairs };
  if (isSaved) {
    recordAdopting({ service: connection.account.service, noun, id }, owner);
    noteChange(kind, connection, { id, outputs: {}, inputs }, before, fields);
  }
  const saving = isSaved
    ? kind.update(connection, { ...situation, fields, unsure: { sent: {}, changed } })
    : Promise.resolve(found);
  const record = await saving.catch((error: unknown) => {
    if (error instanceof RejectedError) onRejected?.();
    throw error;
  });
  const applied = kind.appliedUnseen?.(found, inputs);
  const [shownBefore, after] = [before, kind.toFields(record, inputs)].map((each) =>
    pick(each, (field) => field !== applied?.field),
  );
  const changes = describeChanges(table, shownBefore ?? {}, after ?? {}, inputs);
  const isOnlyApplied = changes === NO_CHANGE && (leftover ?? applied) !== undefined;
  const told = [...(isOnlyApplied ? [] : [changes]), leftover?.text ?? [], applied?.done ?? []].flat();
  log(record.name, `adopted ${noun} ${id}; ${told.join("; ")}`);
  return { record, judge };
}
