import type * as pulumi from "@pulumi/pulumi";
import { EmptyListError, InvalidInputError } from "../../sdk/errors";
import { fixedIn } from "../../sdk/records/fields";
import type { NamedRecord } from "../../sdk/records/listed";
import { claimChecked, isLeftToAdopter, refuseOtherId, refuseTakenName } from "../adoption/adoption";
import { cancelled } from "../cancellation";
import { isOtherAccount, isRecordedElsewhere, recordedService, refuseOtherAccount } from "../connection/account";
import { type Connection, configure, connect, currentCapabilities, readConfig } from "../connection/connection";
import { createNamed } from "../fields/drawnName";
import { changedIn, managedFields, managesOthersIn, newlyManagedIn } from "../fields/managed";
import { changesOwnInputs, checkRecordInputs, ownInputs } from "../fields/recordInputs";
import { log } from "../log";
import { lastWrite, newWrite, writeOutput } from "../machine/lastWrite";
import { forgetWrite } from "../machine/unfinishedWrite";
import { isDeletedHere, noteDeletion } from "../ownership/deletions";
import { adoptsAgain, forgetAdopter, noteWriter, recordAdopter, recordedAs } from "../ownership/lastAdopter";
import { LIST_MAX_AGE_MS, locate } from "../ownership/location";
import { oneAtATime } from "../ownership/oneAtATime";
import { adoptAlone, claimCompared, ownerOf, ownerOfNew } from "../ownership/owners";
import { type Properties, pick, UNKNOWN } from "../properties";
import { explainAbsence, keepUnproven, readAbsent, withDropAdvice } from "./absent";
import { adoptRecord, type Matched, takeOverOwn } from "./matching";
import { fieldsToCreate, fieldsToSave, toOutputs, unseenOutputs } from "./outputs";
import type { RecordKind, Save, Situation, Unsure } from "./recordKind";
import { announceUnfinished, lookAgain, noteChange } from "./unfinished";

/** Handlers that also return the record, for handlers that build on them. */
export interface RecordHandlers<T> extends Required<pulumi.dynamic.ResourceProvider> {
  create(inputs: Properties): Promise<Created<T>>;
  /**
   * The record is absent if RunPod does not have it, or if its replies do not prove whether it
   * exists.
   */
  read(id: string, outputs: Properties): Promise<pulumi.dynamic.ReadResult & { readonly record?: T | undefined }>;
  /** The record is absent if it was not read. */
  update(id: string, outputs: Properties, inputs: Properties): Promise<Updated<T>>;
}

/** A record that was just created or adopted. */
export interface Created<T> {
  readonly id: string;
  readonly outs: Properties;
  readonly record: T;
}

/** The result of an update. */
export interface Updated<T> {
  readonly outs: Properties;
  readonly record: T | undefined;
}

/**
 * Returns the handlers of one kind of resource. Each handler reads the record from RunPod, makes
 * the missing changes, and returns the result.
 */
export function recordHandlers<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
): RecordHandlers<T> {
  return {
    configure,

    async check(oldInputs: Properties, newInputs: Properties) {
      const { inputs, problems } = checkRecordInputs(kind, oldInputs, newInputs, readConfig);
      const capabilities = currentCapabilities();
      for (const notice of kind.notices?.(oldInputs, inputs, { capabilities, readConfig }) ?? []) {
        log(shownName(kind.noun, inputs), `warning: ${notice}`);
      }
      return claimChecked(oldInputs, newInputs, { inputs, problems });
    },

    diff: (id, outputs: Properties, inputs: Properties) => diff(kind, { id, outputs, inputs }),
    create: (inputs) => create(kind, inputs),
    read: (id, outputs: Properties) => read(kind, id, outputs),
    update: (id, outputs, inputs) => update(kind, { id, outputs, inputs }),
    delete: (id, outputs: Properties) => remove(kind, id, outputs),
  };
}

/** Returns the name by which messages refer to a record that may not have a name yet. */
function shownName(noun: string, { name, __automaticName, adoptId }: Properties): string {
  const known = [name, __automaticName, adoptId].find((each) => typeof each === "string" && each !== UNKNOWN);
  return String(known ?? noun);
}

/** The output that triggers a replacement when the record moves to another account. */
export const ACCOUNT = "__account";

async function diff<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
): Promise<pulumi.dynamic.DiffResult> {
  const { id, outputs, inputs } = situation;
  const location = await locate(kind.noun, id, outputs, kind.records);
  if (location === "moved") return { changes: true, replaces: [ACCOUNT] };
  refuseOtherId(kind.one, id, inputs);
  claimCompared(kind.noun, id, ownerOf(outputs));
  const changed = changedFields(kind, outputs, inputs);
  const replaces = [
    ...fixedIn(kind.table, outputs, inputs).filter((field) => changed.includes(field)),
    ...unchangeableIn(kind, changed, outputs, inputs),
  ];
  if (replaces.length > 0) return { changes: true, replaces };
  const isUnseen = announceUnfinished(kind.noun, situation);
  const isAdoptedAgain = adoptsAgain(recordedAs(kind.noun, situation), ownerOf(outputs), inputs);
  if (location === "redirected") return { changes: true };
  const leftover = kind.leftover?.(recordedService(outputs) ?? "", situation);
  if (leftover) {
    log(String(outputs.name ?? id), leftover.text);
    return { changes: true };
  }
  const isRecordedOtherwise = managesOthersIn(kind.table, outputs, inputs) || changesOwnInputs(kind, outputs, inputs);
  if (isUnseen || isAdoptedAgain) return { changes: true };
  // If `changes` is missing, the engine compares the inputs itself and shows each field.
  return changed.length > 0 || isRecordedOtherwise ? {} : { changes: false };
}

