import { type Clock, onAbort } from "../contract/clock";
import type { ListedEndpoints } from "./listRecords";

/** A list of endpoints, and when it was asked for. */
export interface ListSnapshot extends ListedEndpoints {
  /** In milliseconds of the monotonic clock. */
  readonly sentAt: number;
}

/** Which lists are new enough for a reader. By default none that was asked for before the last write of this client. */
export interface ListFreshness {
  /** Lists asked for at this time or later, in milliseconds of the monotonic clock. Default: only from now on. */
  readonly sentAfter?: number | undefined;
  /** Also lists asked for before the last write of this client: the reader knows of no write that concerns it. */
  readonly despiteWrites?: boolean | undefined;
}

/** The account's list of endpoints, shared by all readers at the same time: the service cannot read a single endpoint. */
export interface EndpointList {
  read(freshness?: ListFreshness, signal?: AbortSignal): Promise<ListSnapshot>;
  /** To be called when a write was answered: lists that were asked for before it are not used any more. */
  noteWrite(): void;
}

interface SharedList {
  readonly snapshot: Promise<ListSnapshot>;
  /** Aborted when all its readers have gone: nobody waits for it any more. */
  readonly abandoned: AbortController;
  readers: number;
  /** Set when the request is sent. */
  sentAt?: number;
}

/** Readers that come while a list is on its way share the next one. */
export function createEndpointList(
  clock: Clock,
  fetchList: (signal?: AbortSignal) => Promise<ListedEndpoints>,
): EndpointList {
  /** The last list that was sent. */
  let newest: SharedList | undefined;
  /** The same, unless a write has come since. */
  let current: SharedList | undefined;
  /** The list that is to be sent when the one on its way has arrived. */
  let next: SharedList | undefined;
  let onItsWay: Promise<unknown> = Promise.resolve();

  function queueNext(): SharedList {
    const abandoned = new AbortController();
    const queued: SharedList = {
      abandoned,
      readers: 0,
      snapshot: onItsWay.then(async () => {
        abandoned.signal.throwIfAborted();
        next = undefined;
        newest = queued;
        current = queued;
        const sentAt = clock.monotonic();
        queued.sentAt = sentAt;
        return { ...(await fetchList(abandoned.signal)), sentAt };
      }),
    };
    onItsWay = queued.snapshot.then(
      () => {},
      () => {
        // A failed list serves those who waited for it, and nobody after them.
        forget(queued);
      },
    );
    return queued;
  }

  /** The shared list as one reader sees it: its own abort ends only its own wait. */
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
    async read({ sentAfter = Number.POSITIVE_INFINITY, despiteWrites = false } = {}, signal) {
      signal?.throwIfAborted();
      const last = despiteWrites ? newest : current;
      if (last?.sentAt !== undefined && last.sentAt >= sentAfter) return follow(last, signal);
      next ??= queueNext();
      return follow(next, signal);
    },
    noteWrite() {
      current = undefined;
    },
  };
}
