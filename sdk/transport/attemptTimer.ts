import type { Clock } from "../contract/clock";

/**
 * The delay of a timer, in milliseconds, from which the program counts as having been too busy to
 * read.
 */
const LATE_MS = 100;

/** The times after which an attempt ends, in milliseconds. */
interface AttemptTimes {
  /** The maximum time without data. */
  readonly idleMs: number;
  /** The maximum time for the whole attempt. */
  readonly timeLeftMs: number;
  /** `true` if the time for an upload counts toward `timeLeftMs`. */
  readonly uploadCounts: boolean;
  /** Called when the time is up, with the elapsed time. */
  readonly onEnd: (waitedMs: number) => void;
}

/** The timer of one attempt. */
export interface AttemptTimer {
  /** Restarts the idle timer. See `Attempt.progress`. */
  readonly progress: (uploadMs?: number) => void;
  readonly cancel: () => void;
}

/**
 * Starts the timer of an attempt, which fires after `idleMs` without data, or after `timeLeftMs`.
 */
export function startAttemptTimer(
  clock: Clock,
  { idleMs, timeLeftMs, uploadCounts, onEnd }: AttemptTimes,
): AttemptTimer {
  const startedAt = clock.monotonic();
  let latestEnd = startedAt + Math.max(1, timeLeftMs);
  let idleFrom = startedAt;
  let idleEnd = startedAt + idleMs;
  let waitedForBusyProgram = false;
  let isOver = false;

  let cancelTimer = arm(startedAt);

  function arm(now: number): () => void {
    const dueAt = Math.min(idleEnd, latestEnd);
    return clock.schedule(Math.max(1, dueAt - now), () => look(dueAt));
  }

  /**
   * Checks whether the time is up, and ends the attempt in a `setImmediate` callback. Node reads
   * sockets before it calls this callback, so a response that has already arrived is not cut off.
   */
  function look(dueAt: number): void {
    const lateMs = clock.monotonic() - dueAt;
    setImmediate(() => {
      if (isOver) return;
      const now = clock.monotonic();
      if (lateMs > LATE_MS && !waitedForBusyProgram) {
        waitedForBusyProgram = true;
        idleEnd = Math.max(idleEnd, now + Math.min(lateMs, idleMs));
        latestEnd = Math.max(latestEnd, now + Math.min(lateMs, idleMs));
      }
      if (now < Math.min(idleEnd, latestEnd)) {
        cancelTimer = arm(now);
        return;
      }
      isOver = true;
      onEnd(latestEnd <= idleEnd ? latestEnd - startedAt : idleEnd - idleFrom);
    });
  }

  return {
    progress(uploadMs = 0) {
      idleFrom = clock.monotonic();
      idleEnd = idleFrom + idleMs + uploadMs;
      if (!uploadCounts) latestEnd += uploadMs;
      if (uploadMs === 0 || isOver) return;
      cancelTimer();
      cancelTimer = arm(idleFrom);
    },
    cancel() {
      isOver = true;
      cancelTimer();
    },
  };
}
