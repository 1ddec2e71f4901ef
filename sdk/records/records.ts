import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { UnexpectedResponseError } from "../errors/errors";
import type { OptionChecks } from "../transport/callOptions";
import { type ObservedOptions, type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { CREATE_OPTIONS } from "./callOptions";
import { changeRecord } from "./changeRecord";
import { type SaveOptions, type UpdateRecordOptions, type Writable, withKnown } from "./collection";
import { type CreateRecordOptions, type Creation, createRecord } from "./createRecord";
import { withDuplicates } from "./duplicates";
import type { NamedRecord } from "./listed";
import { type OperationTime, withinTime } from "./operationTime";
import { type Readers, readersOf } from "./readers";
import { getRecord, readExisting } from "./reads";
import { explainTakenName, nameTaken } from "./uniqueName";
import { withHidden } from "./wholeList";

/** The settings of a record, including its name if the name is set. */
interface Named {
  readonly name?: string | undefined;
}

/** The parts that differ between kinds of records: the inputs, and the rules for them. */
interface RecordRules<T, Input, Settings, ChangesInput, Parsed, Changes, Update, Delete> {
  /** Checks the settings of a new record and returns them in normal form. */
  readonly parse: (input: Input, options: CreateRecordOptions<T>) => Settings;
  /** The checks for the options of `create`. @default the checks that all kinds of records share */
  readonly createOptions?: OptionChecks<CreateRecordOptions<T>>;
  /** Checks changes and returns them in normal form. */
  readonly parseChanges: (id: string, changes: ChangesInput) => Parsed;
  /**
   * Returns the fields to send in order to make the changes. Returns `undefined` if nothing
   * differs; then nothing is sent.
   */
  readonly merge: (before: T, changes: Parsed) => Changes | undefined;
  /**
   * Returns `true` if a create whose response was lost may have created this record. The record is
   * already known to have the wanted name.
   */
  readonly isSame: (record: T, wanted: Settings) => boolean;
  /**
   * Completes a record that was found after the response to its create was lost.
   * @default a record that exists is complete
   */
  readonly complete?: (found: T, wanted: Settings, options: ObservedOptions) => Promise<T>;
  /** Returns `true` if a record must not take the name of the other record. @default always */
  readonly isNamesake?: (other: T, record: T) => boolean;
  /**
   * `true` if an update must wait until lists show this client's last write, because the update
   * sends the record as it was read. The wait also covers a write whose response was lost, and a
   * change that someone else has reverted.
   */
  readonly readsSettled?: true;
  /** Deletes a record. */
  readonly delete: (id: string, options: Delete & ObservedOptions) => Promise<void>;
  /** The checks for the options of `update`. */
  readonly updateOptions: OptionChecks<Update>;
  /** The checks for the options of `delete`. */
  readonly deleteOptions: OptionChecks<Delete>;
}

/** The functions that read and write the records of one kind. */
interface RecordOperations<T, Input, ChangesInput, Update, Delete> extends Readers<T> {
  create(input: Input, options?: CreateRecordOptions<T>): ResponsePromise<T>;
  update(id: string, changes: ChangesInput, options?: Update): ResponsePromise<T>;
  delete(id: string, options?: Delete): ResponsePromise<void>;
}

/** Returns the functions that read and write the records of a collection. */
export function recordOperations<
  T extends NamedRecord,
  Input,
  Settings extends { readonly name: string },
  ChangesInput,
  Parsed,
  Changes extends Named,
  Update extends UpdateRecordOptions<T>,
  Delete extends RequestOptions,
>(
  collection: Writable<T, Settings, Changes>,
  rules: RecordRules<T, Input, Settings, ChangesInput, Parsed, Changes, Update, Delete>,
): RecordOperations<T, Input, ChangesInput, Update, Delete> {
  return {
    ...readersOf(collection),
    create: (input, given) =>
      checkedCall(given, rules.createOptions ?? CREATE_OPTIONS, async (options) => {
        const wanted = rules.parse(input, options);
        const { complete } = rules;
        const creation = {
          settings: wanted,
          isSame: (record: T) => rules.isSame(record, wanted),
          complete: complete && ((found: T, given: ObservedOptions) => complete(found, wanted, given)),
        };
        const operation = `the create of ${collection.kind.noun} "${wanted.name}"`;
        const { onDuplicates, ...others } = options;
        return withDuplicates(collection, onDuplicates, others, () =>
          withinTime(collection, operation, others, (time) =>
            create(collection, creation, { ...others, signal: time.signal }, time),
          ),
        );
      }),
    update: (id, changes, given) =>
      checkedCall(given, rules.updateOptions, async (options) => {
        const parsed = rules.parseChanges(id, changes);
        const leave = collection.list.join();
        return withinTime(collection, `the change of ${collection.kind.noun} ${id}`, options, ({ signal }) =>
          update(collection, rules, id, parsed, { ...options, signal }),
        ).finally(leave);
      }),
    delete: (id, given) => checkedCall(given, rules.deleteOptions, (options) => rules.delete(id, options)),
  };
}

async function create<T extends NamedRecord, Settings extends { readonly name: string }>(
  collection: Writable<T, Settings, never>,
  creation: Creation<T, Settings>,
  { onNameTaken, ...options }: Omit<CreateRecordOptions<T>, "onDuplicates"> & ObservedOptions,
  time: OperationTime,
): Promise<T> {
  const { calls, hooks, kind } = collection;
  const { settings } = creation;
  const refuse = (existing: readonly T[]) => {
    const ids = existing.map(({ id }) => id);
    throw nameTaken(kind, settings.name, ids);
  };
  if (calls.prepare) await time.limit(calls.prepare(settings));
  try {
    const ifTaken = onNameTaken ?? (kind.hasUniqueNames ? refuse : undefined);
    const created = await createRecord(collection, creation, { ...options, onNameTaken: ifTaken }, time);
    hooks.noteSaved?.(undefined, created);
    return await collection.recall(created, { ...settings });
  } catch (error) {
    throw await explain(error, collection, settings.name, options);
  }
}

async function update<T extends NamedRecord, Parsed, Changes extends Named>(
  collection: Writable<T, never, Changes>,
  rules: Pick<
    RecordRules<T, never, never, never, Parsed, Changes, never, never>,
    "merge" | "isNamesake" | "readsSettled"
  >,
  id: string,
  parsed: Parsed,
  { onNameTaken, known, onSave, ...options }: UpdateRecordOptions<T> & ObservedOptions,
): Promise<T> {
  const { clock, hiddenIn, list } = collection;
  const completed = (read: T) => withKnown(read, hiddenIn(read), known);
  const read = rules.readsSettled ? readSettled : readExisting;
  let before = completed(await showing(collection, await read(collection, id, options), Object(parsed), options));
  let changes = rules.merge(before, parsed);
  if (changes === undefined) {
    // The list may be older than someone else's last change, so read it again. This may lead to an
    // unnecessary save, but a necessary save is never skipped.
    await sleep(clock, LIST_LAG_MS, options.signal);
    before = completed(await getRecord(collection, id, options));
    changes = rules.merge(before, parsed);
    if (changes === undefined) return before;
  }
  const { name = before.name } = changes;
  if (onNameTaken && name !== before.name) {
    const { records } = await withHidden(collection, await list.read({}, options), name, options);
    const isNamesake = (each: T) => each.id !== id && each.name === name && (rules.isNamesake?.(each, before) ?? true);
    const others = records.filter(isNamesake);
    if (others.length > 0) onNameTaken(others);
  }
  return saveRecord(collection, before, changes, { ...options, known, onSave });
}

/**
 * Returns a record that shows everything that the change would otherwise reset. If the record as it
 * was read does not, it is read once more.
 * @throws UnexpectedResponseError if it still does not; nothing was changed
 */
export async function showing<T extends NamedRecord>(
  collection: Writable<T, never, never>,
  read: T,
  changes: object,
  options: ObservedOptions,
): Promise<T> {
  const { calls, kind } = collection;
  if (!calls.resets?.(read, changes).length) return read;
  const again = await getRecord(collection, read.id, options);
  const lacking = calls.resets(again, changes);
  if (lacking.length === 0) return again;
  throw new UnexpectedResponseError(
    `${kind.noun} ${again.id} ("${again.name}") was not changed: the service did not show its ${lacking.join(", ")}, and a ` +
      "save without that would reset it. Try again later, or use REST v2 (SERVERLESS_GPU_API=v2), which sends only what changes",
  );
}

/** Changes some settings of a record. All other settings stay the same. */
export async function saveRecord<T extends NamedRecord, Changes extends Named>(
  collection: Writable<T, never, Changes>,
  read: T,
  changes: Changes,
  { known, onSave, ...given }: SaveOptions<T> & ObservedOptions = {},
): Promise<T> {
  const { calls, hiddenIn, hooks } = collection;
  const options = requestOptions(given);
  const before = await showing(collection, hooks.latest?.(read) ?? read, changes, options);
  await calls.prepare?.(changes, before);
  try {
    // Settings that the list does not show, but whose values are known, don't have to be sent
    // again.
    const whole = (await hooks.complete?.(before, changes, options)) ?? before;
    const sent = withKnown(whole, hiddenIn(before), known);
    onSave?.(sent);
    const saved = await changeRecord(collection, sent, changes, options);
    hooks.noteSaved?.(before, saved);
    return await collection.recall(saved, { ...known, ...changes });
  } catch (error) {
    throw await explain(error, collection, changes.name ?? before.name, options);
  }
}

/**
 * Reads a record. If this client has written to the record, first waits until lists no longer lag
 * behind that write, because an outdated record must not be written back.
 */
async function readSettled<T extends NamedRecord>(
  collection: Writable<T, never, never>,
  id: string,
  options: ObservedOptions,
): Promise<T> {
  const { clock, lastWrites } = collection;
  const settledAt = (lastWrites.get(id) ?? Number.NEGATIVE_INFINITY) + LIST_LAG_MS;
  if (clock.monotonic() < settledAt) await sleep(clock, settledAt - clock.monotonic(), options.signal);
  return readExisting(collection, id, options, LIST_LAG_MS);
}

/** Returns a clearer error for a write that the service rejected, or the same error. */
async function explain<T extends NamedRecord>(
  error: unknown,
  collection: Writable<T, never, never>,
  name: string,
  options: ObservedOptions,
): Promise<unknown> {
  const { hooks, kind } = collection;
  const explained = kind.hasUniqueNames ? await explainTakenName(error, collection, name, options) : error;
  return hooks.explain ? hooks.explain(explained, options) : explained;
}
