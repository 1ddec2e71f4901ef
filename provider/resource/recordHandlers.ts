import type * as pulumi from "@pulumi/pulumi";
import { InvalidInputError, NotFoundError } from "../../sdk/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import { cancelled } from "../cancellation";
import { accountRecord, recordedService, refuseOtherAccount } from "../connection/account";
import { type Connection, configure, connect, currentCapabilities } from "../connection/connection";
import { log, waitLogger } from "../log";
import type { Properties } from "../properties";
import { explainAbsence, readAbsent } from "./absent";
import { compareForAdoption } from "./adoptable";
import {
  claimChecked,
  describeChanges,
  existingAdoptee,
  isLeftToAdopter,
  refuseOtherId,
  refuseTakenName,
} from "./adoption";
import { createNamed } from "./drawnName";
import { forgetAdopter, recordAdopter, wasAdoptedFrom } from "./lastAdopter";
import { locate } from "./location";
import { changedIn, fieldsInRecord, managedIn, managedRecord, managesOthersIn, newlyManagedIn } from "./managed";
import { oneAtATime } from "./oneAtATime";
import { adoptAlone, claimCompared, claimsOfOthers, ownerOf, ownerOfNew } from "./owners";
import { checkRecordInputs, ownInputs } from "./recordInputs";
import type { RecordKind } from "./recordKind";
import { LIST_MAX_AGE_MS } from "./sharedLists";

/** The inputs that may change without a change at the service. */
const CONTROL_INPUTS = ["deleteTimeout", "removeUnknownEnv", "__secretInputs"];

/** Returns the handlers of one kind of resource: observe the service, make the missing changes, return the result. */
export function recordHandlers<T extends NamedRecord>(kind: RecordKind<T>): Required<pulumi.dynamic.ResourceProvider> {
  return {
    configure,

    async check(oldInputs: Properties, newInputs: Properties) {
      return claimChecked(kind.noun, oldInputs, newInputs, checkRecordInputs(kind, oldInputs, newInputs));
    },

    diff: (id, outputs: Properties, inputs: Properties) => diff(kind, id, outputs, inputs),

    async create(inputs: Properties) {
      const connection = connect();
      const owner = ownerOfNew(inputs);
      const { adoptId, name = inputs.__automaticName } = inputs;
      const make = () =>
        adoptId === undefined
          ? create(kind, connection, inputs, owner)
          : adoptAlone(kind.noun, String(adoptId), owner, () => adopt(kind, connection, inputs));
      const record = await oneAtATime(`${kind.noun} ${name}`, make);
      const changed = Object.keys(kind.table);
      const outs = toOutputs(kind, record, inputs, { connection, owner, before: {}, changed });
      const { id } = record;
      if (adoptId !== undefined) recordAdopter({ account: outs.__account, noun: kind.noun, id }, owner);
      return { id, outs };
    },

    read: (id, outputs: Properties) => read(kind, id, outputs),

    async update(id, outputs: Properties, inputs: Properties) {
      const connection = connect();
      const leftovers = kind.leftovers?.(connection.account.service, id, outputs, inputs);
      const changed = [...changedFields(kind, outputs, inputs), ...(leftovers ? [leftovers.field] : [])];
      const record = await bringUpToDate(kind, connection, id, outputs, inputs, changed);
      if (!record) return { outs: unseenOutputs(kind, outputs, inputs) };
      const owner = ownerOf(outputs);
      return { outs: toOutputs(kind, record, inputs, { connection, owner, before: outputs, changed }) };
    },

    delete: (id, outputs: Properties) => remove(kind, id, outputs),
  };
}

async function diff<T extends NamedRecord>(
  kind: RecordKind<T>,
  id: string,
  outputs: Properties,
  inputs: Properties,
): Promise<pulumi.dynamic.DiffResult> {
  const location = await locate(kind.noun, id, outputs, kind.records);
  if (location === "moved") {
    announceReplacement(kind, id, outputs);
    return { changes: true, replaces: ["__account"] };
  }
  refuseOtherId(kind.one, id, inputs);
  claimCompared(kind.noun, id, ownerOf(outputs));
  const changed = changedFields(kind, outputs, inputs);
  const replaces = [
    ...changed.filter((field) => kind.fixedFields.includes(field)),
    ...unchangeableIn(kind, changed, outputs, inputs),
  ];
  if (replaces.length > 0) {
    announceReplacement(kind, id, outputs);
    return { changes: true, replaces };
  }
  if (location === "redirected") return { changes: true };
  const leftovers = kind.leftovers?.(recordedService(outputs) ?? "", id, outputs, inputs);
  if (leftovers) {
    log(String(outputs.name ?? id), leftovers.text);
    return { changes: true };
  }
  const isRecordedOtherwise =
    managesOthersIn(kind.table, outputs, inputs) || CONTROL_INPUTS.some((input) => inputs[input] !== outputs[input]);
  // Without `changes`, the engine compares the inputs itself and shows each field.
  return changed.length > 0 || isRecordedOtherwise ? {} : { changes: false };
}

