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

/** Who is told of each signal's abort. */
const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when `signal` aborts. The returned function ends that. However many use one signal at once, it has
 * one listener: Node warns of a leak from the eleventh on.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  const callbacks = callbacksOf.get(signal) ?? new Set();
  // A function of its own: the same callback may be given twice.
  const call = () => callback();
  if (callbacks.size === 0) {
    callbacksOf.set(signal, callbacks);
    signal.addEventListener("abort", callAll, { once: true });
  }
  callbacks.add(call);
  return () => {
    if (callbacks.delete(call) && callbacks.size === 0) signal.removeEventListener("abort", callAll);
  };
}

function callAll(this: AbortSignal): void {
  const callbacks = callbacksOf.get(this) ?? new Set();
  for (const callback of [...callbacks]) {
    // One that was called before may have ended it.
    if (callbacks.delete(callback)) callback();
  }
}

/**
 * Resolves after `delayMs` milliseconds of `clock`. When `signal` aborts, it rejects at once with the signal's reason
 * and leaves no timer behind.
 */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.schedule(delayMs, () => {
      ignoreAbort();
      resolve();
    });
    const ignoreAbort = onAbort(signal, () => {
      cancel();
      reject(signal?.reason);
    });
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
  const abort = () => controller.abort(signal?.reason);
  const ignoreAbort = onAbort(signal, abort);
  if (signal?.aborted) abort();
  return {
    signal: controller.signal,
    release() {
      cancelTimer();
      ignoreAbort();
    },
  };
}
