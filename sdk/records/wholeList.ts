import { LIST_CAP } from "../contract/limits";
import { ServerlessGpuError } from "../errors/errors";
import type { ObservedOptions } from "../transport/requestOptions";
import type { Collection } from "./collection";
import { isSameName, type Listed, listOf, type NamedRecord } from "./listed";
import type { ListFreshness } from "./sharedList";

/**
 * Returns a list that also includes the records with this name that the service left out because
 * the list was too long. Such records are added to the unreadable records, with id and name, if
 * they cannot be read or have other names. If the list cannot be completed, it is returned
 * unchanged, after a warning.
 */
export async function withHidden<T extends NamedRecord>(
  collection: Collection<T>,
  list: Listed<T>,
  name: string,
  options: ObservedOptions,
  freshness: ListFreshness = {},
): Promise<Listed<T>> {
  if (!list.mayBeCut) return list;
  const found = await readHidden(
    collection,
    list,
    (each) => isSameName(collection.kind, each.name, name),
    options,
    freshness,
  );
  if (!found) return list;
  const problem = `${listOf(collection.kind)} is cut off and does not show it`;
  return {
    records: [...list.records, ...found.records],
    unreadable: [...list.unreadable, ...found.hidden.map((each) => ({ ...each, problem }))],
  };
}

/**
 * Returns a list of all records, by default a new one. If some records were cut off from the list
 * and cannot be read, a warning is shown and `mayBeCut` is `true`.
 */
export async function readWhole<T extends NamedRecord>(
  collection: Collection<T>,
  options: ObservedOptions,
  freshness: ListFreshness = {},
): Promise<Listed<T>> {
  return completeList(collection, await collection.list.read(freshness, options), options, freshness);
}

/** Adds the records that the service cut off from a list. See `readWhole`. */
export async function completeList<T extends NamedRecord>(
  collection: Collection<T>,
  list: Listed<T>,
  options: ObservedOptions,
  freshness: ListFreshness = {},
): Promise<Listed<T>> {
  if (!list.mayBeCut) return list;
  const found = await readHidden(collection, list, () => true, options, freshness);
  if (!found) return list;
  const isCut = found.hidden.length > 0;
  if (isCut) warnOfCut(collection);
  return { records: [...list.records, ...found.records], unreadable: list.unreadable, mayBeCut: isCut };
}

/**
 * Returns the records that were cut off from a list: the records that could be read, and what is
 * known about those that could not.
 */
async function readHidden<T extends NamedRecord>(
  collection: Collection<T>,
  list: Listed<T>,
  isWanted: (record: NamedRecord) => boolean,
  options: ObservedOptions,
  freshness: ListFreshness,
): Promise<{ readonly records: readonly T[]; readonly hidden: readonly Partial<NamedRecord>[] } | undefined> {
  const names = await readNames(collection, freshness, options);
  if (!names) {
    warnOfCut(collection);
    return undefined;
  }
  const shown = new Set([...list.records, ...list.unreadable].map(({ id }) => id));
  const records: T[] = [];
  const hidden: Partial<NamedRecord>[] = names.unreadable.filter(({ id }) => id === undefined || !shown.has(id));
  const reads = names.records.map(async ({ id, name }) => {
    if (shown.has(id)) return;
    const record = isWanted({ id, name }) ? (await collection.single.read(id, options))?.record : undefined;
    if (record) records.push(record);
    else hidden.push({ id, name });
  });
  await Promise.all(reads);
  return { records, hidden };
}

async function readNames<T extends NamedRecord>(
  { completion }: Collection<T>,
  freshness: ListFreshness,
  options: ObservedOptions,
): Promise<Listed<NamedRecord> | undefined> {
  if (!completion.names || completion.isRefused) return undefined;
  try {
    return await completion.names.read(freshness, options);
  } catch (error) {
    if (!(error instanceof ServerlessGpuError)) throw error;
    const { status = 0 } = error;
    completion.isRefused = status >= 400 && status < 500 && status !== 408 && status !== 429;
    return undefined;
  }
}

function warnOfCut<T extends NamedRecord>({ completion, kind, warn }: Collection<T>): void {
  if (completion.hasWarned) return;
  completion.hasWarned = true;
  warn?.(
    `${listOf(kind)} has ${LIST_CAP} records or more, and this key cannot read the rest over REST v2. Other ` +
      `${kind.noun}s may exist, and a new one may get the same name. Delete ${kind.noun}s that you do not need, or use a key ` +
      "that REST v2 accepts",
  );
}
