import { NotFoundError } from "../errors";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import { requireId } from "../transport/urls";
import { lookRepeatedly } from "./absence";
import { type Listed, listOf, type NamedRecord, type RecordKind } from "./listed";
import { createSharedList, type ListSnapshot, type SharedList } from "./sharedList";
import { createSingleReads, type SingleReads } from "./singleReads";
import { type Completion, createCompletion, type NamesCall } from "./wholeList";

/**
 * The requests for one kind of record. Each sends one request, once. Every management interface of the service
 * implements them; the rules above them are the same for all.
 */
export interface RecordCalls<T extends NamedRecord, Settings, Deletable = T> {
  /** The operations' names in events, such as `saveEndpoint`. */
  readonly names: Readonly<Record<"list" | "create" | "change" | "delete", string> & { read?: string }>;
  /** Returns all records of the account. */
  readonly list: (operation: string, attempt: Attempt) => Promise<Listed<T>>;
  /** Reads records by their ids. Returns those that exist. @default the interface reads only lists */
  readonly readByIds?: (operation: string, ids: readonly string[], attempt: Attempt) => Promise<Listed<T>>;
  /** Reads the ids and names of all records where `list` may be cut. @default there is no such interface */
  readonly readNames?: NamesCall;
  /** Creates a record. */
  readonly create: (operation: string, settings: Settings, attempt: Attempt) => Promise<T>;
  /** Changes a record to these settings. `before` is the record as it was read. */
  readonly change: (operation: string, before: T, settings: Settings, attempt: Attempt) => Promise<T>;
  /**
   * Deletes a record.
   * @throws NotFoundError if it does not exist
   */
  readonly delete: (operation: string, record: Deletable, attempt: Attempt) => Promise<void>;
  /** Returns the settings that a record does not show as it was read. @default none */
  readonly hiddenIn?: (record: T) => readonly string[];
  /** Returns a record with settings in the words of `known` where both mean the same. @default the record as it is */
  readonly recognize?: (record: T, known: KnownSettings) => Promise<T>;
}

/** Settings of a record as the caller last knew them, by name. */
export type KnownSettings = Readonly<Record<string, unknown>>;

/** The records of one kind in one account: the list that its calls share, and the writes of this client. */
export interface Collection<T extends NamedRecord> extends CallContext {
  readonly kind: RecordKind<T>;
  readonly list: SharedList<Listed<T>>;
  readonly single: SingleReads<T>;
  readonly completion: Completion;
  /** The time of the last write to each id and each name, in milliseconds of the monotonic clock. */
  readonly lastWrites: Map<string, number>;
  /** Returns the settings that a record does not show as it was read. */
  readonly hiddenIn: (record: T) => readonly string[];
  /** Returns a record with what its interface does not show, or writes in another way, as the caller knows it. */
  readonly recall: (record: T, known: KnownSettings | undefined) => Promise<T>;
}

/** The records of one kind, with one of the requests that write them. */
export type Writable<
  T extends NamedRecord,
  Settings,
  Request extends "create" | "change" | "delete",
> = Collection<T> & {
  readonly calls: Pick<RecordCalls<T, Settings>, "names" | Request>;
};

/** Returns the records of one kind that `calls` lists. */
export function createCollection<T extends NamedRecord>(
  context: CallContext,
  kind: RecordKind<T>,
  calls: Pick<RecordCalls<T, never, never>, "names" | "list" | "readByIds" | "readNames" | "hiddenIn" | "recognize">,
): Collection<T> {
  const operation = listOf(kind);
  const attempt = (each: Attempt) => calls.list(operation, each);
  const list = createSharedList(context.clock, (options) =>
    makeCall(context, { ...options, name: calls.names.list, operation, repeatability: "safe", attempt }),
  );
  const { hiddenIn = () => [], recognize = async (record) => record } = calls;
  return {
    ...{ ...context, kind, list, lastWrites: new Map(), hiddenIn },
    single: createSingleReads(context, kind, calls),
    completion: createCompletion(context, kind, calls.readNames),
    recall: async (record, known) =>
      known === undefined ? record : recognize(withKnown(record, hiddenIn(record), known), known),
  };
}

/** Returns a record with these settings as they are known. */
export function withKnown<T>(record: T, settings: readonly string[], known: KnownSettings | undefined): T {
  const names = settings.filter((name) => known?.[name] !== undefined);
  return names.length === 0 ? record : { ...record, ...Object.fromEntries(names.map((name) => [name, known?.[name]])) };
}

/** Notes a write. It must be called after the response, also after a failure: the response may be lost and the change made. */
export function noteWrite<T extends NamedRecord>(
  { list, lastWrites, clock }: Collection<T>,
  ...idsAndNames: (string | undefined)[]
): void {
  list.noteWrite();
  for (const key of idsAndNames) if (key !== undefined) lastWrites.set(key, clock.monotonic());
}

