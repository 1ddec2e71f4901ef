import type * as pulumi from "@pulumi/pulumi";
import { API_NAMES } from "../../sdk/connection/resolver";
import { CAPABILITIES, type CapabilityName } from "../../sdk/contract/capabilities";
import { CodedError, type InputProblem } from "../../sdk/errors/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import { adoptsOther, refuseOtherId, refuseTakenName } from "../adoption/adoption";
import { isRecordedElsewhere, refuseAfterOtherAccount, refuseOtherAccount } from "../connection/account";
import { requireAccount } from "../connection/accountCheck";
import { CONFIG_NAMESPACE } from "../connection/config";
import {
  type Connection,
  configure,
  connect,
  currentCapabilities,
  currentPlace,
  readConfig,
} from "../connection/connection";
import { log } from "../engine/log";
import { type Properties, pick, UNKNOWN } from "../engine/properties";
import { createNamed } from "../fields/drawnName";
import { managesOthersIn } from "../fields/managed";
import { changesOwnInputs, checkRecordInputs } from "../fields/recordInputs";
import { differing, fieldOf } from "../fields/settings";
import { closeNote, type Note, noteWrite, openNote } from "../machine/note";
import { lastWrite, newWrite, ownerOf } from "../machine/stamp";
import { isKeptByAdopter, noteNeeded, refuseLeftToAdopter, unmarkAdopter } from "../ownership/adopters";
import { locate } from "../ownership/location";
import { oneAtATime } from "../ownership/oneAtATime";
import { noteChecked, noteCompared, ownerOfNew } from "../ownership/owners";
import { explainAbsence, withDropAdvice } from "./absent";
import { adoptRecord, endAdoption, takeOver } from "./adopt";
import { fieldsToCreate, toOutputs, unseenOutputs } from "./outputs";
import type { RecordKind, Situation } from "./recordKind";
import { read } from "./refresh";
import { release } from "./release";
import { replacingFields } from "./replacement";
import {
  announceOpen,
  declared,
  type Outcome,
  openIn,
  prepared,
  readAfter,
  settingsToWrite,
  write,
  writtenBy,
} from "./write";

/** What a handler did, before the rest of its work is settled. */
export interface Settling<T> {
  readonly id: string;
  readonly outs: Properties;
  readonly outcome: Outcome<T>;
}

/**
 * Completes a create or update, for example by waiting for workers. Returns additional outputs.
 * @throws Error if the create or update has failed after all
 */
type Settle<T> = (settling: Settling<T>) => Promise<Properties>;

/** The handlers of one kind of resource, for the engine and for code that adds to them. */
export interface RecordHandlers<T extends NamedRecord> extends Required<pulumi.dynamic.ResourceProvider> {
  create(inputs: Properties, settle?: Settle<T>): Promise<{ readonly id: string; readonly outs: Properties }>;
  /**
   * The record is absent if it does not exist at RunPod, or if the responses do not prove whether
   * it exists.
   */
  read(id: string, outputs: Properties): Promise<pulumi.dynamic.ReadResult & { readonly record?: T | undefined }>;
  /** @param seen a write that is not in state, although this machine has no note of it */
  update(
    id: string,
    outputs: Properties,
    inputs: Properties,
    settle?: Settle<T>,
    seen?: Note,
  ): Promise<{ readonly outs: Properties }>;
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
      const isNew = Object.keys(oldInputs).length === 0;
      const failures = [...apiProblems(kind), ...problems, ...noteChecked(newInputs, inputs, isNew)];
      return { inputs, failures: failures.map(({ property, message }) => ({ property, reason: message })) };
    },

    diff: (id, outputs: Properties, inputs: Properties) => diff(kind, { id, outputs, inputs }),
    create: (inputs, settle) => create(kind, inputs, settle),
    read: (id, outputs: Properties) => read(kind, id, outputs),
    update: (id, outputs, inputs, settle, seen) => update(kind, { id, outputs, inputs }, settle, seen),
    delete: (id, outputs: Properties) => remove(kind, id, outputs),
  };
}

/**
 * Returns a problem if the API of this run cannot manage this kind. If no setting selects the API,
 * that is the API that the run uses now.
 */
function apiProblems({ one, needs }: { readonly one: string; readonly needs?: CapabilityName }): InputProblem[] {
  const capabilities = currentCapabilities();
  if (needs === undefined || !capabilities || capabilities[needs]) return [];
  return Object.values(CAPABILITIES).flatMap(({ api, [needs]: hasIt }) =>
    hasIt
      ? {
          property: "",
          message:
            `${one} exists only over ${API_NAMES[api]}, and this run uses ${API_NAMES[capabilities.api]}. ` +
            `Set ${CONFIG_NAMESPACE}:api to ${api}`,
        }
      : [],
  );
}

