import { fixedIn } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { accountRecord } from "../connection/account";
import { log } from "../engine/log";
import { isObject, type Properties, pick } from "../engine/properties";
import { fieldsIn, managedRecord } from "../fields/managed";
import { ownInputs } from "../fields/recordInputs";
import { fieldOf, flat } from "../fields/settings";
import { lastWrite, ownerOf, stampOutput } from "../machine/stamp";
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

/**
 * Returns the fields that a record shows. A field that the service did not show, and whose last
 * value is not known, is left out.
 */
export function shownFields<T extends NamedRecord, Fields extends object>(
  kind: Pick<RecordKind<T, Fields>, "toFields">,
  record: T,
  known: Properties,
): Properties {
  const { unshown = [] } = record;
  const fields = kind.toFields(record, known);
  return pick(fields, (name) => fields[name] !== undefined && !unshown.includes(name));
}

/** Returns the outputs of a record that was created, written or read. */
export function toOutputs<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  record: T,
  inputs: Properties,
  circumstances: Circumstances,
): Properties {
  const { connection, owner, write } = circumstances;
  return {
    ...fieldOutputs(kind, shownFields(kind, record, inputs), inputs, circumstances),
    ...kind.furtherOutputs?.(record, circumstances),
    ...ownInputs(kind, inputs),
    ...managedRecord(kind.table, inputs),
    __account: accountRecord(connection.account, record.id),
    ...stampOutput(owner, write),
  };
}

/**
 * Returns the fields to record. A field that this run did not write keeps its recorded value, so
 * that a change by someone else stays visible until a refresh shows it. A field that cannot change
 * in place has the program's value, whatever a response says.
 */
function fieldOutputs<T extends NamedRecord, Fields extends object>(
  { table, staysUnset }: RecordKind<T, Fields>,
  shown: Properties,
  inputs: Properties,
  { before, settings }: Circumstances,
): Properties {
  const written = settings && Object.keys(settings);
  // The field belongs to the alternative that the program no longer uses, such as the image after a
  // change to a template.
  const isLeft = (name: string) => !(name in inputs) && staysUnset?.(name, inputs) === true;
  const isOwn = (name: string) => !Object.hasOwn(table, fieldOf(name));
  const isTaken = (name: string) =>
    written === undefined || before[name] === undefined || written.includes(name) || isLeft(name) || isOwn(name);
  const recorded = fieldsIn(table, before);
  const fields = Object.fromEntries(
    Object.keys({ ...recorded, ...shown })
      .filter((name) => name in shown || name in inputs)
      .map((name) => [name, isTaken(name) ? (shown[name] ?? inputs[name]) : recorded[name]]),
  );
  const fixed = fixedIn(table, fields, inputs).map((name) => [name, inputs[name]] as const);
  const env = isObject(shown.env) && { env: variables(flat(before), flat(shown), flat(inputs), isTaken) };
  return { ...fields, ...env, ...Object.fromEntries(fixed) };
}

/** Returns the recorded value of each variable that the program sets. */
function variables(
  before: Properties,
  shown: Properties,
  inputs: Properties,
  isTaken: (setting: string) => boolean,
): Properties {
  const names = Object.keys(inputs).filter((name) => fieldOf(name) === "env");
  const values = names.map((name) => [
    name.slice("env.".length),
    isTaken(name) || before[name] === undefined ? (shown[name] ?? inputs[name]) : before[name],
  ]);
  return Object.fromEntries(values);
}

/** Returns the outputs of a record that was not read. Its fields keep their recorded values. */
export function unseenOutputs<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  outputs: Properties,
  inputs: Properties,
): Properties {
  const { __account } = outputs;
  const own = ownInputs(kind, outputs);
  return {
    ...pick(outputs, (name) => !name.startsWith("__") && !(name in own)),
    ...ownInputs(kind, inputs),
    ...managedRecord(kind.table, inputs),
    ...pick(outputs, (name) => kind.lastingOutputs?.includes(name) === true),
    __account,
    ...stampOutput(ownerOf(outputs), lastWrite(outputs)),
  };
}

/**
 * Returns the fields that a refresh records. A field that cannot change in place keeps its value: a
 * response that shows another one is named in a warning, because only a changed program replaces a
 * record.
 */
export function refreshedFields<T extends NamedRecord, Fields extends object>(
  { noun, table }: RecordKind<T, Fields>,
  id: string,
  outputs: Properties,
  shown: Properties,
): Properties {
  const fixed = fixedIn(table, outputs, shown);
  for (const field of fixed) {
    log(
      String(outputs.name ?? id),
      `warning: the service shows ${field} ${JSON.stringify(shown[field])} for ${noun} ${id}, but it was created with ` +
        `${JSON.stringify(outputs[field])}, which cannot change. State keeps ${JSON.stringify(outputs[field])}`,
    );
  }
  return { ...shown, ...pick(outputs, (name) => fixed.includes(name)) };
}
