import { EmptyListError } from "../../sdk/errors/errors";
import { isHiddenAt } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { isOtherAccount, noteProven } from "../connection/account";
import { type Connection, connect } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { log } from "../engine/log";
import { type Properties, pick } from "../engine/properties";
import { changedIn, managedFields } from "../fields/managed";
import { ownInputs } from "../fields/recordInputs";
import { differing, fieldOf } from "../fields/settings";
import { type Note, openNote } from "../machine/note";
import { lastWrite, newWrite, ownerOf } from "../machine/stamp";
import { LIST_MAX_AGE_MS } from "../ownership/location";
import { keepUnproven, readAbsent } from "./absent";
import { refreshedFields, shownFields, toOutputs } from "./outputs";
import type { RecordKind } from "./recordKind";
import { shownSettings, writtenBy } from "./write";

const LOOKS_AGAIN = "If a second read does not find it either, it counts as deleted. That takes up to 15 s";

/** Reads a record for a refresh, an import or a read by id. */
export async function read<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  id: string,
  outputs: Properties,
) {
  const connection = connect();
  const managed = managedFields(kind.table, outputs);
  const inputsOf = (fields: Properties) => ({
    ...pick(fields, (field) => managed?.includes(field) ?? false),
    ...ownInputs(kind, outputs),
  });
  const record = await findRecord(kind, connection, id, outputs);
  if (record === "unproven") return { id, props: outputs, inputs: inputsOf(outputs) };
  if (!record) return readAbsent(kind.noun, id, outputs, connection);
  if (outputs.__account !== undefined) noteProven(connection.account);
  const fields = refreshedFields(kind, id, outputs, shownFields(kind, record, outputs));
  const changed = changedIn(kind.table, outputs, fields);
  const open = openNote(writtenBy(connection, kind.noun, id), outputs);
  const isOther = open ? isSettled(kind, connection, open, record) : changed.length > 0;
  // Values that an unfinished deletion or recycle left behind are not what anyone declared.
  const isPassing = open?.purpose === "deletion" || open?.purpose === "recycle";
  const left = isPassing && !isOther ? pick(open.before, (field) => managed?.includes(field) ?? false) : {};
  const inputs = { ...inputsOf(fields), ...left };
  const circumstances = {
    connection,
    owner: ownerOf(outputs),
    before: outputs,
    settings: undefined,
    changed,
    write: isOther ? newWrite() : lastWrite(outputs),
  };
  // An import has no outputs, so every field is new to the stack.
  const isNew = managed === undefined || outputs.__mustExist !== undefined;
  const { __managed, ...props } = {
    ...toOutputs(kind, record, { ...outputs, ...inputs }, circumstances),
    ...fields,
    ...(isNew ? {} : kind.refreshedOutputs?.(record, { id, outputs, inputs })),
  };
  return { id, props: { ...props, __managed: outputs.__managed }, inputs, record };
}

/** Returns the record, or `"unproven"` if the lists do not prove whether it exists. */
function findRecord<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { client, account }: Connection,
  id: string,
  outputs: Properties,
): Promise<T | "unproven" | undefined> {
  const options = {
    maxAgeMs: LIST_MAX_AGE_MS,
    known: outputs,
    signal: cancelled,
    onMissing: () => log(String(outputs.name ?? id), `the service does not show ${kind.noun} ${id}. ${LOOKS_AGAIN}`),
  };
  const finding: PromiseLike<T | undefined> = kind.records(client).find(id, options);
  return Promise.resolve(finding).catch((error: unknown) => {
    if (!(error instanceof EmptyListError)) throw error;
    // Another account may well have no records of this kind.
    if (isOtherAccount(outputs, account, id)) return undefined;
    keepUnproven(kind.noun, id, outputs, error);
    return "unproven" as const;
  });
}

/** Returns `true` if the record shows a value that differs from what an unfinished write sent. */
function isSettled<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { capabilities: { api } }: Connection,
  { isSealed, sent }: Note,
  record: T,
): boolean {
  const isShown = (setting: string) => {
    const field = kind.table[fieldOf(setting)];
    return field !== undefined && !isHiddenAt(field, api);
  };
  // Settings that cannot be read cannot be verified, so the values in state are used, which are now
  // those in service.
  const others = differing(kind.table, pick(sent, isShown), shownSettings(kind, record, sent));
  return isSealed === true || Object.keys(others).length > 0;
}
