import type { Clock } from "../contract/clock";

/** A timer that is later than this by the clock shows that the program was busy meanwhile and could read nothing. */
const LATE_MS = 100;

/** What ends an attempt. Times are in milliseconds. */
export interface AttemptTimes {
  /** How long nothing may come. */
  readonly idleMs: number;
  /** How long the attempt may take, whatever comes. */
  readonly timeLeftMs: number;
  /** Whether the time for an upload is part of `timeLeftMs`. */
  readonly uploadCounts: boolean;
  /** Called when the time is over, with the time that the attempt had. */
  readonly onEnd: (waitedMs: number) => void;
}

/** The time of one attempt. */
export interface AttemptTimer {
  /** To be called when something has come. See `Attempt.progress`. */
  readonly progress: (uploadMs?: number) => void;
  readonly cancel: () => void;
}

/** Begins the time of an attempt: it ends when nothing has come for long enough, or when all of its time is over. */
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

  /** Between a timer and an immediate call Node reads what has come: a response that is there already is not cut off. */
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
