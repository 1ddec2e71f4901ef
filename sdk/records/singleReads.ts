import { onAbort } from "../contract/clock";
import { NotFoundError, RejectedError, UnexpectedResponseError } from "../errors";
import { changeRequest, type ObservedOptions, requestOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import { type Attempt, type CallContext, makeCall } from "../transport/retryingCall";
import type { RecordCalls } from "./calls";
import { type Kind, type Listed, type NamedRecord, recordById } from "./listed";

/** Largest number of records that one request reads. */
const MOST_IDS = 50;

/** The service's answer about one id. */
export interface SingleRead<T> {
  /** The record, or `undefined` if the service has none with the id. */
  readonly record: T | undefined;
}

/** Reads records by their ids, even those that the service does not list. */
export interface SingleReads<T> {
  /**
   * Reads one record. The request is sent after the call, and serves all callers that ask at about
   * the same time. Returns `undefined` if the service refuses such requests or its response says
   * nothing about the record. The service is then not asked again.
   * @throws UnexpectedResponseError if the record cannot be read, or if only this response says
   * nothing about it
   */
  read(id: string, options: ObservedOptions): Promise<SingleRead<T> | undefined>;
}

/** The records that were found, or `undefined` if the service refuses to read them by id. */
type Answer<T> = Listed<T> | undefined;

/** The ids of one request. */
interface Batch<T> {
  readonly ids: Set<string>;
  readonly answer: Promise<Answer<T>>;
  /** Aborted when no reader waits for the request any more. */
  readonly abandoned: AbortController;
  readers: number;
  response?: ReceivedResponse;
}

/** Returns the single reads of one kind of record. One request is under way at a time. */
export function createSingleReads<T extends NamedRecord>(
  context: CallContext,
  kind: Kind<T>,
  { names, readByIds }: Pick<RecordCalls<T, never>, "names" | "readByIds">,
): SingleReads<T> {
  const { noun } = kind;
  let isRefused = readByIds === undefined;
  let isServed = false;
  let next: Batch<T> | undefined;
  let pending: Promise<unknown> = Promise.resolve();

  async function send(ids: readonly string[], given: ObservedOptions): Promise<Answer<T>> {
    if (isRefused || !readByIds) return undefined;
    const operation = ids.length === 1 ? `the read of ${noun} ${ids[0]}` : `the read of ${ids.length} ${noun}s`;
    const attempt = (each: Attempt) => readByIds(operation, ids, each);
    const name = names.read ?? names.list;
    try {
      const found = await makeCall(context, {
        ...requestOptions(given),
        ...{ name, operation, repeatability: "safe", attempt },
      });
      isServed = true;
      return found;
    } catch (error) {
      // A business error is an answer. A missing path, or a field that a schema does not have, is
      // not.
      if (error instanceof NotFoundError && error.status === 200) return sendEach(ids, given);
      const isRefusal =
        error instanceof RejectedError ||
        error instanceof UnexpectedResponseError ||
        (error instanceof NotFoundError && error.status === 400);
      if (!isRefusal || isServed) throw error;
      isRefused = true;
      return undefined;
    }
  }

  /**
   * Reads the records one by one, because a service may refuse a whole request for one unknown id.
   */
  async function sendEach(ids: readonly string[], given: ObservedOptions): Promise<Answer<T>> {
    if (ids.length === 1) return { records: [], unreadable: [] };
    const answers: Listed<T>[] = [];
    for (const id of ids) answers.push((await send([id], given)) ?? { records: [], unreadable: [] });
    return {
      records: answers.flatMap(({ records }) => records),
      unreadable: answers.flatMap(({ unreadable }) => unreadable),
    };
  }

  function queueNext(): Batch<T> {
    const abandoned = new AbortController();
    const { signal } = abandoned;
    const batch: Batch<T> = {
      ids: new Set(),
      abandoned,
      readers: 0,
      answer: pending.then(nextTurn).then(() => {
        if (next === batch) next = undefined;
        signal.throwIfAborted();
        const onResponse = (response: ReceivedResponse) => {
          batch.response = response;
        };
        return send([...batch.ids], { signal, onResponse });
      }),
    };
    // A failure concerns only those who waited for this request.
    pending = batch.answer.catch(() => {});
    return batch;
  }

  /** Waits for the answer. If a reader aborts, only its own wait ends. */
  function follow(batch: Batch<T>, signal: AbortSignal | undefined): Promise<Answer<T>> {
    batch.readers++;
    if (!signal) return batch.answer;
    return new Promise((resolve, reject) => {
      const ignoreAbort = onAbort(signal, () => {
        reject(signal.reason);
        if (--batch.readers > 0) return;
        if (next === batch) next = undefined;
        batch.abandoned.abort(signal.reason);
      });
      batch.answer.then(resolve, reject).finally(ignoreAbort);
    });
  }

  async function readGathered(id: string, { signal, onResponse }: ObservedOptions): Promise<Answer<T>> {
    signal?.throwIfAborted();
    if (!next || (next.ids.size >= MOST_IDS && !next.ids.has(id))) next = queueNext();
    const batch = next;
    batch.ids.add(id);
    const answer = await follow(batch, signal);
    if (batch.response) onResponse?.(batch.response);
    return answer;
  }

  return {
    async read(id, options) {
      if (isRefused) return undefined;
      const answer = await (changeRequest(options) ? send([id], options) : readGathered(id, options));
      return answer && { record: recordById(kind, answer, id) };
    },
  };
}

/** Resolves when all readers that waited for the same list have also asked. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
