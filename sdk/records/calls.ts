import type { ManagementApi } from "../contract/limits";
import { ConfigurationError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import type { OperationCounter } from "./concurrentOperations";
import type { Listed, NamedRecord } from "./listed";

/**
 * Reads the ids and names of all records of one kind, using an API whose lists are never cut off.
 * Each call sends one request, without retries.
 */
export type NamesCall = (operation: string, attempt: Attempt) => Promise<Listed<NamedRecord>>;

/** The request that reads records by their ids. */
export interface ReadByIds<T extends NamedRecord> {
  /** The maximum number of records that one request can read. */
  readonly most: number;
  /** Returns the records that exist. Sends one request, without retries. */
  readonly read: (operation: string, ids: readonly string[], attempt: Attempt) => Promise<Listed<T>>;
  /**
   * `true` if it is an error that the service rejects this request.
   * @default false: some services do not have this request, and their lists are read instead
   */
  readonly isRequired?: true;
}

/**
 * The requests for one kind of record. Each function sends one request, without retries. They are
 * implemented for each management API of the service. The rules built on top of them are the same
 * for all APIs.
 */
export interface RecordCalls<T extends NamedRecord, Settings, Changes = Settings> {
  /** The names of the operations in events, such as `saveEndpoint`. */
  readonly names: Readonly<Record<"list" | "create" | "change" | "delete", string> & { read?: string }>;
  /**
   * Returns all records of the account. `also` contains ids of records of another kind, which the
   * same request may look up as well.
   */
  readonly list: (operation: string, attempt: Attempt, also?: ReadonlySet<string>) => Promise<Listed<T>>;
  /** The request that reads records by their ids. @default the API reads only lists */
  readonly byIds?: ReadByIds<T>;
  /**
   * Reads the ids and names of all records, for kinds whose `list` may be cut off.
   * @default the API cannot read names alone
   */
  readonly readNames?: NamesCall;
  /** Creates a record. */
  readonly create: (operation: string, settings: Settings, attempt: Attempt) => Promise<T>;
  /** Applies the changes. `before` is the record as it was read before the change. */
  readonly change: (operation: string, before: T, changes: Changes, attempt: Attempt) => Promise<T>;
  /**
   * Deletes a record.
   * @throws NotFoundError if the record does not exist
   */
  readonly delete: (operation: string, record: T, attempt: Attempt) => Promise<void>;
  /** The operations that share requests. @default the operations that share the list */
  readonly operations?: OperationCounter;
  /** `true` if a deletion identifies the record by its name. @default by its id */
  readonly deletesByName?: true;
  /**
   * Called before a create or a change with these settings is sent, to read everything that it
   * requires. For a change, `before` is the record to be changed.
   * @default nothing is read
   */
  readonly prepare?: (settings: Settings | Changes, before?: T) => Promise<void>;
  /**
   * Returns the settings that this change would reset, because its request must contain them and
   * the record, as it was read, does not show them.
   * @default none: a change sends only the fields that differ
   */
  readonly resets?: (before: T, changes: object) => readonly string[];
  /** Returns the settings that are missing from a record as it was read. @default none */
  readonly hiddenIn?: (record: T) => readonly string[];
  /**
   * Returns the record in which each setting is written as in `known`, provided that both values
   * mean the same.
   * @default the record as it is
   */
  readonly recognize?: (record: T, known: KnownSettings) => Promise<T>;
}

/** The settings of a record as the caller last knew them, by name. */
export type KnownSettings = Readonly<Record<string, unknown>>;

/**
 * Returns the requests for a kind of record that an API does not have. Each of them fails, so that
 * a client has the same functions over both APIs.
 */
export function lackedCalls(api: ManagementApi) {
  const fail = async (operation: string): Promise<never> => {
    const other = api === "v2" ? "graphql" : "v2";
    throw new ConfigurationError(
      `${operation}: this client uses the API ${api}, which does not have this kind of record. Set SERVERLESS_GPU_API=${other}, or the ` +
        "client's option api",
    );
  };
  const names = { list: "list", create: "create", change: "change", delete: "delete" };
  return { names, list: fail, create: fail, change: fail, delete: fail };
}
