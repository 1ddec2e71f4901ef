import { sleep } from "../contract/clock";
import { ABSENCE_LAG_MS, LIST_CAP, LIST_LAG_MS } from "../contract/limits";
import { UnexpectedResponseError } from "../errors";
import type { ObservedOptions } from "../transport/requestOptions";
import type { Collection } from "./collection";
import { type Kind, type Listed, listOf, type NamedRecord, recordById } from "./listed";
import type { ListSnapshot } from "./sharedList";

/**
 * Returns the record that a list shows, or that a single read finds.
 * @param wasSeen `true` if an earlier read showed the record and the service has accepted its
 * deletion since: then a list that is not cut off is proof enough
 * @throws UnexpectedResponseError if the list may be cut, and the service has no single read
 */
export async function lookFor<T extends NamedRecord>(
  { kind, single }: Collection<T>,
  list: Listed<T>,
  id: string,
  options: ObservedOptions,
  wasSeen = false,
): Promise<T | undefined> {
  const listed = recordById(kind, list, id);
  if (listed || (wasSeen && !list.mayBeCut)) return listed;
  const read = await single.read(id, options);
  if (read) return read.record;
  // A list that is cut off shows the oldest records, so a record that it showed disappears only
  // when it is deleted.
  if (list.mayBeCut && !wasSeen) throw cutList(kind, id);
  return undefined;
}

/**
 * Looks in this list, then reads the record by its id, now and once more when the service's lag has
 * passed. If records cannot be read by id, it looks in more lists: they may lag for longer.
 */
export async function lookRepeatedly<T extends NamedRecord>(
  collection: Collection<T>,
  first: ListSnapshot<Listed<T>>,
  id: string,
  options: ObservedOptions,
): Promise<T | undefined> {
  const { clock, kind, list, single } = collection;
  const shown = recordById(kind, first, id);
  if (shown) return shown;
  const askedAt = clock.monotonic();
  const read = await single.read(id, options);
  if (read) {
    if (read.record) return read.record;
    // A read right after a create may also miss it.
    await sleep(clock, Math.max(0, askedAt + LIST_LAG_MS - clock.monotonic()), options.signal);
    return lookFor(collection, first, id, options);
  }
  if (first.mayBeCut) throw cutList(kind, id);
  for (const lagMs of [LIST_LAG_MS, ABSENCE_LAG_MS]) {
    // All readers that missed something in the same list also share the next ones.
    const lagIsOverAt = first.sentAt + lagMs;
    await sleep(clock, Math.max(0, lagIsOverAt - clock.monotonic()), options.signal);
    const found = await lookFor(collection, await list.read({ sentAfter: lagIsOverAt }, options), id, options);
    if (found) return found;
  }
  return undefined;
}

function cutList<T extends NamedRecord>(kind: Kind<T>, id: string): UnexpectedResponseError {
  const { noun } = kind;
  return new UnexpectedResponseError(
    `${listOf(kind)}: cannot tell whether ${noun} ${id} exists. The list does not show it, but has ${LIST_CAP} records or ` +
      `more: the service may show only the ${LIST_CAP} oldest, and it does not read one ${noun} alone. Nothing was changed. ` +
      `Look for ${id} in the service's console, or delete ${noun}s that you do not need until the list is shorter, and ` +
      "try again",
  );
}
