import type { Attempt } from "../transport/call";
import type { OperationCounter } from "./concurrentOperations";
import type { Listed, NamedRecord } from "./listed";

/**
 * Reads the ids and names of all records of one kind, from an interface whose lists are never cut.
 * Sends each request once.
 */
export type NamesCall = (operation: string, attempt: Attempt) => Promise<Listed<NamedRecord>>;

/** The request that reads records by their ids. */
export interface ReadByIds<T extends NamedRecord> {
  /** The largest number of records that one request reads. */
  readonly most: number;
  /** Returns those that exist. Sends one request, once. */
  readonly read: (operation: string, ids: readonly string[], attempt: Attempt) => Promise<Listed<T>>;
  /**
   * `true` if a refusal is an error.
   * @default false: some services do not have this request, and their lists are read instead
   */
  readonly isRequired?: true;
}

/**
 * The requests for one kind of record. Each sends one request, once. Every management interface of
 * the service implements them; the rules above them are the same for all.
 */
export interface RecordCalls<T extends NamedRecord, Settings, Changes = Settings> {
  /** The operations' names in events, such as `saveEndpoint`. */
  readonly names: Readonly<Record<"list" | "create" | "change" | "delete", string> & { read?: string }>;
  /**
   * Returns all records of the account. `also` are ids of records of another kind, about which the
   * same request may ask.
   */
  readonly list: (operation: string, attempt: Attempt, also?: ReadonlySet<string>) => Promise<Listed<T>>;
  /** The read of records by their ids. @default the API reads only lists */
  readonly byIds?: ReadByIds<T>;
  /**
   * Reads the ids and names of all records, for kinds whose `list` may be cut off.
   * @default the interface cannot read names alone
   */
  readonly readNames?: NamesCall;
  /** Creates a record. */
  readonly create: (operation: string, settings: Settings, attempt: Attempt) => Promise<T>;
  /** Applies these changes. `before` is the record as it was read. */
  readonly change: (operation: string, before: T, changes: Changes, attempt: Attempt) => Promise<T>;
  /**
   * Deletes a record.
   * @throws NotFoundError if it does not exist
   */
  readonly delete: (operation: string, record: T, attempt: Attempt) => Promise<void>;
  /** The operations that share requests. @default those that share the list */
  readonly operations?: OperationCounter;
  /** `true` if a deletion names the record by its name. @default by its id */
  readonly deletesByName?: true;
  /**
   * Reads what a create or a change with these settings requires, before it is sent. `before` is
   * the record that is changed.
   * @default nothing
   */
  readonly prepare?: (settings: Settings | Changes, before?: T) => Promise<void>;
  /** Returns the settings that a record does not show as it was read. @default none */
  readonly hiddenIn?: (record: T) => readonly string[];
  /**
   * Returns a record whose settings are written as in `known` where both mean the same.
   * @default the record as it is
   */
  readonly recognize?: (record: T, known: KnownSettings) => Promise<T>;
}

/** Settings of a record as the caller last knew them, by name. */
export type KnownSettings = Readonly<Record<string, unknown>>;