/**
 * Returns the changed fields that the management API cannot change.
 * @throws InvalidInputError if the replacement would need a different name
 */
function unchangeableIn<T extends NamedRecord, Fields extends object>(
  { hasUniqueNames, noun, unchangeable }: RecordKind<T, Fields>,
  changed: readonly string[],
  outputs: Properties,
  inputs: Properties,
): string[] {
  const capabilities = currentCapabilities();
  const { fields = [], sameName = "" } = (capabilities && unchangeable?.(capabilities)) ?? {};
  const found = changed.filter((field) => fields.includes(field));
  const keepsName = hasUniqueNames && inputs.__automaticName === undefined && !changed.includes("name");
  const [property] = found;
  if (property === undefined || !keepsName) return found;
  throw new InvalidInputError(`the change of ${noun} "${outputs.name}"`, [{ property, message: sameName }]);
}

/**
 * Returns the fields that differ. An automatic name does not count as a difference, because its
 * random digits may have been replaced when the record was created.
 */
function changedFields<T extends NamedRecord, Fields extends object>(
  { table, savesAutomaticName }: RecordKind<T, Fields>,
  outputs: Properties,
  inputs: Properties,
): string[] {
  const isNameSaved = savesAutomaticName || inputs.__automaticName === undefined;
  return changedIn(table, outputs, inputs).filter((field) => field !== "name" || isNameSaved);
}

/** Returns the fields that an update changes. Makes no request. */
export function changedByUpdate<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  service: string,
  situation: Situation,
  unsure?: Unsure<T>,
): string[] {
  const leftover = kind.leftover?.(service, situation);
  const again = unsure && kind.leftover?.(service, { ...situation, outputs: unsure.shown });
  const fields = [leftover, again].flatMap((each) => each?.field ?? []);
  const differing = changedFields(kind, situation.outputs, situation.inputs);
  return [...new Set([...differing, ...(unsure?.changed ?? []), ...fields])];
}

const LOOKS_AGAIN = "If a second read does not find it either, it counts as deleted. That takes up to 15 s";

async function read<T extends NamedRecord, Fields extends object>(
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
  const options = {
    maxAgeMs: LIST_MAX_AGE_MS,
    known: outputs,
    signal: cancelled,
    onMissing: () => log(String(outputs.name ?? id), `the service does not show ${kind.noun} ${id}. ${LOOKS_AGAIN}`),
  };
  const record = await kind
    .records(connection.client)
    .find(id, options)
    .catch((error: unknown) => {
      if (!(error instanceof EmptyListError)) throw error;
      // Another account may well have no records of this kind.
      if (isOtherAccount(outputs, connection.account, id)) return undefined;
      keepUnproven(kind.noun, id, outputs, error);
      return "unproven" as const;
    });
  if (record === "unproven") return { id, props: outputs, inputs: inputsOf(outputs) };
  if (!record) return readAbsent(kind.noun, id, outputs, connection);
  const fields = kind.toFields(record, outputs);
  const inputs = inputsOf(fields);
  // Values that an interrupted run or someone else has saved also count as changes, because the
  // workers may not be using them yet.
  const changed = changedIn(kind.table, outputs, fields);
  const circumstances = { connection, owner: ownerOf(outputs), before: outputs, changed, write: lastWrite(outputs) };
  // An import has no outputs, so every field is new to the stack.
  const isNew = managed === undefined || outputs.__mustExist !== undefined;
  const props = {
    ...toOutputs(kind, record, { ...outputs, ...inputs }, circumstances),
    ...(isNew ? {} : kind.refreshedOutputs?.(connection.account.service, record, { id, outputs, inputs })),
  };
  const { __managed, ...others } = props;
  return { id, props: { ...others, __managed: outputs.__managed }, inputs, record };
}

async function create<T extends NamedRecord, Fields extends object>(kind: RecordKind<T, Fields>, inputs: Properties) {
  const connection = connect();
  const owner = ownerOfNew(inputs);
  const { adoptId, name = inputs.__automaticName } = inputs;
  const make = async (): Promise<Matched<T>> =>
    adoptId === undefined
      ? { record: await createRecord(kind, connection, inputs, owner) }
      : await adoptAlone(kind.noun, String(adoptId), owner, () => adoptRecord(kind, connection, inputs, owner));
  const { record, judge } = await oneAtATime(`${kind.noun} ${name}`, make);
  const changed = Object.keys(kind.table);
  const write = adoptId === undefined ? "" : newWrite();
  const saw = toOutputs(kind, record, inputs, { connection, owner, before: {}, changed, write });
  const outs = { ...saw, ...(await judge?.(saw, record)) };
  const { id } = record;
  if (adoptId !== undefined) recordAdopter(recordedAs(kind.noun, { id, outputs: outs }), owner);
  return { id, outs, record };
}

