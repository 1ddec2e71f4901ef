import type { Clock } from "./clock";
import type { Limiter } from "./limiter";

/** Lets requests through one after the other, as fast as a limiter allows. */
export interface Gate {
  /** Nothing when the request may start at once; otherwise a promise that resolves when it may. */
  enter(signal?: AbortSignal): Promise<void> | undefined;
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
      const delayMs = limiter.delayMs(clock.now());
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
    enter(signal) {
      if (waiting.size === 0 && limiter.delayMs(clock.now()) <= 0) {
        limiter.start();
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const start = () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        };
        const onAbort = () => {
          waiting.delete(start);
          if (waiting.size === 0) cancelTimer?.();
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
        waiting.add(start);
        if (waiting.size === 1) admit();
      });
    },
    leave(startedAt, refused) {
      limiter.end(clock.now(), startedAt, refused);
      if (waiting.size > 0) admit();
    },
  };
}
