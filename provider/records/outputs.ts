import type { NamedRecord } from "../../sdk/records/listed";
import { accountRecord } from "../connection/account";
import { fieldsIn, managedRecord } from "../fields/managed";
import { ownInputs } from "../fields/recordInputs";
import { lastWrite, writeOutput } from "../machine/lastWrite";
import { type Properties, pick } from "../properties";
import type { Circumstances, RecordKind } from "./recordKind";

/*
 * The border between the engine's properties and the client's types. `check` has converted the
 * inputs to normal form, field by field, so they have the types of the client's fields.
 */

/**
 * Returns the settings of a new record. All of them are set, because `check` has rejected
 * incomplete inputs.
 */
export function fieldsToCreate<T extends NamedRecord, Fields extends object>(
  { table }: RecordKind<T, Fields>,
  inputs: Properties,
): Fields {
  return fieldsIn(table, inputs) as Fields;
}

/** Returns the fields of the record that the program manages, in normal form. */
export function fieldsToSave<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  { name, ...others }: Properties,
): Partial<Fields> {
  const isNameSaved = name !== undefined && (kind.savesAutomaticName || others.__automaticName === undefined);
  return fieldsToCreate(kind, isNameSaved ? { name, ...others } : others);
}

/**
 * Returns all fields of the record as RunPod returned them. Leaving out fields would hide drift.
 */
export function toOutputs<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  record: T,
  inputs: Properties,
  circumstances: Circumstances,
): Properties {
  return {
    ...kind.toFields(record, inputs),
    ...kind.furtherOutputs?.(record, circumstances),
    ...ownInputs(kind, inputs),
    ...managedRecord(kind.table, inputs),
    __account: accountRecord(circumstances.connection.account, record.id),
    __owner: circumstances.owner,
    ...writeOutput(circumstances.write),
  };
}

/** Returns the outputs of a record that was not read. Its fields keep their recorded values. */
export function unseenOutputs<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  outputs: Properties,
  inputs: Properties,
): Properties {
  const { __account, __owner } = outputs;
  const own = ownInputs(kind, outputs);
  return {
    ...pick(outputs, (name) => !name.startsWith("__") && !(name in own)),
    ...ownInputs(kind, inputs),
    ...managedRecord(kind.table, inputs),
    ...pick(outputs, (name) => kind.lastingOutputs?.includes(name) === true),
    __account,
    __owner,
    ...writeOutput(lastWrite(outputs)),
  };
}
