import type { Clock } from "../contract/clock";
import { changeRequest, type ObservedOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import { countOperations, type OperationCounter } from "./concurrentOperations";
import { follow } from "./follow";

/** A list and the time of its request. */
export type ListSnapshot<List> = List & {
  /** Time of the request, in milliseconds of the monotonic clock. */
  readonly sentAt: number;
  /** The response that contained it. */
  readonly response?: ReceivedResponse | undefined;
};

/**
 * The lists that are new enough for a reader: by default, those requested after the last write of
 * this client.
 */
export interface ListFreshness {
  /**
   * Earliest time of the request, in milliseconds of the monotonic clock. Without it, a new list is
   * requested.
   */
  readonly sentAfter?: number | undefined;
  /**
   * Also accepts lists requested before the last write of this client, because that write does not
   * concern the reader.
   */
  readonly despiteWrites?: boolean | undefined;
  /**
   * Lets a new list wait for the other operations that have joined, so that one list serves all of
   * them. It waits at most half a second for running operations and a moment for those that may
   * follow. An operation on its own does not wait at all.
   */
  readonly gathers?: boolean | undefined;
  /** The id of something else that the request of a new list asks about. */
  readonly also?: string | undefined;
}

/**
 * Requests the list. A rate limit may hold the request for minutes: `onSend` must be called when it
 * is sent, and again when it is repeated.
 */
export type FetchList<List> = (
  options: ObservedOptions,
  onSend: () => void,
  also: ReadonlySet<string>,
) => Promise<List>;

/** How long a list waits at most for running operations, in milliseconds. */
const GATHER_MS = 500;
/**
 * How long it waits at most for others to follow once all running operations need it, in
 * milliseconds.
 */
const SETTLE_MS = 25;

interface Request<List> {
  readonly snapshot: Promise<ListSnapshot<List>>;
  /** Aborted when no reader waits for the list any longer. */
  readonly abandoned: AbortController;
  readers: number;
  /** What its readers also ask about. */
  readonly also: Set<string>;
  /** How many of its readers wait to share it. */
  gathered: number;
  /** Lets the request be sent, after the response of the one before it. */
  readonly release: () => void;
  /** Set when the request is sent. Until then, others may join its readers. */
  sentAt?: number;
}

/**
 * One of the account's lists. Concurrent readers share it, so that many need one request. Readers
 * that come during a request share the next one.
 */
export class SharedList<List extends object> {
  readonly #clock: Clock;
  readonly #fetchList: FetchList<List>;
  /** The last list that was requested. */
  #newest: Request<List> | undefined;
  /** The same, or `undefined` after a write. */
  #current: Request<List> | undefined;
  /** The list to request after the current response. */
  #next: Request<List> | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  /** The operations that share requests. */
  readonly operations: OperationCounter;

  /** @param operations those that share requests. @default those that `join` this list */
  constructor(clock: Clock, fetchList: FetchList<List>, operations = countOperations(clock)) {
    this.#clock = clock;
    this.#fetchList = fetchList;
    this.operations = operations;
    operations.onFewer(() => this.#next && this.#releaseSoon(this.#next));
  }

  /**
   * Returns a list that is new enough. A reader whose options change the request gets a list of its
   * own.
   */
  async read(freshness: ListFreshness = {}, options: ObservedOptions = {}): Promise<ListSnapshot<List>> {
    options.signal?.throwIfAborted();
    const snapshot = await (changeRequest(options)
      ? this.#fetchNow(options, new Set(freshness.also === undefined ? [] : [freshness.also]))
      : this.#share(this.#newEnough(freshness), options.signal));
    if (snapshot.response) options.onResponse?.(snapshot.response);
    return snapshot;
  }

  /** Must be called after the response to a write. Lists requested earlier are no longer used. */
  noteWrite(): void {
    this.#current = undefined;
  }

  /**
   * Announces an operation whose reads wait to share a list. Returns a function that must be called
   * at its end.
   */
  join(): () => void {
    return this.operations.join();
  }

  /**
   * Waits for the promise, for an operation that has joined. Meanwhile the lists of the others do
   * not wait for it.
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
    // Don't copy the list, because it decodes its records only when they are needed.
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
        // A failure concerns those who waited for this list, and nobody after them.
        this.#forget(queued);
      },
    );
    return queued;
  }

  /** Notes that the request is sent: whoever comes later gets another list. */
  #noteSent(queued: Request<List>, sentAt: number): void {
    queued.sentAt = sentAt;
    if (this.#next !== queued) return;
    this.#next = undefined;
    this.#newest = queued;
    this.#current = queued;
  }

  /**
   * Returns a promise that resolves when it is released, at the latest after the time of a
   * gathering.
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
      this.#releaseSoon(this.#next);
    } else this.#next.release();
    return this.#next;
  }

  /** Requests the list if all running operations need it. */
  #releaseSoon(request: Request<List>): void {
    const { gathered } = request;
    if (gathered >= this.operations.size()) request.release();
    else if (gathered >= this.operations.running()) {
      this.#clock.schedule(SETTLE_MS, () => {
        if (request.gathered === gathered && gathered >= this.operations.running()) request.release();
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

  #forget(shared: Request<List>) {
    if (this.#next === shared) this.#next = undefined;
    if (this.#newest === shared) this.#newest = undefined;
    if (this.#current === shared) this.#current = undefined;
  }
}