/** Creates the record under the program's name, or under a generated name. */
async function createRecord<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  inputs: Properties,
  owner: string,
): Promise<T> {
  const { name, __automaticName } = inputs;
  const changed = Object.keys(inputs);
  const save = { id: "", name: name ?? __automaticName, outputs: {}, inputs, changed, isSaved: true };
  await kind.beforeSave?.(connection, { purpose: "create", ...save });
  const refuse = (existing: readonly T[], name: unknown) => refuseTakenName(kind.one, existing, name);
  const takeOver = (record: T) => takeOverOwn(kind, connection, record, inputs, owner);
  const make = (name: unknown, onNameTaken: (existing: readonly T[]) => T) => {
    const names = {
      onNameTaken,
      takeOver: async (record: T) => (await takeOver(record)) ?? refuse([record], name),
    };
    return kind.create(connection, fieldsToCreate(kind, { ...inputs, name }), names, inputs);
  };
  if (!kind.hasUniqueNames || __automaticName === undefined) return make(name, (existing) => refuse(existing, name));
  const place = { service: connection.account.service, noun: kind.noun };
  return createNamed(place, inputs, { create: make, takeOver, refuse });
}

async function update<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
): Promise<Updated<T>> {
  const { outputs, inputs } = situation;
  const connection = connect();
  const { record, changed, isWritten } = await bringUpToDate(kind, connection, situation);
  const write = isWritten ? newWrite() : lastWrite(outputs);
  const circumstances = { connection, owner: ownerOf(outputs), before: outputs, changed, write };
  const outs = record
    ? toOutputs(kind, record, inputs, circumstances)
    : { ...unseenOutputs(kind, outputs, inputs), ...writeOutput(write) };
  const [own, owner] = [recordedAs(kind.noun, situation), ownerOf(outputs)];
  if (adoptsAgain(own, owner, inputs)) recordAdopter(own, owner);
  else if (isWritten) noteWriter(own, owner);
  return { outs, record };
}

/** The outcome of an update. */
interface Result<T> {
  /** The record, or `undefined` if it was not read. */
  readonly record?: T | undefined;
  readonly changed: readonly string[];
  /** `true` if state now describes the record as it is, regardless of what earlier runs wrote. */
  readonly isWritten: boolean;
}

/**
 * Saves the changes. If there are no changes, the record is read only in two cases: after a write
 * whose outcome is unknown, and if the account or the queue's URL differs from the one in state. In
 * the second case, state may change only after the record has been seen there.
 */
async function bringUpToDate<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  situation: Situation,
): Promise<Result<T>> {
  const { id, outputs, inputs } = situation;
  const records = kind.records(connection.client);
  try {
    const unsure = await lookAgain(kind, connection, situation);
    const changed = changedByUpdate(kind, connection.account.service, situation, unsure);
    const { restored = {} } = unsure ?? {};
    const isNewlyManaged = newlyManagedIn(kind.table, outputs, inputs).length > 0;
    const isSaved = changed.length > 0 || isNewlyManaged || Object.keys(restored).length > 0;
    const save: Save<T> = { purpose: "update", name: outputs.name, ...situation, changed, isSaved };
    const { fields: repairs = {} } = (await kind.beforeSave?.(connection, save)) ?? {};
    if (!isSaved && Object.keys(repairs).length === 0) {
      if (unsure) return { record: unsure.record, changed, isWritten: true };
      const isElsewhere = isRecordedElsewhere(outputs, connection, id);
      return { record: isElsewhere ? await records.get(id, { known: outputs }) : undefined, changed, isWritten: false };
    }
    const fields = { ...fieldsToSave(kind, inputs), ...restored, ...repairs };
    noteChange(kind, connection, situation, outputs, fields);
    const change = { id, inputs, outputs: unsure?.outputs ?? outputs, fields, unsure };
    // This must not run at the same time as a create with the same name, because each of them must
    // see the other's record.
    const record = await oneAtATime(`${kind.noun} ${inputs.name}`, () => kind.update(connection, change));
    return { record, changed, isWritten: true };
  } catch (error) {
    throw await explainAbsence(error, kind.noun, id, outputs, connection, records);
  }
}

async function remove<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  id: string,
  outputs: Properties,
): Promise<void> {
  if (await isLeftToAdopter(kind.noun, id, outputs)) return;
  const connection = connect();
  const onAbsent = () => {
    if (!isDeletedHere(id)) refuseOtherAccount(kind.noun, outputs, connection, id);
  };
  await noteDeletion(id, async () => {
    await kind.delete(connection, id, outputs, onAbsent).catch((error: unknown) => {
      throw withDropAdvice(error, kind.noun);
    });
    forgetAdopter(recordedAs(kind.noun, { id, outputs }));
    forgetWrite({ service: connection.account.service, noun: kind.noun, id });
  });
}
