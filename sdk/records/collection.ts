import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { KnownSettings, RecordCalls } from "./calls";
import { type Completion, createCompletion } from "./completion";
import { type Kind, type Listed, listOf, type NamedRecord } from "./listed";
import { SharedList } from "./sharedList";
import { SingleReads } from "./singleReads";

/** Called with the created record, and with the others that have its name. */
export type OnDuplicates<T> = (created: T, others: readonly T[]) => void;

/** The creates of one kind whose names still have to be looked for. */
export interface Duplicates<T> {
  /** Creates that run now. */
  running: number;
  /** What they have created. */
  created: { readonly record: T; readonly onDuplicates: OnDuplicates<T>; readonly at: number }[];
}

/**
 * The records of one kind in one account: the list that its calls share, and the writes of this
 * client.
 */
export interface Collection<T extends NamedRecord> extends CallContext {
  readonly kind: Kind;
  readonly list: SharedList<Listed<T>>;
  readonly single: SingleReads<T>;
  readonly completion: Completion;
  /**
   * The time of the last write to each id and each name, in milliseconds of the monotonic clock.
   */
  readonly lastWrites: Map<string, number>;
  readonly duplicates: Duplicates<T>;
  /** Returns the settings that a record does not show as it was read. */
  readonly hiddenIn: (record: T) => readonly string[];
  /**
   * Returns a record in which settings that the interface does not show, or writes differently, are
   * as the caller knows them.
   */
  readonly recall: (record: T, known: KnownSettings | undefined) => Promise<T>;
}

/** What only the writes of one kind of record need. */
export interface WriteHooks<T extends NamedRecord, Changes> {
  /**
   * Returns the record that a save builds on, if the list shows an older one.
   * @default the record as it was read
   */
  readonly latest?: (read: T) => T;
  /**
   * Returns the record with what it does not show although the change repeats it.
   * @default the record
   */
  readonly complete?: (before: T, changes: Changes, options: ObservedOptions) => Promise<T>;
  /** Called after a create (without `before`) and after a save. */
  readonly noteSaved?: (before: T | undefined, saved: T) => void;
  /** Returns a clearer error for a write that the service refused, or the same error. */
  readonly explain?: (error: unknown, options: ObservedOptions) => Promise<unknown>;
}

/** The records of one kind, with the requests that write them. */
export interface Writable<T extends NamedRecord, Settings, Changes = Settings> extends Collection<T> {
  readonly calls: RecordCalls<T, Settings, Changes>;
  readonly hooks: WriteHooks<T, Changes>;
}

/** Returns the records of one kind that `calls` lists. */
export function createCollection<T extends NamedRecord, Settings, Changes>(
  context: CallContext,
  kind: Kind,
  calls: RecordCalls<T, Settings, Changes>,
  hooks: WriteHooks<T, Changes> = {},
): Writable<T, Settings, Changes> {
  const operation = listOf(kind);
  const single = new SingleReads(context, kind, calls);
  const list = new SharedList(
    context.clock,
    (options, onSend, also) => {
      const attempt = (each: Attempt) => {
        onSend();
        return calls.list(operation, each, also);
      };
      return makeCall(context, { ...options, name: calls.names.list, operation, repeatability: "safe", attempt });
    },
    calls.operations,
  );
  const { hiddenIn = () => [], recognize = async (record) => record } = calls;
  return {
    ...{ ...context, kind, calls, hooks, list, single, lastWrites: new Map(), hiddenIn },
    duplicates: { running: 0, created: [] },
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

/**
 * Notes a write. Call it after the response, even after a failure: the response may be lost
 * although the change was made.
 */
export function rememberWrite<T extends NamedRecord>(
  { list, lastWrites, clock }: Collection<T>,
  ...idsAndNames: (string | undefined)[]
): void {
  list.noteWrite();
  for (const key of idsAndNames) if (key !== undefined) lastWrites.set(key, clock.monotonic());
}

/** Options of calls that return a record. */
export interface KnownOptions extends RequestOptions {
  /**
   * The settings as you last knew them. REST v2 shows neither every setting (such as an endpoint's
   * template or a template's description) nor countries. The returned record has such settings from
   * here. @default none: such settings have their default, or are empty
   */
  readonly known?: KnownSettings | undefined;
}

/** Options of `find`. */
export interface FindOptions extends KnownOptions {
  /**
   * The maximum age of the list, in milliseconds. It is never older than the last write of this
   * client. Without this option, the list is requested after the call.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Called when the first look has found no record, before the wait for the second one. An error
   * that it throws ends the search.
   */
  readonly onMissing?: (() => void) | undefined;
}

/** Options of `update`. */
export interface UpdateRecordOptions<T> extends KnownOptions {
  /**
   * Called before a record is renamed to a name that others have. An error that it throws ends the
   * update, and nothing is changed. Without it, the record is renamed where the service allows it.
   */
  readonly onNameTaken?: ((others: readonly T[]) => void) | undefined;
}
