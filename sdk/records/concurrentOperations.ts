import type { Clock } from "../contract/clock";

/** The operations that are running at about the same time. */
export interface OperationCounter {
  /** Counts an operation. Returns a function that must be called at its end. */
  join(): () => void;
  /** Waits for the promise. Meanwhile the calling operation does not count as running. */
  rest(wait: Promise<void>): Promise<void>;
  /** Returns the number of operations that run now. */
  running(): number;
  /** Returns the largest number of operations that recently ran together. */
  size(): number;
  /** Calls `callback` each time that an operation ends or rests. */
  onFewer(callback: () => void): void;
}

/** How long ended operations still count, in milliseconds: others often follow them. */
const FOLLOW_MS = 1_000;

/** Creates a counter at zero. */
export function countOperations(clock: Clock): OperationCounter {
  let running = 0;
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
    running: () => running,
    size() {
      note();
      return most;
    },
    onFewer: (callback) => void callbacks.push(callback),
  };
}