/** Returns the name by which messages refer to a record that may not have a name yet. */
function shownName(noun: string, { name, __automaticName, adoptId }: Properties): string {
  const known = [name, __automaticName, adoptId].find((each) => typeof each === "string" && each !== UNKNOWN);
  return String(known ?? noun);
}

/** Warns that a record whose data cannot move with it moves to another account. */
function lossOfMove(noun: string, id: string): string {
  return (
    `warning: ${noun} ${id} moves to another account: an empty one is created there, this one is deleted in the previous ` +
    `account, and ALL ITS DATA IS LOST. To keep the data, restore the previous account, declare another ${noun} with the ` +
    "new account, copy the data, and remove this one"
  );
}

/** The output that triggers a replacement when the record moves to another account. */
export const ACCOUNT = "__account";

async function diff<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
): Promise<pulumi.dynamic.DiffResult> {
  const { id, outputs, inputs } = situation;
  const location = await locate(kind.noun, id, outputs, kind.records);
  if (location === "moved") {
    if (kind.neverReplaced) log(String(outputs.name ?? id), lossOfMove(kind.noun, id));
    return { changes: true, replaces: [ACCOUNT] };
  }
  if (adoptsOther(id, inputs)) {
    // After an interrupted replacement, the record in state is gone, and the program adopts the new
    // one.
    const isGone = currentPlace() !== undefined && !(await kind.records(connect().client).find(id));
    if (isGone) return { changes: true, replaces: ["adoptId"] };
    refuseOtherId(kind.one, id, inputs);
  }
  noteCompared(kind.noun, id, outputs);
  const changed = Object.keys(differing(kind.table, declared(kind, inputs, outputs), outputs)).map(fieldOf);
  const replaces = await replacingFields(kind, situation, changed);
  if (replaces.length > 0) return { changes: true, replaces };
  const open = announceOpen(kind.noun, situation);
  const also = kind.alsoWrites?.(situation);
  if (also) log(String(outputs.name ?? id), also.text);
  if (location === "redirected" || open || also) return { changes: true };
  const isRecordedOtherwise = managesOthersIn(kind.table, outputs, inputs) || changesOwnInputs(kind, outputs, inputs);
  // If `changes` is missing, the engine compares the inputs itself and shows each field.
  return changed.length > 0 || isRecordedOtherwise ? {} : { changes: false };
}

/**
 * Returns the fields that an update changes, as far as that is known without a request. The update
 * may also revert settings that an unfinished write has sent.
 */
export function changedByUpdate<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
): string[] {
  const open = openIn(kind.noun, situation);
  const settings = { ...open?.sent, ...settingsToWrite(kind, situation, open) };
  return [...new Set(Object.keys(settings).map(fieldOf))];
}

async function create<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  inputs: Properties,
  settle?: Settle<T>,
) {
  const connection = connect();
  refuseAfterOtherAccount(kind.noun, connection.account);
  await requireAccount(connection);
  const owner = ownerOfNew(kind.noun, inputs);
  const { adoptId } = inputs;
  const outcome: Outcome<T> =
    adoptId === undefined
      ? {
          record: await createRecord(kind, connection, inputs).catch(noteNeeded),
          settings: {},
          changed: [],
          isWritten: true,
        }
      : await oneAtATime(`adoption of ${kind.noun} ${adoptId}`, () => adoptRecord(kind, connection, inputs, owner));
  const record = outcome.record as T;
  const changed = Object.keys(kind.table);
  const circumstances = { connection, owner, before: {}, settings: undefined, changed, write: newWrite() };
  const outs = toOutputs(kind, record, inputs, circumstances);
  const { id } = record;
  const end = () => {
    if (adoptId !== undefined) endAdoption(kind, connection, id, owner);
  };
  const further = await settle?.({ id, outs, outcome }).catch((error: unknown) => {
    // The engine keeps the resource.
    if (error instanceof Error && "reasons" in error) end();
    throw error;
  });
  end();
  return { id, outs: { ...outs, ...further } };
}

