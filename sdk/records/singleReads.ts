import { NotFoundError, RejectedError, UnexpectedResponseError } from "../errors/errors";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { changeRequest, type ObservedOptions, requestOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import type { ReadByIds, RecordCalls } from "./calls";
import type { OperationCounter } from "./concurrentOperations";
import { follow } from "./follow";
import { type Kind, type Listed, type NamedRecord, recordById } from "./listed";
import { type FetchList, SharedList } from "./sharedList";

/** Returns the record with the id, or `undefined` if the service does not have it. */
export type GatheredRead<T> = (id: string, options: ObservedOptions) => Promise<T | undefined>;

/**
 * Returns a function that reads records by their ids. Operations that run at the same time share
 * these requests in the same way that they share lists.
 */
export function gatheredReads<T extends NamedRecord>(
  context: CallContext,
  kind: Kind,
  calls: SingleReadCalls<T>,
  operations: OperationCounter,
): GatheredRead<T> {
  const single = new SingleReads(context, kind, calls);
  const { most = 1 } = calls.byIds ?? {};
  const fetch: FetchList<Listed<T>> = async (options, onSend, wanted) => {
    onSend();
    const ids = [...wanted];
    const parts = ids.flatMap((_, from) => (from % most === 0 ? [ids.slice(from, from + most)] : []));
    const found = await Promise.all(parts.map((part) => single.readMany(part, options)));
    return {
      records: found.flatMap((each) => each?.records ?? []),
      unreadable: found.flatMap((each) => each?.unreadable ?? []),
    };
  };
  const reads = new SharedList(context.clock, fetch, operations);
  return async (id, options) => recordById(kind, await reads.read({ gathers: true, also: id }, options), id);
}

/**
 * If each request reads only one record, the maximum number of these requests in progress at the
 * same time.
 */
const MOST_AT_ONCE = 4;

/** The service's response about one id. */
interface SingleRead<T> {
  /** The record, or `undefined` if the service has no record with the id. */
  readonly record: T | undefined;
}

/** The records that were found, or `undefined` if the service does not allow reading them by id. */
type Answer<T> = Listed<T> | undefined;

/** The requests that are needed to read single records. */
type SingleReadCalls<T extends NamedRecord> = Pick<RecordCalls<T, never>, "byIds"> & {
  readonly names: { readonly list: string; readonly read?: string };
};

/** The ids that are read in one request. */
interface Batch<T> {
  readonly ids: Set<string>;
  readonly answer: Promise<Answer<T>>;
  /** Aborted when no reader is waiting for the request any longer. */
  readonly abandoned: AbortController;
  readers: number;
  response?: ReceivedResponse;
}

/**
 * Reads records of one kind by their ids, including records that the service does not list. Readers
 * that wait at the same time share one request or, if each request reads only one record, a queue
 * with a few requests in progress.
 */
export class SingleReads<T extends NamedRecord> {
  readonly #context: CallContext;
  readonly #kind: Kind;
  readonly #names: SingleReadCalls<T>["names"];
  #byIds: ReadByIds<T> | undefined;
  #isServed = false;
  #queued: Batch<T>[] = [];
  /**
   * The last request of each lane. Requests in different lanes can be in progress at the same time.
   */
  readonly #lanes: Promise<unknown>[];
  #batches = 0;

  constructor(context: CallContext, kind: Kind, { names, byIds }: SingleReadCalls<T>) {
    this.#context = context;
    this.#kind = kind;
    this.#names = names;
    this.#byIds = byIds;
    this.#lanes = Array.from({ length: byIds?.most === 1 ? MOST_AT_ONCE : 1 }, () => Promise.resolve());
  }

  /** `false` once it is known that the service does not allow reading records by id. */
  get isPossible(): boolean {
    return this.#byIds !== undefined;
  }

  /**
   * Reads one record. The request is sent after the call and serves all callers that read a record
   * at about the same time. Returns `undefined` if the service rejects such requests, or if its
   * response says nothing about the record. From then on, such requests are no longer sent.
   * @throws UnexpectedResponseError if the record cannot be read, or if this response says nothing
   * about the record although earlier responses did
   */
  async read(id: string, options: ObservedOptions): Promise<SingleRead<T> | undefined> {
    if (!this.#byIds) return undefined;
    const answer = await (changeRequest(options) ? this.readMany([id], options) : this.#readGathered(id, options));
    return answer && { record: recordById(this.#kind, answer, id) };
  }

  /**
   * Reads records by their ids, in a single request if the service allows that. Returns the records
   * that exist, or `undefined` if the service rejects such requests.
   */
  async readMany(ids: readonly string[], given: ObservedOptions): Promise<Listed<T> | undefined> {
    const byIds = this.#byIds;
    if (!byIds) return undefined;
    const { noun } = this.#kind;
    const operation = ids.length === 1 ? `the read of ${noun} ${ids[0]}` : `the read of ${ids.length} ${noun}s`;
    const attempt = (each: Attempt) => byIds.read(operation, ids, each);
    const name = this.#names.read ?? this.#names.list;
    try {
      const found = await makeCall(this.#context, {
        ...requestOptions(given),
        name,
        operation,
        repeatability: "safe",
        attempt,
      });
      this.#isServed = true;
      return found;
    } catch (error) {
      // A business error is about one of the records. A missing path is not, and neither is a field
      // that is missing from the service's schema.
      if (error instanceof NotFoundError && error.status === 200) return this.#sendEach(ids, given);
      const isRefusal =
        error instanceof RejectedError ||
        error instanceof UnexpectedResponseError ||
        (error instanceof NotFoundError && error.status === 400);
      if (!isRefusal || byIds.isRequired || this.#isServed) throw error;
      this.#byIds = undefined;
      return undefined;
    }
  }

  /**
   * Reads the records one at a time, because a service may reject a whole request if one of its ids
   * is unknown.
   */
  async #sendEach(ids: readonly string[], given: ObservedOptions): Promise<Answer<T>> {
    if (ids.length === 1) return { records: [], unreadable: [] };
    const answers: Listed<T>[] = [];
    for (const id of ids) answers.push((await this.readMany([id], given)) ?? { records: [], unreadable: [] });
    return {
      records: answers.flatMap(({ records }) => records),
      unreadable: answers.flatMap(({ unreadable }) => unreadable),
    };
  }

  #queue(): Batch<T> {
    const abandoned = new AbortController();
    const { signal } = abandoned;
    const lane = this.#batches++ % this.#lanes.length;
    const batch: Batch<T> = {
      ids: new Set(),
      abandoned,
      readers: 0,
      answer: Promise.resolve(this.#lanes[lane])
        .then(nextTurn)
        .then(() => {
          this.#unqueue(batch);
          signal.throwIfAborted();
          const onResponse = (response: ReceivedResponse) => {
            batch.response = response;
          };
          return this.readMany([...batch.ids], { signal, onResponse });
        }),
    };
    // A failure affects only the readers that waited for this request.
    this.#lanes[lane] = batch.answer.catch(() => {});
    this.#queued.push(batch);
    return batch;
  }

  #unqueue(batch: Batch<T>): void {
    this.#queued = this.#queued.filter((each) => each !== batch);
  }

  async #readGathered(id: string, { signal, onResponse }: ObservedOptions): Promise<Answer<T>> {
    signal?.throwIfAborted();
    const { most = 1 } = this.#byIds ?? {};
    const batch =
      this.#queued.find(({ ids }) => ids.has(id)) ?? this.#queued.find(({ ids }) => ids.size < most) ?? this.#queue();
    batch.ids.add(id);
    const answer = await follow(batch, batch.answer, signal, (reason) => {
      this.#unqueue(batch);
      batch.abandoned.abort(reason);
    });
    if (batch.response) onResponse?.(batch.response);
    return answer;
  }
}

/** Resolves when all readers that waited for the same list have also requested their records. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
