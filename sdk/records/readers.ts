import { REQUEST_OPTIONS } from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { FIND_OPTIONS, KNOWN_OPTIONS, LIST_OPTIONS } from "./callOptions";
import type { Collection, FindOptions, KnownOptions, ListOptions } from "./collection";
import { type Listed, type NamedRecord, refuseUnreadable } from "./listed";
import { findRecord, getRecord } from "./reads";
import { readWhole } from "./wholeList";

/**
 * Reads the records of one kind. Every call may also throw connection errors, such as
 * `ConnectionError`.
 */
export interface Readers<T> {
  /**
   * Returns all records of the account. Over GraphQL, the service may return only the 400 oldest
   * records. The other records are then found over REST v2 and read by their ids. If that is not
   * possible, they are missing from the result, and `onWarning` is called.
   * @throws UnexpectedResponseError if a record cannot be read, because the list would be
   * incomplete; names the record
   * @throws AuthenticationError if the service does not accept the API key
   */
  list(options?: RequestOptions): ResponsePromise<T[]>;
  /**
   * Returns the records that can be read, and what is known about those that cannot be read.
   * `mayBeCut` is `true` if there may be more records.
   * @throws AuthenticationError if the service does not accept the API key
   */
  listReadable(options?: ListOptions): ResponsePromise<Listed<T>>;
  /**
   * Returns a record, or `undefined` if it is certain that the record does not exist.
   * @throws UnexpectedResponseError if the record cannot be read, or if it was not found but a
   * listed record has no id and could be this record
   */
  find(id: string, options?: FindOptions): ResponsePromise<T | undefined>;
  /**
   * Returns a record.
   * @throws NotFoundError if the record does not exist
   */
  get(id: string, options?: KnownOptions): ResponsePromise<T>;
}

/** Returns the functions that read a collection. */
export function readersOf<T extends NamedRecord>(collection: Collection<T>): Readers<T> {
  const { kind } = collection;
  return {
    list: (given) =>
      checkedCall(given, REQUEST_OPTIONS, async (options) => {
        const whole = await readWhole(collection, options);
        refuseUnreadable(kind, whole);
        // Return a copy, because other readers use the same list.
        return [...whole.records];
      }),
    listReadable: (given) =>
      checkedCall(given, LIST_OPTIONS, async ({ maxAgeMs, ...options }) => {
        const sentAfter = maxAgeMs === undefined ? undefined : collection.clock.monotonic() - maxAgeMs;
        const { records, unreadable, mayBeCut } = await readWhole(collection, options, { sentAfter });
        return { records: [...records], unreadable: [...unreadable], ...(mayBeCut && { mayBeCut }) };
      }),
    find: (id, given) => checkedCall(given, FIND_OPTIONS, (options) => findRecord(collection, id, options)),
    get: (id, given) => checkedCall(given, KNOWN_OPTIONS, (options) => getRecord(collection, id, options)),
  };
}