/** Creates the record under the program's name, or under a generated name. */
async function createRecord<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  inputs: Properties,
): Promise<T> {
  const { name, __automaticName } = inputs;
  const settings = declared(kind, inputs, {});
  const save = { id: "", name: name ?? __automaticName, outputs: {}, inputs, settings };
  await prepared(kind, connection, { purpose: "create", ...save });
  const refuse = (existing: readonly T[], name: unknown) =>
    refuseTakenName(kind, connection.capabilities, existing, name);
  // This must not run at the same time as a rename to the same name.
  const make = (name: unknown, onNameTaken: (existing: readonly T[]) => T) =>
    oneAtATime(`${kind.noun} ${name}`, () =>
      kind.create(connection, fieldsToCreate(kind, { ...inputs, name }), onNameTaken, inputs),
    );
  if (!kind.hasUniqueNames || typeof __automaticName !== "string") return make(name, (found) => refuse(found, name));
  const place = { service: connection.account.service, noun: kind.noun };
  const take = (record: T) => takeOver(kind, connection, record, inputs);
  // Two resources may use the same pattern for their names. The first one that draws a name notes
  // it.
  return oneAtATime(`create of ${kind.noun} ${__automaticName}`, () =>
    createNamed(place, inputs, { create: make, takeOver: take, refuse }),
  );
}

async function update<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  situation: Situation,
  settle?: Settle<T>,
  seen?: Note,
): Promise<{ readonly outs: Properties }> {
  const { id, outputs, inputs } = situation;
  const connection = connect();
  await requireAccount(connection);
  const open = openNote(writtenBy(connection, kind.noun, id), outputs) ?? seen;
  const outcome = await bringUpToDate(kind, connection, situation, open);
  const { record, settings, isWritten } = outcome;
  // The unfinished write may have made changes that this run only records.
  const made = open
    ? differing(
        kind.table,
        pick(settings, (setting) => setting in open.sent),
        outputs,
      )
    : {};
  const changed = [...new Set([...outcome.changed, ...Object.keys(made).map(fieldOf)])];
  const owner = ownerOf(outputs);
  const write = isWritten ? newWrite() : lastWrite(outputs);
  const outs = record
    ? toOutputs(kind, record, inputs, { connection, owner, before: outputs, settings, changed, write })
    : unseenOutputs(kind, outputs, inputs);
  return { outs: { ...outs, ...(await settle?.({ id, outs, outcome })) } };
}

/**
 * Saves the changes. If there are none, this usually sends no request. It reads the record in two
 * cases: if the outcome of the last write is unknown, and if the account or the queue's URL differs
 * from the one in state. A new account or URL may enter state only once the record is found there.
 */
async function bringUpToDate<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  connection: Connection,
  situation: Situation,
  open: Note | undefined,
): Promise<Outcome<T>> {
  const { id, outputs } = situation;
  const records = kind.records(connection.client);
  if (open?.isSealed) throw sealedNote(kind.noun, id, outputs);
  try {
    const theirs = open && (await readAfter(kind, connection, situation, open));
    const own = settingsToWrite(kind, situation, open, theirs);
    const save = { ...situation, purpose: "update", name: outputs.name, settings: own, theirs, open } as const;
    const settings = await prepared(kind, connection, save);
    if (Object.keys(settings).length > 0)
      return await write(kind, connection, { ...situation, purpose: "change", settings, open, theirs });
    const unwritten = { settings, changed: [], isWritten: theirs !== undefined };
    if (theirs || !isRecordedElsewhere(outputs, connection, id)) return { record: theirs, ...unwritten };
    return { record: await records.get(id, { known: outputs }), ...unwritten };
  } catch (error) {
    throw await explainAbsence(error, kind.noun, id, outputs, connection, records, open?.purpose === "deletion");
  }
}

function sealedNote(noun: string, id: string, { name = id }: Properties): CodedError {
  return new CodedError(
    "INTERRUPTED",
    `${noun} ${id} ("${name}") was not changed: an earlier run on this machine did not complete its write. What it sent was noted ` +
      "with another API key, so it cannot be read. Run pulumi up --refresh, which starts from the current settings",
  );
}

async function remove<T extends NamedRecord, Fields extends object>(
  kind: RecordKind<T, Fields>,
  id: string,
  outputs: Properties,
): Promise<void> {
  if (isKeptByAdopter(kind.noun, id, outputs)) return;
  if (outputs.adoptId !== undefined) return release(kind.noun, id, outputs);
  refuseLeftToAdopter(kind.noun, id, outputs);
  const connection = connect();
  await requireAccount(connection);
  const written = writtenBy(connection, kind.noun, id);
  const name = String(outputs.name ?? id);
  noteWrite(written, outputs, { purpose: "deletion", name, sent: {}, before: {} });
  const onAbsent = () => refuseOtherAccount(kind.noun, outputs, connection, id);
  await kind.delete(connection, id, outputs, onAbsent).catch((error: unknown) => {
    throw withDropAdvice(error, kind.noun);
  });
  closeNote(written);
  unmarkAdopter(id, ownerOf(outputs));
}
