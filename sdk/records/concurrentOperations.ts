import type { Clock } from "../contract/clock";

/** Counts the operations that run at about the same time. */
export interface OperationCounter {
  /** Counts an operation. Returns a function that must be called when the operation ends. */
  join(): () => void;
  /** Waits for the promise. Meanwhile, the calling operation does not count as running. */
  rest(wait: Promise<void>): Promise<void>;
  /**
   * Adds operations that wait for a list that has not been requested yet. A negative number removes
   * them, because the list was requested.
   */
  gather(operations: number): void;
  /** Returns the number of operations that wait for any of the lists that share this counter. */
  gathered(): number;
  /** Returns the number of operations that are running now. */
  running(): number;
  /** Returns the maximum number of operations that recently ran at the same time. */
  size(): number;
  /** Calls `callback` each time an operation ends, calls `rest`, or starts to wait for a list. */
  onFewer(callback: () => void): void;
}

/**
 * How long operations still count after they have ended, in milliseconds. They are counted because
 * more operations often follow.
 */
const FOLLOW_MS = 1_000;

/** Creates a counter that starts at zero. */
export function countOperations(clock: Clock): OperationCounter {
  let running = 0;
  let gathered = 0;
  let most = 0;
  let mostAt = Number.NEGATIVE_INFINITY;
  const callbacks: (() => void)[] = [];

  function note() {
    const now = clock.monotonic();
    if (running < most && now - mostAt <= FOLLOW_MS) return;
    most = running;
    mostAt = now;
  }

  function leave() {
    note();
    running--;
    for (const callback of callbacks) callback();
  }

  return {
    join() {
      running++;
      note();
      return leave;
    },
    rest(wait) {
      leave();
      return wait.finally(() => {
        running++;
        note();
      });
    },
    gather(operations) {
      gathered += operations;
      if (operations > 0) for (const callback of callbacks) callback();
    },
    gathered: () => gathered,
    running: () => running,
    size() {
      note();
      return most;
    },
    onFewer: (callback) => void callbacks.push(callback),
  };
}
