import type { EmulatorClock } from "../time/virtualClock";
import { apply, forgottenAt, hasEnded, type Job, type JobEvent, type StreamItem } from "./jobStates";

interface Entry {
  job: Job;
  cancelForget: () => void;
}

/** The jobs of an endpoint. Each job is deleted when its time to live or retention expires. */
export class JobStore {
  readonly #clock: EmulatorClock;
  readonly #changed: (id: string) => void;
  readonly #onForget: (job: Job) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #waiters = new Map<string, Set<() => void>>();

  /**
   * @param changed called with a job's id at every change
   * @param onForget called with each job that expired, after it has been deleted
   */
  constructor(clock: EmulatorClock, changed: (id: string) => void, onForget: (job: Job) => void) {
    this.#clock = clock;
    this.#changed = changed;
    this.#onForget = onForget;
  }

  get(id: string): Job | undefined {
    return this.#entries.get(id)?.job;
  }

  *all(): Iterable<Job> {
    for (const { job } of this.#entries.values()) yield job;
  }

  add(job: Job): void {
    this.#entries.set(job.id, { job, cancelForget: this.#forgetLater(job) });
    this.#changed(job.id);
  }

  /**
   * Applies an event to the job with the same id and returns the new job.
   * @throws Error if the job is unknown, or if the event cannot happen in its state
   */
  apply({ id }: Job, event: JobEvent): Job {
    const next = apply(this.#mustGet(id).job, event, this.#clock.now());
    this.replace(next);
    return next;
  }

  /** Replaces the job with the same id. */
  replace(job: Job): void {
    const entry = this.#mustGet(job.id);
    const wasForgottenAt = forgottenAt(entry.job);
    entry.job = job;
    this.#changed(job.id);
    if (forgottenAt(job) !== wasForgottenAt) {
      entry.cancelForget();
      entry.cancelForget = this.#forgetLater(job);
    }
    if (hasEnded(job)) this.#wake(job.id);
  }

  forget(id: string): void {
    this.#entries.get(id)?.cancelForget();
    this.#entries.delete(id);
    this.#changed(id);
    this.#wake(id);
  }

  /** Adds items to a job's stream. */
  addItems(id: string, items: readonly StreamItem[]): void {
    this.#mustGet(id).job.stream.push(...items);
    this.#changed(id);
    this.#wake(id);
  }

  /**
   * Resolves with the job when it has ended, when `waitMs` milliseconds (if given) have passed, or
   * when `signal` aborts. Resolves with `undefined` if the job is deleted.
   */
  waitForEnd(id: string, waitMs: number | undefined, signal: AbortSignal): Promise<Job | undefined> {
    return this.#waitUntil(id, hasEnded, waitMs, signal);
  }

  /** Like `waitForEnd`, but also resolves when the job has items to take. */
  waitForItems(id: string, signal: AbortSignal): Promise<Job | undefined> {
    return this.#waitUntil(id, (job) => job.stream.length > 0 || hasEnded(job), undefined, signal);
  }

  dispose(): void {
    for (const { cancelForget } of this.#entries.values()) cancelForget();
    this.#entries.clear();
    for (const id of [...this.#waiters.keys()]) this.#wake(id);
  }

  #mustGet(id: string): Entry {
    const entry = this.#entries.get(id);
    if (!entry) throw new Error(`Job ${id} is unknown.`);
    return entry;
  }

  #wake(id: string): void {
    for (const wakeUp of this.#waiters.get(id) ?? []) wakeUp();
  }

  #forgetLater(job: Job): () => void {
    const delayMs = forgottenAt(job) - this.#clock.now();
    return this.#clock.schedule(delayMs, () => this.#expire(job.id), true);
  }

  #expire(id: string): void {
    const job = this.#entries.get(id)?.job;
    if (!job) return;
    this.forget(id);
    this.#onForget(job);
  }

  #waitUntil(
    id: string,
    isReady: (job: Job) => boolean,
    waitMs: number | undefined,
    signal: AbortSignal,
  ): Promise<Job | undefined> {
    return new Promise((resolve) => {
      const job = this.#entries.get(id)?.job;
      if (!job || isReady(job) || signal.aborted) return resolve(job);
      const finish = () => {
        cancelWait();
        signal.removeEventListener("abort", finish);
        const others = this.#waiters.get(id);
        others?.delete(look);
        if (others?.size === 0) this.#waiters.delete(id);
        resolve(this.#entries.get(id)?.job);
      };
      const look = () => {
        const now = this.#entries.get(id)?.job;
        if (!now || isReady(now)) finish();
      };
      const cancelWait = waitMs === undefined ? () => {} : this.#clock.schedule(waitMs, finish);
      signal.addEventListener("abort", finish, { once: true });
      this.#waiters.set(id, (this.#waiters.get(id) ?? new Set()).add(look));
    });
  }
}
