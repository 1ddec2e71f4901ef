import { LIST_LAG_MS } from "../contract/limits";
import { NotFoundError } from "../errors/errors";
import type { ObservedOptions } from "../transport/requestOptions";
import { requireId } from "../transport/urls";
import { findOrProveAbsent } from "./absence";
import type { Collection, FindOptions, KnownOptions } from "./collection";
import type { Listed, NamedRecord } from "./listed";
import type { ListSnapshot } from "./sharedList";

/**
 * The maximum age of the first list that a create, update or delete uses, in milliseconds. Lists
 * are shared because the total amount of data would grow quadratically with the number of
 * operations if every operation requested its own list.
 */
export const SHARED_LIST_MAX_AGE_MS = 2_000;

/**
 * The maximum age of the first list that a create uses, in milliseconds. A create can use an older
 * list than other operations, because it does not write back what it has read. Even a new list may
 * lag by this much, and the check after the create finds records that the list misses.
 */
export const CREATE_LIST_MAX_AGE_MS = LIST_LAG_MS;

/**
 * Returns a list that is shared by calls that begin at about the same time. The list was requested
 * after all writes of this client to the given ids or names.
 * @param afterWriteMs the minimum time between the last of these writes and the request
 */
export function readShared<T extends NamedRecord>(
  { clock, lastWrites, list }: Collection<T>,
  idOrName: string,
  options: ObservedOptions,
  afterWriteMs = 1,
  maxAgeMs = SHARED_LIST_MAX_AGE_MS,
): Promise<ListSnapshot<Listed<T>>> {
  const lastWrite = lastWrites.get(idOrName) ?? Number.NEGATIVE_INFINITY;
  const sentAfter = Math.max(clock.monotonic() - maxAgeMs, lastWrite + afterWriteMs);
  return list.read({ sentAfter, despiteWrites: true }, options);
}

/**
 * Returns a list that was requested after this client's last write and is not older than a shared
 * list may be. Deletions that read the list at the same time share it.
 */
export function readAfterWrites<T extends NamedRecord>(
  { clock, list }: Collection<T>,
  options: ObservedOptions,
): Promise<ListSnapshot<Listed<T>>> {
  const leave = list.join();
  return list.read({ sentAfter: clock.monotonic() - SHARED_LIST_MAX_AGE_MS, gathers: true }, options).finally(leave);
}

/**
 * Returns a shared list. If it does not contain the record, returns a new list instead, because
 * someone else may have just created the record.
 * @param afterWriteMs see `readShared`
 */
export async function readSharedWith<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  options: ObservedOptions,
  afterWriteMs?: number,
): Promise<ListSnapshot<Listed<T>>> {
  requireId(id);
  const begunAt = collection.clock.monotonic();
  const shared = await readShared(collection, id, options, afterWriteMs);
  return holds(shared, id) ? shared : collection.list.read({ sentAfter: begunAt }, options);
}

/** Returns the record, or `undefined` if `findOrProveAbsent` proves that it does not exist. */
export async function findRecord<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  { maxAgeMs, known, onMissing, ...options }: FindOptions & ObservedOptions = {},
): Promise<T | undefined> {
  requireId(id);
  const begunAt = collection.clock.monotonic();
  const recent = await (maxAgeMs === undefined
    ? collection.list.read({}, options)
    : readShared(collection, id, options, 1, maxAgeMs));
  const isOld = recent.sentAt < begunAt && !isDecisive(recent, id);
  const found = await findOrProveAbsent(
    collection,
    isOld ? await collection.list.read({ sentAfter: begunAt }, options) : recent,
    id,
    options,
    { onMissing },
  );
  return found && collection.recall(found, known);
}

/**
 * Returns the record from a list that is requested after this call.
 * @throws NotFoundError if it is certain that the record does not exist
 */
export async function getRecord<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  options: KnownOptions & ObservedOptions,
): Promise<T> {
  return existing(await findRecord(collection, id, options), collection.kind, id);
}

/**
 * Returns the record from a shared list, as the basis for a change.
 * @param afterWriteMs see `readShared`
 * @throws NotFoundError if it is certain that the record does not exist
 */
export async function readExisting<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  options: ObservedOptions,
  afterWriteMs?: number,
): Promise<T> {
  const shared = await readSharedWith(collection, id, options, afterWriteMs);
  return existing(await findOrProveAbsent(collection, shared, id, options), collection.kind, id);
}

/**
 * Returns `false` if it is impossible to tell whether the list contains the record with this id,
 * because a listed record cannot be read. Reading the list again may give the answer.
 */
function isDecisive<T extends NamedRecord>(list: Listed<T>, id: string): boolean {
  const { unreadable } = list.about?.(id) ?? list;
  return holds(list, id) || unreadable.every((each) => each.id !== undefined && each.id !== id);
}

/** Returns `true` if the list contains the record and the record can be read. */
function holds<T extends NamedRecord>(list: Listed<T>, id: string): boolean {
  return (list.about?.(id) ?? list).records.some((each) => each.id === id);
}

/**
 * Returns the record if it was found.
 * @throws NotFoundError if it was not found
 */
export function existing<T>(found: T | undefined, { noun }: { readonly noun: string }, id: string): T {
  if (found !== undefined) return found;
  throw noSuchRecord(noun, id);
}

/** Returns the error for an id that does not belong to any record of the account. */
export function noSuchRecord(noun: string, id: string): NotFoundError {
  return new NotFoundError(`${noun} ${id} does not exist in this account. Check the id and the API key`);
}
