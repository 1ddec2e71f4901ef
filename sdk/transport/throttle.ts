import { type Clock, onAbort } from "../contract/clock";
import { RATE_LIMITS } from "../contract/limits";
import { createLimiter, type Limiter } from "./limiter";

/** Lets requests through one after the other, as fast as a limiter allows. */
export interface Gate {
  /** Lets a request through if it may start at once. */
  tryEnter(): boolean;
  /** Resolves when a request is let through, after those that came before it. */
  enter(signal?: AbortSignal): Promise<void>;
  /** To be called when a request that was let through has ended. */
  leave(startedAt: number, refused: boolean): void;
}

export function createGate(clock: Clock, limiter: Limiter): Gate {
  const waiting = new Set<() => void>();
  let cancelTimer: (() => void) | undefined;

  /** Lets through whoever may start now, and comes back for the others. */
  function admit(): void {
    cancelTimer?.();
    cancelTimer = undefined;
    for (const start of waiting) {
      const delayMs = limiter.delayMs(clock.monotonic());
      if (delayMs > 0) {
        // Without an end in sight the next request that leaves wakes the others.
        if (Number.isFinite(delayMs)) cancelTimer = clock.schedule(delayMs, admit);
        return;
      }
      waiting.delete(start);
      limiter.start();
      start();
    }
  }

  return {
    tryEnter() {
      if (waiting.size > 0 || limiter.delayMs(clock.monotonic()) > 0) return false;
      limiter.start();
      return true;
    },
    enter(signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const start = () => {
          ignoreAbort();
          resolve();
        };
        const ignoreAbort = onAbort(signal, () => {
          waiting.delete(start);
          if (waiting.size === 0) cancelTimer?.();
          reject(signal?.reason);
        });
        waiting.add(start);
        if (waiting.size === 1) admit();
      });
    },
    leave(startedAt, refused) {
      limiter.end(clock.monotonic(), startedAt, refused);
      if (waiting.size > 0) admit();
    },
  };
}

/** How a client keeps within the service's limits. */
export interface RateLimitOptions {
  /**
   * The service's `requests_per_worker`, where you know it: the requests per 10 seconds may then be this many for each
   * worker that `health` last showed running, if that is more than the table's. Default: not used.
   */
  readonly requestsPerWorker?: number;
}

/** The gates of one endpoint, one for each operation that has a limit (contract, Limits). */
export interface Gates {
  of(operation: string): Gate | undefined;
  /** To be called when the number of running workers was read anyway. */
  setRunningWorkers(running: number): void;
}

export function createGates(clock: Clock, options: RateLimitOptions | "off" = {}): Gates {
  if (options === "off") return { of: () => undefined, setRunningWorkers() {} };
  const { requestsPerWorker = 0 } = options;
  const operations = Object.keys(RATE_LIMITS) as (keyof typeof RATE_LIMITS)[];
  const limiters = new Map<string, Limiter>(operations.map((name) => [name, createLimiter(RATE_LIMITS[name])]));
  const gates = new Map([...limiters].map(([name, limiter]) => [name, createGate(clock, limiter)]));
  return {
    of: (operation) => gates.get(operation),
    setRunningWorkers(running) {
      for (const limiter of limiters.values()) limiter.raise(running * requestsPerWorker);
    },
  };
}
