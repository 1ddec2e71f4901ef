import { type Clock, onAbort } from "../contract/clock";
import { changeRequest, type ObservedOptions } from "../transport/requestOptions";
import type { ReceivedResponse } from "../transport/responseInfo";
import type { ListedEndpoints } from "./listRecords";

/** A list of endpoints and the time of its request. */
export interface ListSnapshot extends ListedEndpoints {
  /** Time of the request, in milliseconds of the monotonic clock. */
  readonly sentAt: number;
  /** The response that it came in. */
  readonly response?: ReceivedResponse | undefined;
}

/** The lists that are new enough for a reader: by default, those requested after the last write of this client. */
export interface ListFreshness {
  /** Earliest time of the request, in milliseconds of the monotonic clock. Without it, a new list is requested. */
  readonly sentAfter?: number | undefined;
  /** Also accepts lists requested before the last write of this client, because that write does not concern the reader. */
  readonly despiteWrites?: boolean | undefined;
}

/** The account's list of endpoints. Concurrent readers share it, because the service cannot return a single endpoint. */
export interface EndpointList {
  /** Returns a list that is new enough. A reader whose options change the request gets a list of its own. */
  read(freshness?: ListFreshness, options?: ObservedOptions): Promise<ListSnapshot>;
  /** Must be called after the response to a write. Lists that were requested before it are not used any more. */
  noteWrite(): void;
}

interface SharedList {
  readonly snapshot: Promise<ListSnapshot>;
  /** Aborted when no reader waits for the list any more. */
  readonly abandoned: AbortController;
  readers: number;
  /** Set when the request is sent. */
  sentAt?: number;
}

/** Creates the list. Readers that come during a request share the next one. */
export function createEndpointList(
  clock: Clock,
  fetchList: (options: ObservedOptions) => Promise<ListedEndpoints>,
): EndpointList {
  /** The last list that was requested. */
  let newest: SharedList | undefined;
  /** The same, or `undefined` after a write. */
  let current: SharedList | undefined;
  /** The list to request after the current response. */
  let next: SharedList | undefined;
  let pending: Promise<unknown> = Promise.resolve();

  async function fetchNow(options: ObservedOptions, sentAt: number): Promise<ListSnapshot> {
    let response: ReceivedResponse | undefined;
    const onResponse = (last: ReceivedResponse) => {
      response = last;
    };
    return { ...(await fetchList({ ...options, onResponse })), sentAt, response };
  }

  function queueNext(): SharedList {
    const abandoned = new AbortController();
    const queued: SharedList = {
      abandoned,
      readers: 0,
      snapshot: pending.then(async () => {
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
        // A failure is for those who waited for this list, and for nobody after them.
        forget(queued);
      },
    );
    return queued;
  }

  function newEnough({ sentAfter = Number.POSITIVE_INFINITY, despiteWrites = false }: ListFreshness): SharedList {
    const last = despiteWrites ? newest : current;
    if (last?.sentAt !== undefined && last.sentAt >= sentAfter) return last;
    next ??= queueNext();
    return next;
  }

  /** Returns the list for one reader, whose abort ends only its own wait. */
  function follow(shared: SharedList, signal?: AbortSignal): Promise<ListSnapshot> {
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

  function abandon(shared: SharedList, reason: unknown) {
    if (next === shared) next = undefined;
    forget(shared);
    shared.abandoned.abort(reason);
  }

  function forget(shared: SharedList) {
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
  };
}
