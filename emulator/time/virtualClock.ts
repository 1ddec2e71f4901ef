import { type Clock, systemClock } from "../../sdk/contract/clock";
import { type Timer, TimerHeap } from "./timerHeap";

/** An emulator's clock. `systemClock` implements it, too. */
export interface EmulatorClock extends Clock {
  /**
   * Calls `callback` once after `delayMs` milliseconds. Returns a function that cancels the call.
   * @param background `true` for cleanup, such as deleting an old result. `runUntilIdle` does not
   * wait for it.
   */
  schedule(delayMs: number, callback: () => void, background?: boolean): () => void;
  /**
   * Stops time until `work` has settled. Use it for work that takes real time, such as an HTTP
   * request.
   */
  hold?(work: Promise<unknown>): void;
}

/** A clock that only moves when it is told to. */
export interface ManualClock extends EmulatorClock {
  /**
   * Advances time by `ms` milliseconds (≥ 0). Runs every callback that becomes due, in order and at
   * its own time. Promises that a callback resolves are handled before the next callback.
   * @throws RangeError if `ms` is not a number ≥ 0
   */
  advance(ms: number): Promise<void>;
  /**
   * Advances time until only background callbacks are scheduled, so no worker is starting and no
   * job is running.
   */
  runUntilIdle(): Promise<void>;
  /**
   * Stops time until `work` has settled. Use it for work that takes real time, such as an HTTP
   * request.
   */
  hold(work: Promise<unknown>): void;
}

interface ManualTimer extends Timer {
  readonly background: boolean;
}

/** Returns `true` for a clock that only moves when it is told to. */
export function isManual(clock: EmulatorClock): clock is ManualClock {
  return "advance" in clock;
}

/**
 * Creates a clock that only moves when it is told to.
 * @param startMs the initial time, in milliseconds since the epoch; the current time if omitted
 */
export function manualClock(startMs: number = Date.now()): ManualClock {
  const timers = new TimerHeap<ManualTimer>();
  const held = new Set<Promise<unknown>>();
  let now = startMs;
  let sequence = 0;
  let foreground = 0;
  let passing: Promise<void> = Promise.resolve();

  function remove(timer: ManualTimer): void {
    if (timers.remove(timer) && !timer.background) foreground -= 1;
  }

  async function settle(): Promise<void> {
    do {
      while (held.size > 0) await Promise.allSettled(held);
      await new Promise((resolve) => setImmediate(resolve));
    } while (held.size > 0);
  }

  async function runUntil(end: number, goOn: () => boolean): Promise<void> {
    await settle();
    for (let timer = timers.peek(); timer && timer.at <= end && goOn(); timer = timers.peek()) {
      now = Math.max(now, timer.at);
      remove(timer);
      timer.callback();
      await settle();
    }
  }

  /** Makes concurrent callers take turns. */
  function inTurn(pass: () => Promise<void>): Promise<void> {
    const result = passing.then(pass);
    passing = result.catch(() => {});
    return result;
  }

  return {
    now: () => now,
    monotonic: () => now - startMs,
    schedule(delayMs, callback, background = false) {
      const timer: ManualTimer = {
        at: now + Math.max(0, delayMs),
        sequence: sequence++,
        callback,
        background,
        index: -1,
      };
      timers.push(timer);
      if (!background) foreground += 1;
      return () => remove(timer);
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`The clock cannot advance by ${ms} ms: the number must be 0 or more.`);
      return inTurn(async () => {
        const end = now + ms;
        await runUntil(end, () => true);
        now = end;
      });
    },
    runUntilIdle: () => inTurn(() => runUntil(Number.POSITIVE_INFINITY, () => foreground > 0)),
    hold(work) {
      const done = work.finally(() => held.delete(done)).catch(() => {});
      held.add(done);
    },
  };
}

/**
 * Creates a clock that runs faster than real time.
 * @param factor the speed, ≥ 1. With 60, the clock advances a minute per second.
 * @throws RangeError if `factor` is not a number ≥ 1
 */
export function scaledClock(factor: number): EmulatorClock {
  if (!(factor >= 1) || !Number.isFinite(factor)) {
    throw new RangeError(`The factor of the clock is ${factor}: it must be 1 or more.`);
  }
  const startMs = Date.now();
  const startedAt = performance.now();
  const passedMs = () => (performance.now() - startedAt) * factor;
  return {
    now: () => startMs + Math.floor(passedMs()),
    monotonic: passedMs,
    schedule: (delayMs, callback) => systemClock.schedule(delayMs / factor, callback),
  };
}

/**
 * A monotonic clock that also shows dates. It adds the elapsed time to the date of this call.
 * Records therefore contain dates, and the difference between two dates is the time that really
 * passed.
 */
export function steadyClock(clock: EmulatorClock): EmulatorClock {
  const startMs = clock.now();
  const startedAt = clock.monotonic();
  return {
    now: () => startMs + Math.floor(clock.monotonic() - startedAt),
    monotonic: () => clock.monotonic(),
    schedule: (delayMs, callback, background) => clock.schedule(delayMs, callback, background),
    hold: (work) => clock.hold?.(work),
  };
}
