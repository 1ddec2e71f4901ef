/** Time as everything in this package sees it, so that tests and the emulator can run on a clock of their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch: for dates only. Somebody may set this clock back or forward at any time. */
  now(): number;
  /** Milliseconds from a fixed point: for durations. It never goes back, and means nothing to another process. */
  monotonic(): number;
  /** Calls `callback` once, `delayMs` milliseconds from now. The returned function cancels the call. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** The longest delay of Node's timers, 24.8 days: with a longer one they call at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's own clock. Delays beyond 24.8 days end then. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/**
 * Resolves after `delayMs` milliseconds of `clock`. When `signal` aborts, it rejects at once with the signal's reason
 * and leaves no timer behind.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.schedule(delayMs, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A signal with an end. */
export interface TimeLimit {
  readonly signal: AbortSignal;
  /** To be called when the signal is not needed any more: leaves neither timer nor listener behind. */
  release(): void;
}

/** A signal that aborts after `delayMs` milliseconds of `clock` with the given reason, or when `signal` does with its. */
export function timeLimit(clock: Clock, delayMs: number, reason: () => unknown, signal?: AbortSignal): TimeLimit {
  const controller = new AbortController();
  const cancelTimer = clock.schedule(delayMs, () => controller.abort(reason()));
  const onAbort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    release() {
      cancelTimer();
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