/**
 * Returns the changed fields that the management interface cannot change.
 * @throws InvalidInputError if the record that takes its place would need another name
 */
function unchangeableIn<T extends NamedRecord>(
  { hasUniqueNames, noun, unchangeable }: RecordKind<T>,
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

function announceReplacement<T extends NamedRecord>(kind: RecordKind<T>, id: string, outputs: Properties): void {
  if (kind.warnOfReplacement) log(String(outputs.name ?? id), kind.warnOfReplacement(id, outputs));
}

/** Returns the fields that differ. An automatic name does not: the service may have required other digits. */
function changedFields<T extends NamedRecord>({ table }: RecordKind<T>, outputs: Properties, inputs: Properties) {
  return changedIn(table, outputs, inputs).filter((field) => field !== "name" || inputs.__automaticName === undefined);
}

/** Returns the fields of the record that the program manages, in normal form. */
function managedFields<T extends NamedRecord>({ table }: RecordKind<T>, inputs: Properties): Properties {
  const { name, ...others } = managedIn(table, inputs);
  return name === undefined || inputs.__automaticName !== undefined ? others : { name, ...others };
}

async function read<T extends NamedRecord>(kind: RecordKind<T>, id: string, outputs: Properties) {
  const connection = connect();
  const record = await kind
    .records(connection.client)
    .find(id, { maxAgeMs: LIST_MAX_AGE_MS, known: outputs, signal: cancelled });
  if (!record) return readAbsent(kind.noun, id, outputs, connection);
  const fields = kind.toFields(record, outputs);
  const managed = fieldsInRecord(kind.table, outputs.__inputs);
  const inputs = {
    ...Object.fromEntries(Object.entries(fields).filter(([field]) => managed.includes(field))),
    ...ownInputs(kind, outputs),
  };
  // What an interrupted run has saved, or somebody else, is a change too: workers may not have it.
  const changed = changedIn(kind.table, outputs, fields);
  const circumstances = { connection, owner: ownerOf(outputs), before: outputs, changed };
  const props = {
    ...toOutputs(kind, record, { ...outputs, ...inputs }, circumstances),
    // An import has no outputs: every field is new to the stack.
    ...(outputs.__inputs === undefined || outputs.__mustExist
      ? {}
      : kind.refreshedOutputs?.(connection.account.service, record, outputs)),
  };
  return { id, props: { ...props, __inputs: outputs.__inputs }, inputs };
}

/** Creates the record under the program's name, or under one that is drawn. */
async function create<T extends NamedRecord>(
  kind: RecordKind<T>,
  connection: Connection,
  inputs: Properties,
  owner: string,
): Promise<T> {
  const fields = managedIn(kind.table, inputs);
  const refuse = (existing: readonly T[], name: unknown) => refuseTakenName(kind.one, existing, name);
  const make = (name: unknown, onNameTaken: (existing: readonly T[]) => T) =>
    kind.create(connection.client, { ...fields, name }, onNameTaken);
  const { name, __automaticName } = inputs;
  if (!kind.hasUniqueNames || __automaticName === undefined) return make(name, (existing) => refuse(existing, name));
  const place = { service: connection.account.service, noun: kind.noun };
  const takeOver = (record: T) => takeOverOwn(kind, connection, record, inputs, owner);
  return createNamed(place, inputs, { create: make, takeOver, refuse });
}

/**
 * Takes a record that an interrupted run of this resource has created. Returns `undefined` if another resource has adopted
 * it since, or if it cannot be changed to match the program.
 */
async function takeOverOwn<T extends NamedRecord>(
  kind: RecordKind<T>,
  connection: Connection,
  record: T,
  inputs: Properties,
  owner: string,
): Promise<T | undefined> {
  const { account, capabilities } = connection;
  const adoptee = { account: account.service, noun: kind.noun, id: record.id };
  const isTaken = claimsOfOthers(record.id, owner).length > 0 || wasAdoptedFrom(adoptee, "");
  const { name, ...fields } = inputs;
  if (isTaken || compareForAdoption(kind, record, fields, capabilities).refusal !== undefined) return undefined;
  const own = await adoptAlone(kind.noun, record.id, owner, () => matchProgram(kind, connection, record, fields));
  recordAdopter(adoptee, owner);
  return own;
}

/** Adopts the record with the program's `adoptId`, and changes it to match the program. */
async function adopt<T extends NamedRecord>(kind: RecordKind<T>, connection: Connection, inputs: Properties) {
  const id = String(inputs.adoptId);
  const found = existingAdoptee(await kind.records(connection.client).find(id), kind.noun, id);
  return matchProgram(kind, connection, found, inputs);
}

/**
 * Changes a record that no state holds to match the program.
 * @throws NotFoundError if it must not be adopted
 */
async function matchProgram<T extends NamedRecord>(
  kind: RecordKind<T>,
  connection: Connection,
  found: T,
  inputs: Properties,
): Promise<T> {
  const { capabilities } = connection;
  const { noun, table } = kind;
  const { id } = found;
  const { before, changed, refusal } = compareForAdoption(kind, found, inputs, capabilities);
  if (refusal !== undefined) throw new NotFoundError(refusal);
  const fields = managedFields(kind, inputs);
  const leftovers = kind.leftovers?.(connection.account.service, id, before, inputs);
  const record = changed.length === 0 && !leftovers ? found : await kind.update(connection, id, fields, before, inputs);
  const changes = describeChanges(table, before, kind.toFields(record, inputs), inputs);
  log(record.name, `adopted ${noun} ${id}; ${changes}${leftovers ? `; ${leftovers.text}` : ""}`);
  return record;
}

/** Saves the changes, or reads the record if the account differs from the one in state. */
async function bringUpToDate<T extends NamedRecord>(
  kind: RecordKind<T>,
  connection: Connection,
  id: string,
  outputs: Properties,
  inputs: Properties,
  changed: readonly string[],
): Promise<T | undefined> {
  const records = kind.records(connection.client);
  try {
    if (changed.length === 0 && newlyManagedIn(kind.table, outputs, inputs).length === 0) {
      return outputs.__account === accountRecord(connection.account, id)
        ? undefined
        : await records.get(id, { known: outputs });
    }
    const fields = managedFields(kind, inputs);
    return await oneAtATime(`${kind.noun} ${inputs.name}`, () => kind.update(connection, id, fields, outputs, inputs));
  } catch (error) {
    throw await explainAbsence(error, kind.noun, id, outputs, connection, records);
  }
}

async function remove<T extends NamedRecord>(kind: RecordKind<T>, id: string, outputs: Properties): Promise<void> {
  if (isLeftToAdopter(kind.noun, id, outputs)) return;
  const connection = connect();
  const logWait = waitLogger(String(outputs.name ?? id));
  await kind.records(connection.client).delete(id, {
    ...(typeof outputs.deleteTimeout === "number" ? { releaseTimeoutMs: outputs.deleteTimeout * 1000 } : {}),
    signal: cancelled,
    onWait: ({ elapsedMs, reason }) =>
      logWait(
        `waits until the service lets go of the ${kind.noun} (up to 2 minutes after its last use): ${reason}`,
        elapsedMs,
      ),
    onAbsent: () => refuseOtherAccount(kind.noun, outputs, connection, id),
  });
  forgetAdopter({ account: outputs.__account, noun: kind.noun, id });
}

interface Circumstances {
  readonly connection: Connection;
  readonly owner: string;
  readonly before: Properties;
  readonly changed: readonly string[];
}

/** Returns all fields of the record as the service has them: fewer would hide drift. */
function toOutputs<T extends NamedRecord>(
  kind: RecordKind<T>,
  record: T,
  inputs: Properties,
  { connection, owner, before, changed }: Circumstances,
): Properties {
  return {
    ...kind.toFields(record, inputs),
    ...kind.furtherOutputs?.(record, before, changed),
    ...ownInputs(kind, inputs),
    __inputs: managedRecord(kind.table, inputs),
    __account: accountRecord(connection.account, record.id),
    __owner: owner,
  };
}

/** Returns the outputs of a record that was not read: its fields stay as they were recorded. */
function unseenOutputs<T extends NamedRecord>(
  kind: RecordKind<T>,
  outputs: Properties,
  inputs: Properties,
): Properties {
  const { __provider, ...others } = outputs;
  const kept = Object.entries(others).filter(([name]) => !(name in ownInputs(kind, others)));
  return {
    ...Object.fromEntries(kept),
    ...ownInputs(kind, inputs),
    __inputs: managedRecord(kind.table, inputs),
  };
}