/** Options of calls that return a record. */
export interface KnownOptions extends RequestOptions {
  /**
   * The settings as you last knew them. REST v2 does not show every setting (an endpoint's template, a template's
   * description), and no countries. The record then has what is not shown as it is here.
   * @default none: what is not shown has its default, or is empty
   */
  readonly known?: KnownSettings | undefined;
}

/** Options of `find`. */
export interface FindOptions extends KnownOptions {
  /**
   * The age that the list may have, in milliseconds. It is never older than the last write of this client. Without it,
   * the list is requested after the call.
   */
  readonly maxAgeMs?: number;
}

/**
 * The age that the first list of a create, update or delete may have. If every operation fetched its own list, the total
 * data would grow with n².
 */
export const SHARED_LIST_MAX_AGE_MS = 2_000;

/**
 * Returns a list that calls share if they begin at about the same time. It was requested after every write of this client
 * to the id or name.
 * @param afterWriteMs the time between the last of these writes and the request, at least
 */
export function readShared<T extends NamedRecord>(
  { clock, lastWrites, list }: Collection<T>,
  idOrName: string,
  options: ObservedOptions,
  afterWriteMs = 1,
): Promise<ListSnapshot<Listed<T>>> {
  const lastWrite = lastWrites.get(idOrName) ?? Number.NEGATIVE_INFINITY;
  const sentAfter = Math.max(clock.monotonic() - SHARED_LIST_MAX_AGE_MS, lastWrite + afterWriteMs);
  return list.read({ sentAfter, despiteWrites: true }, options);
}

/**
 * Returns a list that was requested after the last write of this client, and that is at most as old as a shared list. It
 * serves all deletions that look at the same time.
 */
export function readAfterWrites<T extends NamedRecord>(
  { clock, list }: Collection<T>,
  options: ObservedOptions,
): Promise<ListSnapshot<Listed<T>>> {
  const leave = list.join();
  return list.read({ sentAfter: clock.monotonic() - SHARED_LIST_MAX_AGE_MS, gathers: true }, options).finally(leave);
}

/**
 * Returns a shared list, or a new one if the record is not in it: somebody else may have just created it.
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

/** Returns the record, or `undefined` if it is proven that there is none: see `lookRepeatedly`. */
export async function findRecord<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  { maxAgeMs, known, ...options }: FindOptions & ObservedOptions = {},
): Promise<T | undefined> {
  requireId(id);
  const begunAt = collection.clock.monotonic();
  const sentAfter = maxAgeMs === undefined ? undefined : begunAt - maxAgeMs;
  const recent = await collection.list.read({ sentAfter }, options);
  const isOld = recent.sentAt < begunAt && !isDecisive(recent, id);
  const found = await lookRepeatedly(
    collection,
    isOld ? await collection.list.read({ sentAfter: begunAt }, options) : recent,
    id,
    options,
  );
  return found && collection.recall(found, known);
}

/**
 * Returns the record as a list shows it that was requested after the call.
 * @throws NotFoundError if it is proven that there is none
 */
export async function getRecord<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  options: KnownOptions & ObservedOptions,
): Promise<T> {
  return existing(await findRecord(collection, id, options), collection.kind, id);
}

/**
 * Returns the record as a shared list shows it, for a change that builds on it.
 * @param afterWriteMs see `readShared`
 * @throws NotFoundError if it is proven that there is none
 */
export async function readExisting<T extends NamedRecord>(
  collection: Collection<T>,
  id: string,
  options: ObservedOptions,
  afterWriteMs?: number,
): Promise<T> {
  const shared = await readSharedWith(collection, id, options, afterWriteMs);
  return existing(await lookRepeatedly(collection, shared, id, options), collection.kind, id);
}

/** Returns `false` if an odd record of the list hides whether it has the record. A new list may be free of it. */
function isDecisive<T extends NamedRecord>(list: Listed<T>, id: string): boolean {
  const { unreadable } = list.about?.(id) ?? list;
  return holds(list, id) || unreadable.every((each) => each.id !== undefined && each.id !== id);
}

/** Returns `true` if a list has a record that can be read. */
function holds<T extends NamedRecord>(list: Listed<T>, id: string): boolean {
  return (list.about?.(id) ?? list).records.some((each) => each.id === id);
}

/**
 * Returns the record that was found.
 * @throws NotFoundError if none was
 */
export function existing<T>(found: T | undefined, { noun }: { readonly noun: string }, id: string): T {
  if (found !== undefined) return found;
  throw noSuchRecord(noun, id);
}

/** Returns the error for an id that no record of the account has. */
export function noSuchRecord(noun: string, id: string): NotFoundError {
  return new NotFoundError(`${noun} ${id} does not exist in this account. Check the id and the API key`);
}
