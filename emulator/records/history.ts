import type { Clock } from "../../sdk/contract/clock";

/** The maximum lag of a list, in milliseconds. Older states are not kept. */
export const MAX_LIST_LAG_MS = 60_000;

/** The maximum lag when reading a single record, in milliseconds. */
const MAX_READ_LAG_MS = 2_500;

/** A lag that makes a list empty, for a fault rule. */
export const EMPTY_LIST = Number.POSITIVE_INFINITY;

/** Returns the lag of reading a single record while lists lag. It is shorter. */
export function readLagMs(listLagMs = 0): number {
  return listLagMs === EMPTY_LIST ? 0 : Math.min(listLagMs, MAX_READ_LAG_MS);
}

/** Earlier states of records, for lists that lag. */
export interface History<R> {
  /** Must be called before each change. `before` is `undefined` for a new record. */
  remember(id: string, before: R | undefined): void;
  /**
   * Returns the records as they were `lagMs` milliseconds ago (at most `MAX_LIST_LAG_MS`), based on
   * the current ones. Returns none with `EMPTY_LIST`.
   */
  asOf(present: Iterable<R>, lagMs: number): R[];
  clear(): void;
}

interface PastState<R> {
  readonly at: number;
  readonly id: string;
  readonly before: R | undefined;
}

export function createHistory<R extends { readonly id: string }>(clock: Clock): History<R> {
  const past: PastState<R>[] = [];
  return {
    remember(id, before) {
      const now = clock.monotonic();
      const firstKept = past.findIndex((state) => state.at >= now - MAX_LIST_LAG_MS);
      past.splice(0, firstKept < 0 ? past.length : firstKept);
      past.push({ at: now, id, before: before && { ...before } });
    },
    asOf(present, lagMs) {
      if (lagMs === EMPTY_LIST) return [];
      const records = new Map<string, R>();
      for (const record of present) records.set(record.id, record);
      const asOf = clock.monotonic() - lagMs;
      for (let i = past.length - 1; i >= 0 && (past[i] as PastState<R>).at > asOf; i--) {
        const { id, before } = past[i] as PastState<R>;
        if (before) records.set(id, before);
        else records.delete(id);
      }
      return [...records.values()];
    },
    clear() {
      past.length = 0;
    },
  };
}
