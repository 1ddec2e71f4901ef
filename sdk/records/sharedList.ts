import type { Clock } from "../contract/clock";
import { changeRequest, type ObservedOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import { countOperations, type OperationCounter } from "./concurrentOperations";
import { follow } from "./follow";

/** A list, and the time at which it was requested. */
export type ListSnapshot<List> = List & {
  /** When the list was requested, in milliseconds of the monotonic clock. */
  readonly sentAt: number;
  /** The response that contained the list. */
  readonly response?: ReceivedResponse | undefined;
};

/**
 * Specifies which lists are recent enough for a reader. By default, a list is recent enough if it
 * was requested after this client's last write.
 */
export interface ListFreshness {
  /**
   * The earliest time of the request, in milliseconds of the monotonic clock. If it is not set, a
   * new list is requested.
   */
  readonly sentAfter?: number | undefined;
  /**
   * `true` to also accept lists that were requested before this client's last write, if that write
   * does not concern the reader.
   */
  readonly despiteWrites?: boolean | undefined;
  /**
   * `true` if a new list should wait for the other operations that have joined, so that one list
   * serves all of them. The list waits up to half a second for operations in progress, and briefly
   * for operations that may follow. If there is only one operation, the list does not wait at all.
   */
  readonly gathers?: boolean | undefined;
  /** The id of another record that the request for a new list should also look up. */
  readonly also?: string | undefined;
}

/**
 * Requests the list. A rate limit may hold back the request for minutes, so `onSend` must be called
 * when the request is actually sent, and again each time it is sent again.
 */
export type FetchList<List> = (
  options: ObservedOptions,
  onSend: () => void,
  also: ReadonlySet<string>,
) => Promise<List>;

/** The maximum time that a list waits for operations in progress, in milliseconds. */
const GATHER_MS = 500;
/**
 * The maximum time that a list waits for more operations to start once all operations in progress
 * need it, in milliseconds.
 */
const SETTLE_MS = 25;

interface Request<List> {
  readonly snapshot: Promise<ListSnapshot<List>>;
  /** Aborted when no reader is waiting for the list any longer. */
  readonly abandoned: AbortController;
  readers: number;
  /** The ids that the readers also want to look up. */
  readonly also: Set<string>;
  /** The number of readers that wait in order to share the list. */
  gathered: number;
  /** Allows the request to be sent, once the previous request has its response. */
  readonly release: () => void;
  /** When the request was sent. Until this is set, more readers can join. */
  sentAt?: number;
}

/**
 * One of the account's lists. Readers that need it at the same time share it, so that many readers
 * need only one request. Readers that arrive while a request is in progress share the next request.
 */
export class SharedList<List extends object> {
  readonly #clock: Clock;
  readonly #fetchList: FetchList<List>;
  /** The most recently requested list. */
  #newest: Request<List> | undefined;
  /** The most recently requested list, or `undefined` if this client has written since. */
  #current: Request<List> | undefined;
  /** The list that will be requested after the current response has arrived. */
  #next: Request<List> | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  /** The operations that share requests. */
  readonly operations: OperationCounter;

  /**
   * @param operations the operations that share requests. @default the operations that `join` this
   * list
   */
  constructor(clock: Clock, fetchList: FetchList<List>, operations = countOperations(clock)) {
    this.#clock = clock;
    this.#fetchList = fetchList;
    this.operations = operations;
    operations.onFewer(() => this.#next && this.#releaseSoon(this.#next));
  }

  /**
   * Returns a list that is recent enough. If a reader's options change the request, the reader gets
   * a list of its own.
   */
  async read(freshness: ListFreshness = {}, options: ObservedOptions = {}): Promise<ListSnapshot<List>> {
    options.signal?.throwIfAborted();
    const snapshot = await (changeRequest(options)
      ? this.#fetchNow(options, new Set(freshness.also === undefined ? [] : [freshness.also]))
      : this.#share(this.#newEnough(freshness), options.signal));
    if (snapshot.response) options.onResponse?.(snapshot.response);
    return snapshot;
  }

  /**
   * Must be called after the response to a write. Lists that were requested earlier are no longer
   * used.
   */
  noteWrite(): void {
    this.#current = undefined;
  }

  /**
   * Announces an operation, so that its reads can share a list with the reads of other operations.
   * Returns a function that must be called when the operation ends.
   */
  join(): () => void {
    return this.operations.join();
  }

  /**
   * Waits for the promise on behalf of an operation that has joined. Meanwhile, lists for other
   * operations do not wait for this operation.
   */
  rest(wait: Promise<void>): Promise<void> {
    return this.operations.rest(wait);
  }

  async #fetchNow(
    options: ObservedOptions,
    also: ReadonlySet<string>,
    onSend: (at: number) => void = () => {},
  ): Promise<ListSnapshot<List>> {
    let response: ReceivedResponse | undefined;
    let sentAt = this.#clock.monotonic();
    const observed = {
      ...options,
      onResponse: (last: ReceivedResponse) => {
        response = last;
      },
    };
    const note = () => {
      sentAt = this.#clock.monotonic();
      onSend(sentAt);
    };
    const list = await this.#fetchList(observed, note, also);
    // Don't copy the list, because its records are decoded only when they are needed.
    return Object.assign(list, { sentAt, response });
  }

  #queueNext(): Request<List> {
    const abandoned = new AbortController();
    const { signal } = abandoned;
    const { isDue, release } = this.#openLater();
    const queued: Request<List> = {
      abandoned,
      readers: 0,
      also: new Set(),
      gathered: 0,
      release,
      snapshot: Promise.all([this.#pending, isDue]).then(async () => {
        signal.throwIfAborted();
        return this.#fetchNow({ signal }, queued.also, (at) => this.#noteSent(queued, at));
      }),
    };
    this.#pending = queued.snapshot.then(
      () => {},
      () => {
        // A failure affects the readers that were waiting for this list, but no later readers.
        this.#forget(queued);
      },
    );
    return queued;
  }

  /** Records that the request was sent. Readers that arrive later get another list. */
  #noteSent(queued: Request<List>, sentAt: number): void {
    queued.sentAt = sentAt;
    this.#letGo(queued);
    if (this.#next !== queued) return;
    this.#next = undefined;
    this.#newest = queued;
    this.#current = queued;
  }

  /**
   * Returns a promise that resolves when `release` is called, or after `GATHER_MS` at the latest.
   */
  #openLater(): { readonly isDue: Promise<void>; readonly release: () => void } {
    let release = () => {};
    const isDue = new Promise<void>((resolve) => {
      const cancel = this.#clock.schedule(GATHER_MS, resolve);
      release = () => {
        cancel();
        resolve();
      };
    });
    return { isDue, release };
  }

  #newEnough({
    sentAfter = Number.POSITIVE_INFINITY,
    despiteWrites = false,
    gathers = false,
    also,
  }: ListFreshness): Request<List> {
    const last = despiteWrites ? this.#newest : this.#current;
    if (last?.sentAt !== undefined && last.sentAt >= sentAfter) return last;
    this.#next ??= this.#queueNext();
    if (also !== undefined) this.#next.also.add(also);
    if (gathers) {
      this.#next.gathered++;
      this.operations.gather(1);
    } else this.#next.release();
    return this.#next;
  }

  /**
   * Requests the list soon if all operations in progress need it, or another list that has not been
   * requested yet.
   */
  #releaseSoon(request: Request<List>): void {
    const gathered = this.operations.gathered();
    if (gathered >= this.operations.size()) request.release();
    else if (gathered >= this.operations.running()) {
      this.#clock.schedule(SETTLE_MS, () => {
        const isSettled = this.operations.gathered() === gathered && gathered >= this.operations.running();
        if (isSettled) request.release();
      });
    }
  }

  #share(shared: Request<List>, signal?: AbortSignal): Promise<ListSnapshot<List>> {
    return follow(shared, shared.snapshot, signal, (reason) => this.#abandon(shared, reason));
  }

  #abandon(shared: Request<List>, reason: unknown) {
    this.#forget(shared);
    shared.abandoned.abort(reason);
    shared.release();
  }

  /** The readers of this list no longer hold back other lists. */
  #letGo(request: Request<List>) {
    this.operations.gather(-request.gathered);
    request.gathered = 0;
  }

  #forget(shared: Request<List>) {
    this.#letGo(shared);
    if (this.#next === shared) this.#next = undefined;
    if (this.#newest === shared) this.#newest = undefined;
    if (this.#current === shared) this.#current = undefined;
  }
}
