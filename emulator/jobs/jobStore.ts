import type { EmulatorClock } from "../time/virtualClock";
import { apply, forgottenAt, hasEnded, type Job, type JobEvent, type StreamItem } from "./jobStates";

/** An endpoint's jobs. Each is deleted when its time to live or retention expires. */
export interface JobStore {
  get(id: string): Job | undefined;
  all(): Iterable<Job>;
  add(job: Job): void;
  /**
   * Applies an event to a job and returns the new job.
   * @throws Error if the job is unknown, or if its state does not allow the event
   */
  apply(id: string, event: JobEvent): Job;
  /** Replaces the job with the same id. */
  replace(job: Job): void;
  forget(id: string): void;
  /** Adds items to the stream of a job. */
  addItems(id: string, items: readonly StreamItem[]): void;
  /**
   * Resolves with the job when it has ended, when `waitMs` milliseconds (if given) are over, or
   * when `signal` aborts. Resolves with `undefined` if the job is deleted.
   */
  waitForEnd(id: string, waitMs: number | undefined, signal: AbortSignal): Promise<Job | undefined>;
  /** Resolves like `waitForEnd`, and also when the job has items that were not taken. */
  waitForItems(id: string, signal: AbortSignal): Promise<Job | undefined>;
  dispose(): void;
}

interface Entry {
  job: Job;
  cancelForget: () => void;
}

/**
 * @param changed called at every change, with the id of the job
 * @param onForget called with each job whose ttl or retention has expired, after it was deleted
 */
export function createJobStore(
  clock: EmulatorClock,
  changed: (id: string) => void,
  onForget: (job: Job) => void,
): JobStore {
  const entries = new Map<string, Entry>();
  const waiters = new Map<string, Set<() => void>>();

  function mustGet(id: string): Entry {
    const entry = entries.get(id);
    if (!entry) throw new Error(`Job ${id} is unknown.`);
    return entry;
  }

  function wake(id: string): void {
    for (const wakeUp of waiters.get(id) ?? []) wakeUp();
  }

  function forget(id: string): void {
    entries.get(id)?.cancelForget();
    entries.delete(id);
    changed(id);
    wake(id);
  }

  function forgetLater(job: Job): () => void {
    const delayMs = forgottenAt(job) - clock.now();
    return clock.schedule(delayMs, () => expire(job.id), true);
  }

  function expire(id: string): void {
    const job = entries.get(id)?.job;
    if (!job) return;
    forget(id);
    onForget(job);
  }

  function add(job: Job): void {
    entries.set(job.id, { job, cancelForget: forgetLater(job) });
    changed(job.id);
  }

  function replace(job: Job): void {
    const entry = mustGet(job.id);
    const wasForgottenAt = forgottenAt(entry.job);
    entry.job = job;
    changed(job.id);
    if (forgottenAt(job) !== wasForgottenAt) {
      entry.cancelForget();
      entry.cancelForget = forgetLater(job);
    }
    if (hasEnded(job)) wake(job.id);
  }

  function waitUntil(
    id: string,
    isReady: (job: Job) => boolean,
    waitMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Job | undefined> {
    return new Promise((resolve) => {
      const job = entries.get(id)?.job;
      if (!job || isReady(job) || signal.aborted) return resolve(job);
      const finish = () => {
        cancelWait();
        signal.removeEventListener("abort", finish);
        const others = waiters.get(id);
        others?.delete(look);
        if (others?.size === 0) waiters.delete(id);
        resolve(entries.get(id)?.job);
      };
      const look = () => {
        const now = entries.get(id)?.job;
        if (!now || isReady(now)) finish();
      };
      const cancelWait = waitMs === undefined ? () => {} : clock.schedule(waitMs, finish);
      signal.addEventListener("abort", finish, { once: true });
      waiters.set(id, (waiters.get(id) ?? new Set()).add(look));
    });
  }

  return {
    get: (id) => entries.get(id)?.job,
    *all() {
      for (const { job } of entries.values()) yield job;
    },
    add,
    apply(id, event) {
      const next = apply(mustGet(id).job, event, clock.now());
      replace(next);
      return next;
    },
    replace,
    forget,
    addItems(id, items) {
      mustGet(id).job.stream.push(...items);
      changed(id);
      wake(id);
    },
    waitForEnd: (id, waitMs, signal) => waitUntil(id, hasEnded, waitMs, signal),
    waitForItems: (id, signal) => waitUntil(id, (job) => job.stream.length > 0 || hasEnded(job), undefined, signal),
    dispose() {
      for (const { cancelForget } of entries.values()) cancelForget();
      entries.clear();
      for (const id of [...waiters.keys()]) wake(id);
    },
  };
}
