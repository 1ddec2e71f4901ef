import type { Clock } from "../../sdk/contract/clock";
import { createHistory } from "./history";

/** The stored records of one kind, in order of creation. */
export interface Records<R> {
  /** What messages call a record of this kind, such as `template`. */
  readonly noun: string;
  /**
   * Returns the records as they were `lagMs` milliseconds ago.
   * @param lagMs 0 to `MAX_LIST_LAG_MS`
   */
  list(lagMs?: number): R[];
  find(id: string): R | undefined;
  /** Returns `true` if a record with the id existed and was removed. */
  wasRemoved(id: string): boolean;
  /**
   * Adds a record, with a new id unless one is given.
   * @throws RangeError if the id exists
   */
  add(fields: Omit<R, "id">, id?: string): R;
  /** Changes fields of a stored record and returns the record. */
  change(record: R, patch: Partial<R>): R;
  /** Removes a record. Returns `false` if it does not exist. */
  remove(id: string): boolean;
  /** Returns copies, as plain JSON. */
  snapshot(): R[];
  restore(saved: readonly R[]): void;
  clear(): void;
}

/** The stored records of one kind, with the service's rules for a new one. */
export interface StoredRecords<R, Seed, Fields> extends Omit<Records<R>, "add" | "change"> {
  /**
   * Creates a record.
   * @throws BusinessError if a rule of the service forbids it, RangeError if the id exists
   */
  create(seed: Seed): R;
  /**
   * Changes a record without checking any rule.
   * @throws BusinessError if it does not exist
   */
  change(id: string, patch: Partial<Fields>): R;
}

interface RecordsOptions {
  readonly clock: Clock;
  /** Must be called at every change. */
  readonly changed: () => void;
  readonly noun: string;
  /** Returns a random id. */
  readonly newId: () => string;
}

export function createRecords<R extends { readonly id: string }>(options: RecordsOptions): Records<R> {
  const { clock, changed, noun, newId } = options;
  const records = new Map<string, R>();
  const removed = new Set<string>();
  const history = createHistory<R>(clock);

  function unusedId(): string {
    let id = newId();
    while (records.has(id)) id = newId();
    return id;
  }

  return {
    noun,
    list: (lagMs = 0) => history.asOf(records.values(), lagMs),
    find: (id) => records.get(id),
    wasRemoved: (id) => removed.has(id) && !records.has(id),
    add(fields, wantedId) {
      if (wantedId !== undefined && records.has(wantedId)) {
        throw new RangeError(`A ${noun} with the id "${wantedId}" already exists.`);
      }
      const record = { ...fields, id: wantedId ?? unusedId() } as R;
      history.remember(record.id, undefined);
      records.set(record.id, record);
      changed();
      return record;
    },
    change(record, patch) {
      history.remember(record.id, record);
      Object.assign(record, patch);
      changed();
      return record;
    },
    remove(id) {
      const record = records.get(id);
      if (!record) return false;
      history.remember(id, record);
      removed.add(id);
      changed();
      return records.delete(id);
    },
    snapshot: () => Array.from(records.values(), (record) => ({ ...record })),
    restore(saved) {
      for (const record of saved) records.set(record.id, { ...record });
    },
    clear() {
      records.clear();
      removed.clear();
      history.clear();
    },
  };
}
