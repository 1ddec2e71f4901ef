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
  /**
   * The only record that the reader needs. If all readers of a new list need few, the list holds
   * only those that the service has among them.
   */
  readonly only?: string | undefined;
}

/** What a list may show about itself. */
interface Sized {
  /** Number of its records. */
  readonly length?: number | undefined;
}

/**
 * Reads some records by their ids. Returns `undefined` if the service does not read records by id.
 */
export type FetchSome<List> = (ids: readonly string[], options: ObservedOptions) => Promise<List | undefined>;

/** Largest number of records that are read by their ids instead of a list. */
const MOST_IDS = 50;
/** A read by ids is cheaper than a list that is longer by this factor. */
const CHEAPER_FACTOR = 4;

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
  /** The records that its readers need; `undefined` if one needs them all. */
  only: Set<string> | undefined;
  /** How many of its readers wait to share it. */
  gathered: number;
  /** Lets the request be sent, after the response of the one before it. */
  readonly release: () => void;
  /** Set when the request is sent. */
  sentAt?: number;
}

/**
 * One of the account's lists. Concurrent readers share it, so that many need one request. Readers
 * that come during a request share the next one.
 */
export class SharedList<List extends Sized> {
  readonly #clock: Clock;
  readonly #fetchList: (options: ObservedOptions) => Promise<List>;
  readonly #fetchSome: FetchSome<List> | undefined;
  /** Length of the last list. */
  #length = 0;
  /** The last list that was requested. */
  #newest: Request<List> | undefined;
  /** The same, or `undefined` after a write. */
  #current: Request<List> | undefined;
  /** The list to request after the current response. */
  #next: Request<List> | undefined;
  #pending: Promise<unknown> = Promise.resolve();
  readonly #operations: OperationCounter;

  constructor(clock: Clock, fetchList: (options: ObservedOptions) => Promise<List>, fetchSome?: FetchSome<List>) {
    this.#clock = clock;
    this.#fetchList = fetchList;
    this.#fetchSome = fetchSome;
    this.#operations = countOperations(clock);
  }

  /**
   * Returns a list that is new enough. A reader whose options change the request gets a list of its
   * own.
   */
  async read(freshness: ListFreshness = {}, options: ObservedOptions = {}): Promise<ListSnapshot<List>> {
    options.signal?.throwIfAborted();
    const snapshot = await (changeRequest(options)
      ? this.#fetchNow(options, this.#clock.monotonic())
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
    const leave = this.#operations.join();
    return () => {
      leave();
      if (this.#next) this.#releaseSoon(this.#next);
    };
  }

  /**
   * Waits for the promise, for an operation that has joined. Meanwhile the lists of the others do
   * not wait for it.
   */
  rest(wait: Promise<void>): Promise<void> {
    const rested = this.#operations.rest(wait);
    if (this.#next) this.#releaseSoon(this.#next);
    return rested;
  }

  async #fetchNow(options: ObservedOptions, sentAt: number, only?: ReadonlySet<string>): Promise<ListSnapshot<List>> {
    let response: ReceivedResponse | undefined;
    const observed = {
      ...options,
      onResponse: (last: ReceivedResponse) => {
        response = last;
      },
    };
    const some = only && (await this.#fetchSome?.([...only], observed));
    const list = some ?? (await this.#fetchList(observed));
    if (!some) this.#length = list.length ?? 0;
    // Not a copy: a list reads its records when they are needed.
    return Object.assign(list, { sentAt, response });
  }

  /** Returns the only records that a request needs, if reading them is cheaper than the list. */
  #fewIn({ only }: Request<List>): ReadonlySet<string> | undefined {
    if (!only || !this.#fetchSome || only.size > MOST_IDS) return undefined;
    return only.size * CHEAPER_FACTOR <= this.#length ? only : undefined;
  }

  #queueNext(): Request<List> {
    const abandoned = new AbortController();
    const { isDue, release } = this.#openLater();
    const queued: Request<List> = {
      abandoned,
      readers: 0,
      only: new Set(),
      gathered: 0,
      release,
      snapshot: Promise.all([this.#pending, isDue]).then(async () => {
        abandoned.signal.throwIfAborted();
        this.#next = undefined;
        const sentAt = this.#clock.monotonic();
        queued.sentAt = sentAt;
        const only = this.#fewIn(queued);
        if (!only) {
          this.#newest = queued;
          this.#current = queued;
        }
        return this.#fetchNow({ signal: abandoned.signal }, sentAt, only);
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
    only,
  }: ListFreshness): Request<List> {
    const last = despiteWrites ? this.#newest : this.#current;
    if (last?.sentAt !== undefined && last.sentAt >= sentAfter) return last;
    this.#next ??= this.#queueNext();
    if (only === undefined) this.#next.only = undefined;
    else this.#next.only?.add(only);
    if (gathers) {
      this.#next.gathered++;
      this.#releaseSoon(this.#next);
    } else this.#next.release();
    return this.#next;
  }

  /** Requests the list if all running operations need it. */
  #releaseSoon(request: Request<List>): void {
    const { gathered } = request;
    if (gathered >= this.#operations.size()) request.release();
    else if (gathered >= this.#operations.running()) {
      this.#clock.schedule(SETTLE_MS, () => {
        if (request.gathered === gathered && gathered >= this.#operations.running()) request.release();
      });
    }
  }

  #share(shared: Request<List>, signal?: AbortSignal): Promise<ListSnapshot<List>> {
    return follow(shared, shared.snapshot, signal, (reason) => this.#abandon(shared, reason));
  }

  #abandon(shared: Request<List>, reason: unknown) {
    if (this.#next === shared) this.#next = undefined;
    this.#forget(shared);
    shared.abandoned.abort(reason);
    shared.release();
  }

  #forget(shared: Request<List>) {
    if (this.#newest === shared) this.#newest = undefined;
    if (this.#current === shared) this.#current = undefined;
  }
}
