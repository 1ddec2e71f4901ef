import { type Clock, systemClock } from "../../sdk/contract/clock";
import { type Timer, TimerHeap } from "./timerHeap";

/** The emulator's time. The machine's own clock (`systemClock`) is one too. */
export interface EmulatorClock extends Clock {
  /**
   * Calls `callback` once, `delayMs` milliseconds from now. The returned function cancels the call.
   * @param background the call only tidies up (such as forgetting an old result): nobody waits for it
   */
  schedule(delayMs: number, callback: () => void, background?: boolean): () => void;
  /** Keeps time from passing until `work`, which takes real time (such as an HTTP request), is over. */
  hold?(work: Promise<unknown>): void;
}

/** Time that stands still until it is told to pass. */
export interface ManualClock extends EmulatorClock {
  /**
   * Lets `ms` milliseconds pass: runs every call that falls due, in order, at its own time. What a call sets off through
   * promises happens before the next call.
   */
  advance(ms: number): Promise<void>;
  /** Lets time pass until nothing is scheduled but background calls: no worker starts, no job runs. */
  runUntilIdle(): Promise<void>;
  /** Keeps time from passing until `work`, which takes real time (such as an HTTP request), is over. */
  hold(work: Promise<unknown>): void;
}

/**
 * A clock that stands still until it is told to pass.
 * @param startMs where time starts, in milliseconds since the epoch; default: the machine's present time
 */
export function manualClock(startMs: number = Date.now()): ManualClock {
  const timers = new TimerHeap();
  const held = new Set<Promise<unknown>>();
  let now = startMs;
  let sequence = 0;
  let foreground = 0;
  let passing: Promise<void> = Promise.resolve();

  function remove(timer: Timer): void {
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

  /** Callers that let time pass at once take turns. */
  function inTurn(pass: () => Promise<void>): Promise<void> {
    const result = passing.then(pass);
    passing = result.catch(() => {});
    return result;
  }

  return {
    now: () => now,
    monotonic: () => now - startMs,
    schedule(delayMs, callback, background = false) {
      const timer: Timer = { at: now + Math.max(0, delayMs), sequence: sequence++, callback, background, index: -1 };
      timers.push(timer);
      if (!background) foreground += 1;
      return () => remove(timer);
    },
    advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`Time cannot pass by ${ms} ms: give a number of milliseconds, 0 or more.`);
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
 * A clock that runs faster than real time.
 * @param factor how many times faster than real time it runs, 1 or more: with 60 a second lasts a minute
 */
export function scaledClock(factor: number): EmulatorClock {
  if (!(factor >= 1) || !Number.isFinite(factor)) {
    throw new RangeError(`A clock cannot run ${factor} times as fast as real time: give a number of 1 or more.`);
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
 * The same time, which nobody can set: its dates are that of this call and what has passed since. So the emulator's
 * records hold dates, and the time between two of them is what really passed.
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
