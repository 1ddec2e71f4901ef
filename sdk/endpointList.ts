import type { Clock } from "./clock";
import type { Endpoint } from "./endpointRecord";

/** How old a list may be for its reader. Never older than the last write of this client. */
export interface ListFreshness {
  /** Milliseconds since the list was asked for. Default 0: a list that is asked for from now on. */
  readonly maxAgeMs?: number;
}

/** The account's list of endpoints, shared by all readers at the same time: the service cannot read a single endpoint. */
export interface EndpointList {
  read(freshness: ListFreshness, signal?: AbortSignal): Promise<Endpoint[]>;
  /** To be called when a write was answered: lists that were asked for before it are not used any more. */
  noteWrite(): void;
}

interface SharedList {
  readonly endpoints: Promise<Endpoint[]>;
  /** Aborted when all its readers have gone: nobody waits for it any more. */
  readonly abandoned: AbortController;
  readers: number;
  /** Set when the request is sent. */
  sentAt?: number;
}

/** Readers that come while a list is on its way share the next one. */
export function createEndpointList(
  clock: Clock,
  fetchList: (signal?: AbortSignal) => Promise<Endpoint[]>,
): EndpointList {
  /** The last list that was sent, unless a write has come since. */
  let current: SharedList | undefined;
  /** The list that is to be sent when the one on its way has arrived. */
  let next: SharedList | undefined;
  let onItsWay: Promise<unknown> = Promise.resolve();

  function queueNext(): SharedList {
    const abandoned = new AbortController();
    const queued: SharedList = {
      abandoned,
      readers: 0,
      endpoints: onItsWay.then(() => {
        abandoned.signal.throwIfAborted();
        next = undefined;
        current = queued;
        queued.sentAt = clock.now();
        return fetchList(abandoned.signal);
      }),
    };
    onItsWay = queued.endpoints.then(
      () => {},
      () => {
        // A failed list serves those who waited for it, and nobody after them.
        if (current === queued) current = undefined;
      },
    );
    return queued;
  }

  /** The shared list as one reader sees it: its own abort ends only its own wait. */
  function follow(shared: SharedList, signal?: AbortSignal): Promise<Endpoint[]> {
    shared.readers++;
    if (!signal) return shared.endpoints;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        reject(signal.reason);
        if (--shared.readers === 0) abandon(shared, signal.reason);
      };
      signal.addEventListener("abort", onAbort, { once: true });
      shared.endpoints.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
    });
  }

  function abandon(shared: SharedList, reason: unknown) {
    if (next === shared) next = undefined;
    if (current === shared) current = undefined;
    shared.abandoned.abort(reason);
  }

  return {
    async read({ maxAgeMs = 0 }, signal) {
      signal?.throwIfAborted();
      const age = current?.sentAt === undefined ? Number.POSITIVE_INFINITY : clock.now() - current.sentAt;
      if (current && maxAgeMs > 0 && age <= maxAgeMs) return follow(current, signal);
      next ??= queueNext();
      return follow(next, signal);
    },
    noteWrite() {
      current = undefined;
    },
  };
}
