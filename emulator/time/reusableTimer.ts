import type { EmulatorClock } from "./virtualClock";

/** A timer that is set again and again, such as the idle timeout of a worker. */
export interface ReusableTimer {
  /** Calls the callback once after `delayMs` milliseconds. This replaces the time set before. */
  set(delayMs: number): void;
  /** Prevents the call. Does nothing if the timer is not set. */
  readonly cancel: () => void;
}

/** Returns a timer that is not set yet. The parameters are those of `schedule`. */
export function reusableTimer(clock: EmulatorClock, callback: () => void, background?: boolean): ReusableTimer {
  let cancelCall = () => {};
  return {
    set(delayMs) {
      cancelCall();
      cancelCall = clock.schedule(delayMs, callback, background);
    },
    cancel: () => cancelCall(),
  };
}
