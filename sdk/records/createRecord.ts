import { sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { BusinessRuleError, CreateUncertainError, ServerlessGpuError } from "../errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type Attempt, makeCall } from "../transport/retryingCall";
import { type Collection, noteWrite, readShared, type Writable } from "./collection";
import { type Listed, type NamedRecord, newRecords, refuseUnreadableNamesake } from "./listed";

/** Options of `create`. */
export interface CreateRecordOptions<T> extends RequestOptions {
  /**
   * Called if records with the new name exist already. It may return one of them, which `create` then returns, or throw.
   * Without it, or if it returns `undefined`, another record is created.
   */
  readonly onNameTaken?: ((existing: readonly T[]) => T | undefined) | undefined;
}

/** A record to create. */
export interface Creation<T, Settings extends { readonly name: string }> {
  readonly settings: Settings;
  /** Returns `true` for a record that the request may have created. */
  readonly isSame: (record: T) => boolean;
}

/** Lists, creates, and lists again after a lost response, so that there is never a second record. */
export async function createRecord<T extends NamedRecord, Settings extends { readonly name: string }>(
  collection: Writable<T, Settings, "create">,
  creation: Creation<T, Settings>,
  { onNameTaken, ...options }: CreateRecordOptions<T> & ObservedOptions = {},
): Promise<T> {
  const { kind, list, calls } = collection;
  const { settings } = creation;
  const { name } = settings;
  // One operation may both create and change.
  const verb = calls.names.create === calls.names.change ? `${calls.names.create} (create)` : calls.names.create;
  const operation = `${verb} of "${name}"`;
  let before: Listed<T> = await readShared(collection, name, options);
  if (onNameTaken) {
    refuseUnreadableNamesake(kind, before, name);
    const namesakes = () => before.records.filter((each) => each.name === name);
    if (namesakes().length > 0) {
      // A shared list may be a little old. A record that is gone now must not refuse the name.
      const now = await list.read({}, options);
      refuseUnreadableNamesake(kind, now, name);
      before = { records: now.records, unreadable: [...before.unreadable, ...now.unreadable] };
    }
    const taken = namesakes().length > 0 ? onNameTaken(namesakes()) : undefined;
    if (taken) return taken;
  }
  let wasLost = false;
  const lookUp = () => {
    wasLost = true;
    return findCreated(collection, operation, creation, before, options);
  };
  let created: T | undefined;
  try {
    created = await makeCall(collection, {
      ...options,
      name: calls.names.create,
      operation,
      repeatability: "create",
      attempt: (each: Attempt) => calls.create(operation, settings, each),
      lookUp,
    });
    return created;
  } catch (error) {
    // After a lost response, a refusal of the name may mean that the first request had its effect after all.
    const mayBeOwnName = wasLost && kind.hasUniqueNames && error instanceof BusinessRuleError;
    const found = mayBeOwnName ? await lookUp() : undefined;
    if (!found) throw error;
    created = found;
    return found;
  } finally {
    noteWrite(collection, created?.id, name);
  }
}

/** Returns the record that a lost call created, or `undefined` if it created none. */
async function findCreated<T extends NamedRecord>(
  { clock, list, kind }: Collection<T>,
  operation: string,
  { settings: { name }, isSame }: Creation<T, { readonly name: string }>,
  before: Listed<T>,
  options: ObservedOptions,
): Promise<T | undefined> {
  await sleep(clock, LIST_LAG_MS, options.signal);
  let created: readonly T[];
  try {
    created = newRecords(kind, before, await list.read({}, options), name);
  } catch (cause) {
    if (!(cause instanceof ServerlessGpuError)) throw cause;
    throw new CreateUncertainError(
      `${operation}: the response was lost, and the list that shows whether it worked cannot be read: ${cause.message}. ` +
        `The ${kind.noun} may exist. Check before you create it again`,
      [],
      { cause },
    );
  }
  const candidates = created.filter((each) => each.name === name && isSame(each));
  if (candidates.length < 2) return candidates[0];
  const ids = candidates.map(({ id }) => id);
  throw new CreateUncertainError(
    `${operation}: the response was lost, and several new ${kind.noun}s could be it: ${ids.join(", ")}. ` +
      "Keep one of them and delete the others",
    ids,
  );
}
