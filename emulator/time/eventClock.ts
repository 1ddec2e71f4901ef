import { type Timer, TimerHeap } from "./timerHeap";
import type { EmulatorClock } from "./virtualClock";

/**
 * A clock for callbacks that use no promises. It runs them one after another, without waiting in
 * between.
 */
export interface EventClock extends EmulatorClock {
  /** Advances time to `ms`. Runs every callback that becomes due, in order and at its own time. */
  runUntil(ms: number): void;
  /** Advances time until no callback is scheduled, including background callbacks. */
  runToEnd(): void;
}

/** @param startMs the initial time, in milliseconds */
export function eventClock(startMs: number): EventClock {
  const timers = new TimerHeap<Timer>();
  let now = startMs;
  let sequence = 0;

  function runDue(end: number): void {
    for (let timer = timers.peek(); timer && timer.at <= end; timer = timers.peek()) {
      timers.remove(timer);
      now = timer.at;
      timer.callback();
    }
  }

  return {
    now: () => now,
    monotonic: () => now,
    schedule(delayMs, callback) {
      const timer: Timer = { at: now + Math.max(0, delayMs), sequence: sequence++, callback, index: -1 };
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
