import { type Timer, TimerHeap } from "./timerHeap";
import type { EmulatorClock, ReusableTimer } from "./virtualClock";

/**
 * A clock for callbacks that use no promises. It runs them one after another, a million per second.
 */
export interface EventClock extends EmulatorClock {
  /**
   * Returns a timer that is not set yet. Setting it again allocates no memory, and is cheap while
   * it is set.
   */
  timer(callback: () => void): ReusableTimer;
  /** Advances time to `ms`. Runs every callback that becomes due, in order and at its own time. */
  runUntil(ms: number): void;
  /** Advances time until no callback is scheduled, including background callbacks. */
  runToEnd(): void;
}

/** @param startMs the initial time, in milliseconds */
export function eventClock(startMs: number): EventClock {
  return new Events(startMs);
}

class Events implements EventClock {
  readonly #timers = new TimerHeap<EventTimer>();
  #now: number;
  #sequence = 0;

  constructor(startMs: number) {
    this.#now = startMs;
  }

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  schedule(delayMs: number, callback: () => void): () => void {
    const timer = new EventTimer(this, callback);
    timer.set(delayMs);
    return timer.cancel;
  }

  timer(callback: () => void): ReusableTimer {
    return new EventTimer(this, callback);
  }

  /** Makes a timer due after `delayMs` milliseconds. */
  set(timer: EventTimer, delayMs: number): void {
    timer.dueAt = this.#now + Math.max(0, delayMs);
    timer.dueSequence = this.#sequence++;
    if (timer.index >= 0) {
      if (timer.dueAt >= timer.at) return;
      this.#timers.remove(timer);
    }
    timer.at = timer.dueAt;
    timer.sequence = timer.dueSequence;
    this.#timers.push(timer);
  }

  runUntil(ms: number): void {
    this.#runDue(ms);
    this.#now = Math.max(this.#now, ms);
  }

  runToEnd(): void {
    this.#runDue(Number.POSITIVE_INFINITY);
  }

  #runDue(end: number): void {
    const timers = this.#timers;
    for (let timer = timers.peek(); timer && timer.at <= end; timer = timers.peek()) {
      const { dueAt, dueSequence } = timer;
      if (dueSequence > timer.sequence) {
        timer.at = dueAt;
        timer.sequence = dueSequence;
        timers.delay(timer);
        continue;
      }
      timers.remove(timer);
      if (dueSequence < 0) continue;
      this.#now = dueAt;
      timer.callback();
    }
  }
}

/**
 * A timer of an event clock. When it is cancelled or set to a later time, it keeps its place in
 * the heap, because most idle timeouts never end. The clock moves the timer when its turn comes.
 */
class EventTimer implements Timer, ReusableTimer {
  readonly callback: () => void;
  at = 0;
  sequence = 0;
  index = -1;
  /** The time that the timer is set to. */
  dueAt = 0;
  /** The `sequence` of that time; -1 if the timer is not set. */
  dueSequence = -1;
  readonly cancel = (): void => {
    this.dueSequence = -1;
  };
  readonly #events: Events;

  constructor(events: Events, callback: () => void) {
    this.#events = events;
    this.callback = callback;
  }

  set(delayMs: number): void {
    this.#events.set(this, delayMs);
  }
}
