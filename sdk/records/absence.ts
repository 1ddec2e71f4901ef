import { sleep } from "../contract/clock";
import { ABSENCE_LAG_MS, LIST_CAP, LIST_LAG_MS } from "../contract/limits";
import { EmptyListError, UnexpectedResponseError } from "../errors";
import type { ObservedOptions } from "../transport/requestOptions";
import type { Collection } from "./collection";
import { type Kind, type Listed, listOf, type NamedRecord, recordById } from "./listed";
import type { ListSnapshot } from "./sharedList";

/** What an operation does while it waits for the second look. */
interface WhileMissing {
  /** Called after the first look. An error that it throws ends the search. */
  readonly onMissing?: (() => void) | undefined;
  /** Lets other operations' lists not wait for this one. @default they do not */
  readonly rest?: (wait: Promise<void>) => Promise<void>;
}

/**
 * Returns the record that the list shows, or that a read by its id finds. One look that finds
 * nothing is no proof of absence.
 * @throws UnexpectedResponseError if the list may be cut, and the record cannot be read by its id
 */
export async function look<T extends NamedRecord>(
  { kind, single }: Collection<T>,
  list: Listed<T>,
  id: string,
  options: ObservedOptions,
): Promise<T | undefined> {
  const listed = recordById(kind, list, id);
  if (listed) return listed;
  const read = await single.read(id, options);
  if (!read && list.mayBeCut) throw cutList(kind, id);
  return read?.record;
}

/** What a look after a deletion has found. */
export interface Remains<T> {
  /** The record; `undefined` if it is gone. */
  readonly record: T | undefined;
  /** `true` if what was also asked about does not exist. @default it may exist */
  readonly isOtherGone: boolean;
}

/**
 * Looks for a record whose deletion the service has accepted. A list that is not cut is then proof
 * enough. Deletions that look at the same time share it.
 * @param also the id of another kind of record that the service may have deleted, too
 */
export async function lookAfterDeletion<T extends NamedRecord>(
  { kind, list, single }: Collection<T>,
  id: string,
  options: ObservedOptions,
  also?: string,
): Promise<Remains<T>> {
  const now = await list.read({ gathers: true, also }, options);
  const isOtherGone = also !== undefined && (now.absent?.has(also) ?? false);
  const listed = recordById(kind, now, id);
  // A list that is cut shows the oldest records, so a record that it showed disappears only when it
  // is deleted. Others were read by their ids.
  const record = listed || !now.mayBeCut ? listed : (await single.read(id, options))?.record;
  return { record, isOtherGone };
}

/**
 * Returns the record, or `undefined` if its absence is proven: two looks a lag apart find nothing,
 * in reads by its id, or in two lists if the service does not read such records by id.
 * @throws UnexpectedResponseError if a list may be cut
 * @throws EmptyListError if a list has no records at all: a failing service also shows that
 */
export async function findOrProveAbsent<T extends NamedRecord>(
  collection: Collection<T>,
  first: ListSnapshot<Listed<T>>,
  id: string,
  options: ObservedOptions,
  { onMissing, rest = (wait) => wait }: WhileMissing = {},
): Promise<T | undefined> {
  const { clock, kind, list, single } = collection;
  const found = await look(collection, first, id, options);
  if (found) return found;
  onMissing?.();
  const waitUntil = (time: number) => rest(sleep(clock, Math.max(0, time - clock.monotonic()), options.signal));
  if (single.isPossible) {
    await waitUntil(clock.monotonic() + LIST_LAG_MS);
    return look(collection, first, id, options);
  }
  // All readers that missed something in the same list also share the next one.
  const sentAfter = first.sentAt + ABSENCE_LAG_MS;
  await waitUntil(sentAfter);
  const second = await list.read({ sentAfter }, options);
  const shown = await look(collection, second, id, options);
  if (!shown && (first.length === 0 || second.length === 0)) throw emptyList(kind, id);
  return shown;
}

function cutList(kind: Kind, id: string): UnexpectedResponseError {
  const { noun } = kind;
  return new UnexpectedResponseError(
    `${listOf(kind)}: cannot tell whether ${noun} ${id} exists. The list does not show it, but has ${LIST_CAP} records or ` +
      `more: the service may show only the ${LIST_CAP} oldest, and it does not read one ${noun} alone. Nothing was changed. ` +
      `Look for ${id} in the service's console, or delete ${noun}s that you do not need until the list is shorter, and ` +
      "try again",
  );
}

function emptyList(kind: Kind, id: string): EmptyListError {
  const { noun } = kind;
  return new EmptyListError(
    `${listOf(kind)}: cannot tell whether ${noun} ${id} exists. The list was empty, which a failing service also shows, ` +
      `and the service does not read one ${noun} alone. Nothing was changed. Look for ${id} in the service's console. If ` +
      "it is there, try again later",
  );
}
