/**
 * The number of lower values in a row that show that the service has restarted its counter. Fewer
 * may come from an outdated response.
 */
const RESTARTS_AFTER = 10;

/** A counter that never decreases, although the service's own counter may. */
export interface Counted {
  /** The value. Starts with the first one that the service returned, or with 0 instead of less. */
  readonly value: number | undefined;
  /** Takes the service's own value. Negative values are ignored. */
  note(own: number): void;
}

export function createCounted(): Counted {
  let value: number | undefined;
  let highest: number | undefined;
  let lower = 0;
  return {
    get value() {
      return value;
    },
    note(own) {
      if (own < 0) {
        value ??= 0;
        return;
      }
      lower = highest !== undefined && own < highest ? lower + 1 : 0;
      if (lower > 0 && lower < RESTARTS_AFTER) return;
      // The first value says nothing about when its jobs ended.
      value = value === undefined ? own : value + Math.max(0, own - (highest ?? own));
      highest = own;
      lower = 0;
    },
  };
}
