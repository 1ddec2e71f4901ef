import type { CallOptions } from "../transport/retryingCall";
import { type Collection, existing, type FindOptions, findRecord } from "./collection";
import { type Listed, type NamedRecord, refuseUnreadable } from "./listed";

/** Reads the records of one kind. Every call may also throw the errors of the connection, such as `ConnectionError`. */
export interface Readers<T> {
  /**
   * Returns all records of the account.
   * @throws UnexpectedResponseError if a record cannot be read, because the list would be incomplete; names it
   * @throws AuthenticationError if the service does not accept the API key
   */
  list(options?: CallOptions): Promise<T[]>;
  /**
   * Returns the records that can be read, and what is known of the others.
   * @throws AuthenticationError if the service does not accept the API key
   */
  listReadable(options?: CallOptions): Promise<Listed<T>>;
  /**
   * Returns a record, or `undefined` if it is in neither of two lists with the service's lag between them.
   * @throws UnexpectedResponseError if it cannot be read, or if it is in no list and a record has no id
   */
  find(id: string, options?: FindOptions): Promise<T | undefined>;
  /**
   * Returns a record.
   * @throws NotFoundError if it does not exist
   */
  get(id: string, options?: CallOptions): Promise<T>;
}

/** Returns the functions that read a collection. */
export function readersOf<T extends NamedRecord>(collection: Collection<T>): Readers<T> {
  const { kind, list } = collection;
  return {
    async list(options) {
      const snapshot = await list.read({}, options?.signal);
      refuseUnreadable(kind, snapshot);
      // A copy: the list itself is shared with other readers.
      return [...snapshot.records];
    },
    async listReadable(options) {
      const { records, unreadable } = await list.read({}, options?.signal);
      return { records: [...records], unreadable: [...unreadable] };
    },
    find: (id, options) => findRecord(collection, id, options),
    get: async (id, options) => existing(await findRecord(collection, id, options), kind, id),
  };
}
