import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import type { ObservedOptions, RequestOptions } from "../transport/requestOptions";
import type { KnownSettings, RecordCalls } from "./calls";
import { type Completion, createCompletion } from "./completion";
import { type ShownRecord, unshownProperty } from "./fields";
import { type Kind, type Listed, listOf, type NamedRecord } from "./listed";
import { SharedList } from "./sharedList";
import { SingleReads } from "./singleReads";

/** Called with the created record and the other records that have the same name. */
export type OnDuplicates<T> = (created: T, others: readonly T[]) => void;

/** The creates of one kind that still have to be checked for duplicate names. */
export interface Duplicates<T> {
  /** The number of creates in progress. */
  running: number;
  /** The number of creates that have begun. */
  begun: number;
  /** When the last create ended, in milliseconds of the monotonic clock. */
  lastEndAt: number;
  /** The records that were created. */
  created: { readonly record: T; readonly onDuplicates: OnDuplicates<T>; readonly at: number }[];
}

/**
 * The records of one kind in an account, with the list that all calls share and the writes of this
 * client.
 */
export interface Collection<T extends NamedRecord> extends CallContext {
  readonly kind: Kind;
  readonly list: SharedList<Listed<T>>;
  readonly single: SingleReads<T>;
  readonly completion: Completion;
  /** When each id and each name was last written, in milliseconds of the monotonic clock. */
  readonly lastWrites: Map<string, number>;
  readonly duplicates: Duplicates<T>;
  /** Returns the settings that are missing from a record as it was read. */
  readonly hiddenIn: (record: T) => readonly string[];
  /**
   * Returns the record. Settings that the API does not show or writes differently have the values
   * that the caller knows.
   */
  readonly recall: (record: T, known: KnownSettings | undefined) => Promise<T>;
}

/** Hooks for writes that only some kinds of records need. */
export interface WriteHooks<T extends NamedRecord, Changes> {
  /**
   * Returns the record on which a save should be based, because the list may show an older version.
   * @default the record as it was read
   */
  readonly latest?: (read: T) => T;
  /**
   * Returns the record, completed with settings that the list does not show but that the change
   * must send back.
   * @default the record
   */
  readonly complete?: (before: T, changes: Changes, options: ObservedOptions) => Promise<T>;
  /** Called after a create (without `before`) and after a save. */
  readonly noteSaved?: (before: T | undefined, saved: T) => void;
  /** Returns a clearer error for a write that the service rejected, or the same error. */
  readonly explain?: (error: unknown, options: ObservedOptions) => Promise<unknown>;
}

/** The records of one kind, with the requests to write them. */
export interface Writable<T extends NamedRecord, Settings, Changes = Settings> extends Collection<T> {
  readonly calls: RecordCalls<T, Settings, Changes>;
  readonly hooks: WriteHooks<T, Changes>;
}

/** Returns the records of the kind that `calls` lists. */
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
    ...context,
    kind,
    calls,
    hooks,
    list,
    single,
    lastWrites: new Map(),
    hiddenIn,
    duplicates: { running: 0, begun: 0, lastEndAt: Number.NEGATIVE_INFINITY, created: [] },
    completion: createCompletion(context, kind, calls.readNames),
    recall: async (record, known) => {
      if (known === undefined) return record;
      const { unshown = [] } = record;
      return recognize(withKnown(record, [...hiddenIn(record), ...unshown], known), known);
    },
  };
}

/** Returns a record in which these settings have their known values. */
export function withKnown<T extends ShownRecord>(
  record: T,
  settings: readonly string[],
  known: KnownSettings | undefined,
): T {
  const names = settings.filter((name) => known?.[name] !== undefined);
  if (names.length === 0) return record;
  const { unshown = [], ...shown } = record;
  const recalled = Object.fromEntries(names.map((name) => [name, known?.[name]]));
  return { ...shown, ...recalled, ...unshownProperty(unshown.filter((name) => !names.includes(name))) } as T;
}

/**
 * Remembers a write. Call this after the response and also after a failure, because the change may
 * have been made although the response was lost.
 */
export function rememberWrite<T extends NamedRecord>(
  { list, lastWrites, clock }: Collection<T>,
  ...idsAndNames: (string | undefined)[]
): void {
  list.noteWrite();
  for (const key of idsAndNames) if (key !== undefined) lastWrites.set(key, clock.monotonic());
}

/** Options for calls that return a record. */
export interface KnownOptions extends RequestOptions {
  /**
   * The settings as you last knew them. REST v2 doesn't show countries and some other settings,
   * such as an endpoint's template or a template's description. For these settings, the returned
   * record contains the values given here.
   * @default none: such settings have their default, or are empty
   */
  readonly known?: KnownSettings | undefined;
}

/** Options for `listReadable`. */
export interface ListOptions extends RequestOptions {
  /**
   * The maximum age of the list, in milliseconds. The list is never older than this client's last
   * write. Without this option, a new list is requested.
   */
  readonly maxAgeMs?: number | undefined;
}

/** Options for `find`. */
export interface FindOptions extends KnownOptions {
  /**
   * The maximum age of the list, in milliseconds. The list is never older than this client's last
   * write to the record. Without this option, a new list is requested.
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Called when the first look has found no record, before the wait for the second look. If the
   * callback throws an error, the search ends with that error.
   */
  readonly onMissing?: (() => void) | undefined;
}

/** Options for a save. */
export interface SaveOptions<T> extends KnownOptions {
  /**
   * Called with the record as it was read, right before the change is sent. If the callback throws
   * an error, the call ends with that error and nothing is changed.
   */
  readonly onSave?: ((before: T) => void) | undefined;
}

/** Options for `update`. */
export interface UpdateRecordOptions<T> extends SaveOptions<T> {
  /**
   * Called before a record is renamed to a name that other records already have. If the callback
   * throws an error, the update ends with that error and nothing is changed. Without this callback,
   * the record is renamed if RunPod allows it.
   */
  readonly onNameTaken?: ((others: readonly T[]) => void) | undefined;
}
