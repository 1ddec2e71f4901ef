import { sleep } from "../contract/clock";
import { ABSENCE_LAG_MS, LIST_CAP, LIST_LAG_MS } from "../contract/limits";
import { EmptyListError, UnexpectedResponseError } from "../errors/errors";
import type { ObservedOptions } from "../transport/requestOptions";
import type { Collection } from "./collection";
import { type Kind, type Listed, listOf, type NamedRecord, recordById } from "./listed";
import type { ListSnapshot } from "./sharedList";

/** The callbacks of an operation that waits before it looks again. */
interface WhileMissing {
  /**
   * Called after the first look found nothing. If the callback throws an error, the search ends
   * with that error.
   */
  readonly onMissing?: (() => void) | undefined;
  /**
   * Runs the wait in such a way that the lists of other operations don't wait for this operation.
   * @default they don't wait for it in any case
   */
  readonly rest?: (wait: Promise<void>) => Promise<void>;
}

/**
 * Returns the record if the list contains it or a read by its id finds it. A single look that finds
 * nothing does not prove that the record is absent.
 * @throws UnexpectedResponseError if the list may be cut off and the record cannot be read by its
 * id
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

/** The result of looking for a record after its deletion. */
interface Remains<T> {
  /** The record, or `undefined` if it is gone. */
  readonly record: T | undefined;
  /** `true` if the other record (`also`) does not exist. @default it may exist */
  readonly isOtherGone: boolean;
}

/**
 * Looks for a record after the service has accepted its deletion. At that point, a complete list
 * without the record is sufficient proof. Deletions that look at the same time share the list.
 * @param also the id of a record of another kind that the service may have deleted as well
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
  // A list that is cut off shows the oldest records, so a record that was in the list disappears
  // from it only when it is deleted. All other records were read by their ids.
  const record = listed || !now.mayBeCut ? listed : (await single.read(id, options))?.record;
  return { record, isOtherGone };
}

/**
 * Returns the record, or `undefined` if it is proven to be absent, which means that it was not
 * found in two reads that are far enough apart. These are reads by its id or, if the service
 * does not read such records by id, two lists.
 * @throws UnexpectedResponseError if a list may be cut off
 * @throws EmptyListError if a list contains no records at all, because a failing service also
 * returns such a list
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
  // All operations that did not find their record in the same list also share the next list.
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
    `${listOf(kind)}: cannot tell whether ${noun} ${id} exists. The list does not show it, but may be cut off after ` +
      `${LIST_CAP} records. Nothing was changed. Look for ${id} in the service's console, or delete ${noun}s that you do not ` +
      "need and try again",
  );
}

function emptyList(kind: Kind, id: string): EmptyListError {
  const { noun } = kind;
  return new EmptyListError(
    `${listOf(kind)}: cannot tell whether ${noun} ${id} exists. The list was empty, which can also be a failure of the ` +
      `service. Nothing was changed. Look for ${id} in the service's console. If it is there, try again later`,
  );
}
