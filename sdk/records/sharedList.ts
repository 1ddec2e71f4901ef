import { type Clock, onAbort } from "../contract/clock";
import { changeRequest, type ObservedOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import { countOperations } from "./concurrentOperations";

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
}

/** How long a list waits at most for running operations, in milliseconds. */
const GATHER_MS = 500;
/**
 * How long it waits at most for others to follow once all running operations need it, in
 * milliseconds.
 */
const SETTLE_MS = 25;

/**
 * One of the account's lists. Concurrent readers share it, because the service cannot return a
 * single record.
 */
export interface SharedList<List> {
  /**
   * Returns a list that is new enough. A reader whose options change the request gets a list of its
   * own.
   */
  read(freshness?: ListFreshness, options?: ObservedOptions): Promise<ListSnapshot<List>>;
  /** Must be called after the response to a write. Lists requested earlier are no longer used. */
  noteWrite(): void;
  /**
   * Announces an operation whose reads wait to share a list. Returns a function that must be called
   * at its end.
   */
  join(): () => void;
  /**
   * Waits for the promise, for an operation that has joined. Meanwhile the lists of the others do
   * not wait for it.
   */
  rest(wait: Promise<void>): Promise<void>;
}

interface Request<List> {
  readonly snapshot: Promise<ListSnapshot<List>>;
  /** Aborted when no reader waits for the list any longer. */
  readonly abandoned: AbortController;
  readers: number;
  /** How many of its readers wait to share it. */
  gathered: number;
  /** Lets the request be sent, after the response of the one before it. */
  readonly release: () => void;
  /** Set when the request is sent. */
  sentAt?: number;
}

/** Creates the list. Readers that come during a request share the next one. */
export function createSharedList<List extends object>(
  clock: Clock,
  fetchList: (options: ObservedOptions) => Promise<List>,
): SharedList<List> {
  /** The last list that was requested. */
  let newest: Request<List> | undefined;
  /** The same, or `undefined` after a write. */
  let current: Request<List> | undefined;
  /** The list to request after the current response. */
  let next: Request<List> | undefined;
  let pending: Promise<unknown> = Promise.resolve();
  const operations = countOperations(clock);

  async function fetchNow(options: ObservedOptions, sentAt: number): Promise<ListSnapshot<List>> {
    let response: ReceivedResponse | undefined;
    const onResponse = (last: ReceivedResponse) => {
      response = last;
    };
    // Not a copy: a list reads its records when they are needed.
    return Object.assign(await fetchList({ ...options, onResponse }), { sentAt, response });
  }

  function queueNext(): Request<List> {
    const abandoned = new AbortController();
    const { isDue, release } = gate();
    const queued: Request<List> = {
      abandoned,
      readers: 0,
      gathered: 0,
      release,
      snapshot: Promise.all([pending, isDue]).then(async () => {
        abandoned.signal.throwIfAborted();
        next = undefined;
        newest = queued;
        current = queued;
        const sentAt = clock.monotonic();
        queued.sentAt = sentAt;
        return fetchNow({ signal: abandoned.signal }, sentAt);
      }),
    };
    pending = queued.snapshot.then(
      () => {},
      () => {
        // A failure concerns those who waited for this list, and nobody after them.
        forget(queued);
      },
    );
    return queued;
  }

  /**
   * Returns a promise that resolves when it is released, at the latest after the time of a
   * gathering.
   */
  function gate(): { readonly isDue: Promise<void>; readonly release: () => void } {
    let release = () => {};
    const isDue = new Promise<void>((resolve) => {
      const cancel = clock.schedule(GATHER_MS, resolve);
      release = () => {
        cancel();
        resolve();
      };
    });
    return { isDue, release };
  }

  function newEnough({
    sentAfter = Number.POSITIVE_INFINITY,
    despiteWrites = false,
    gathers = false,
  }: ListFreshness): Request<List> {
    const last = despiteWrites ? newest : current;
    if (last?.sentAt !== undefined && last.sentAt >= sentAfter) return last;
    next ??= queueNext();
    if (gathers) {
      next.gathered++;
      releaseSoon(next);
    } else next.release();
    return next;
  }

  /** Requests the list if all running operations need it. */
  function releaseSoon(request: Request<List>): void {
    const { gathered } = request;
    if (gathered >= operations.size()) request.release();
    else if (gathered >= operations.running()) {
      clock.schedule(SETTLE_MS, () => {
        if (request.gathered === gathered && gathered >= operations.running()) request.release();
      });
    }
  }

  /** Returns the list for one reader, whose abort ends only its own wait. */
  function follow(shared: Request<List>, signal?: AbortSignal): Promise<ListSnapshot<List>> {
    shared.readers++;
    if (!signal) return shared.snapshot;
    return new Promise((resolve, reject) => {
      const ignoreAbort = onAbort(signal, () => {
        reject(signal.reason);
        if (--shared.readers === 0) abandon(shared, signal.reason);
      });
      shared.snapshot.then(resolve, reject).finally(ignoreAbort);
    });
  }

  function abandon(shared: Request<List>, reason: unknown) {
    if (next === shared) next = undefined;
    forget(shared);
    shared.abandoned.abort(reason);
    shared.release();
  }

  function forget(shared: Request<List>) {
    if (newest === shared) newest = undefined;
    if (current === shared) current = undefined;
  }

  return {
    async read(freshness = {}, options = {}) {
      options.signal?.throwIfAborted();
      const snapshot = await (changeRequest(options)
        ? fetchNow(options, clock.monotonic())
        : follow(newEnough(freshness), options.signal));
      if (snapshot.response) options.onResponse?.(snapshot.response);
      return snapshot;
    },
    noteWrite() {
      current = undefined;
    },
    join() {
      const leave = operations.join();
      return () => {
        leave();
        if (next) releaseSoon(next);
      };
    },
    rest(wait) {
      const rested = operations.rest(wait);
      if (next) releaseSoon(next);
      return rested;
    },
  };
}
