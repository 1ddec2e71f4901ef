import type { EmulatorClock, ReusableTimer } from "./virtualClock";

/** Returns a timer that is not set yet. The parameters are those of `schedule`. */
export function reusableTimer(clock: EmulatorClock, callback: () => void, background?: boolean): ReusableTimer {
  return clock.timer?.(callback, background) ?? scheduledTimer(clock, callback, background);
}

function scheduledTimer(clock: EmulatorClock, callback: () => void, background?: boolean): ReusableTimer {
  let cancelCall = () => {};
  return {
    set(delayMs) {
      cancelCall();
      cancelCall = clock.schedule(delayMs, callback, background);
    },
    cancel: () => cancelCall(),
  };
}
