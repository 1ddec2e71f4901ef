/** The source of time for this package. Tests and the emulator replace it with their own. */
export interface Clock {
  /**
   * Returns the time in milliseconds since the Unix epoch. Use it for dates only: this clock can be
   * set back or forward at any time.
   */
  now(): number;
  /**
   * Returns the milliseconds since a fixed point in time. Use it for durations: this clock never
   * goes back, but its starting point differs between processes.
   */
  monotonic(): number;
  /**
   * Calls `callback` once, after `delayMs` milliseconds. Returns a function that cancels the call.
   */
  schedule(delayMs: number, callback: () => void): () => void;
}

/**
 * The longest delay that Node's timers support, 24.8 days. A timer with a longer delay fires
 * immediately.
 */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. Delays longer than 24.8 days are shortened to that length. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  schedule(delayMs, callback) {
    const timer = setTimeout(callback, Math.min(delayMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** The callbacks registered for each signal. */
const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `callback` when `signal` aborts. Returns a function that prevents the call. Each signal
 * gets a single listener for all its callbacks, because Node warns of a leak if a signal has more
 * than ten listeners.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  const callbacks = callbacksOf.get(signal) ?? new Set();
  // Wrap the callback in a new function, because the same callback can be passed twice.
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
    // An earlier callback may have removed this one.
    if (callbacks.delete(callback)) callback();
  }
}

/**
 * Resolves after `delayMs` milliseconds of `clock`. If `signal` aborts, rejects immediately with
 * the signal's reason and leaves no timer behind.
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

/** Describes how to wait for something by polling. */
interface Poll<T> {
  readonly clock: Clock;
  /**
   * Performs the next step. Returns the result, or `undefined` if it should be called again after a
   * pause.
   */
  readonly step: () => Promise<T | undefined>;
  /** The time limit for all steps together, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Returns the time from which `timeoutMs` is counted, in milliseconds of the monotonic clock.
   * @default the first step
   */
  readonly startedAt?: () => number;
  readonly firstPauseMs: number;
  /**
   * Each pause is one and a half times as long as the previous one, up to this length.
   * @default all pauses have the same length
   */
  readonly longestPauseMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called before each pause with the time elapsed so far. */
  readonly onPause?: ((elapsedMs: number) => void) | undefined;
  /**
   * Waits until the given pause has ended. Set this if something must be done before or after each
   * pause.
   */
  readonly rest?: (pause: Promise<void>) => Promise<void>;
  /** Returns the error to throw when the time is up. */
  readonly onTimeout: () => Error;
}

/** Repeats a step until it returns a result. */
export async function pollUntil<T>(poll: Poll<T>): Promise<T> {
  const { clock, timeoutMs, firstPauseMs, longestPauseMs = firstPauseMs, signal, rest = (pause) => pause } = poll;
  const begunAt = clock.monotonic();
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const result = await poll.step();
    if (result !== undefined) return result;
    const elapsedMs = clock.monotonic() - (poll.startedAt?.() ?? begunAt);
    if (elapsedMs >= timeoutMs) throw poll.onTimeout();
    poll.onPause?.(Math.round(elapsedMs));
    await rest(sleep(clock, Math.min(pauseMs, timeoutMs - elapsedMs), signal));
  }
}

/** A signal that aborts when its time is up. */
interface TimeLimit {
  readonly signal: AbortSignal;
  /** Removes the timer and the listener. Must be called when the limit is no longer needed. */
  release(): void;
}

/**
 * Returns a signal that aborts with `reason` after `delayMs` milliseconds of `clock`, or earlier if
 * `signal` aborts.
 */
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
