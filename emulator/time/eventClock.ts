import { type Timer, TimerHeap } from "./timerHeap";
import type { EmulatorClock } from "./virtualClock";

/**
 * A clock for callbacks that use no promises. It runs them one after another, a million per second.
 */
export interface EventClock extends EmulatorClock {
  /** Advances time to `ms`. Runs every callback that becomes due, in order and at its own time. */
  runUntil(ms: number): void;
  /** Advances time until no callback is scheduled, including background callbacks. */
  runToEnd(): void;
}

/** @param startMs the initial time, in milliseconds */
export function eventClock(startMs: number): EventClock {
  const timers = new TimerHeap();
  let now = startMs;
  let sequence = 0;

  function runDue(end: number): void {
    for (let timer = timers.peek(); timer && timer.at <= end; timer = timers.peek()) {
      now = timer.at;
      timers.remove(timer);
      timer.callback();
    }
  }

  return {
    now: () => now,
    monotonic: () => now,
    schedule(delayMs, callback, background = false) {
      const timer: Timer = { at: now + Math.max(0, delayMs), sequence: sequence++, callback, background, index: -1 };
      timers.push(timer);
      return () => timers.remove(timer);
    },
    runUntil(ms) {
      runDue(ms);
      now = Math.max(now, ms);
    },
    runToEnd: () => runDue(Number.POSITIVE_INFINITY),
  };
}
