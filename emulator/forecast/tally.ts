import type { WorkerState } from "../workers/watch";
import { createHistogram } from "./histogram";

/** Worker seconds by activity. */
export interface WorkerSeconds {
  /** Starting. */
  start: number;
  /** Running jobs. */
  run: number;
  /** Waiting for jobs or for the idle timeout. */
  idle: number;
  /** Kept by `workersMin` without a job. */
  minimum: number;
  /** The part of all these seconds that belongs to the `workersMin` workers. */
  active: number;
}

/** The course of a run: averages over equal parts of its duration. */
export interface Course {
  /** Waiting jobs. */
  readonly waiting: number[];
  readonly starting: number[];
  readonly running: number[];
  readonly idle: number[];
  /** Mean delay of the jobs that started in each part, in seconds; 0 if no job started. */
  readonly delayS: number[];
  /** Billed worker seconds in each part. Time during which starts were throttled is not billed. */
  readonly paidS: number[];
}

/** The number of parts in a course. */
const PARTS = 160;

/** The worker states in a forecast. */
export type PlayedState = Exclude<WorkerState, "draining">;

interface KnownWorker {
  state: PlayedState;
  /** When a machine is free for the worker. */
  readonly billedFrom: number;
}

/** Counts what happens in a run. Times are in milliseconds and start at the first job. */
export class Tally {
  readonly #spanMs: number;
  #workersMin: number;
  readonly #throttledMs: () => number;
  readonly seconds: WorkerSeconds = { start: 0, run: 0, idle: 0, minimum: 0, active: 0 };
  readonly delays = createHistogram();
  /** The delays of jobs that a worker took in the watched time. */
  readonly watchedDelays = createHistogram();
  readonly #watchedFrom: number;
  readonly #watchedTo: number;
  readonly #count: Counts = { starting: 0, running: 0, idle: 0 };
  readonly #known = new Map<string, KnownWorker>();
  /** The workers that wait for a machine. All wait equally long. */
  readonly #throttled = new Set<KnownWorker>();
  readonly #course: ReturnType<typeof createCourse>;
  #last = 0;
  #mostWorkers = 0;

  /**
   * @param spanMs the duration of the forecast. After it, `workersMin` costs nothing.
   * @param throttledMs returns how long a new worker waits for a machine, which is not billed
   * @param watched the beginning and the end of the watched time
   */
  constructor(
    spanMs: number,
    workersMin: number,
    throttledMs: () => number,
    [watchedFrom, watchedTo]: readonly [number, number] = [0, 0],
  ) {
    this.#watchedFrom = watchedFrom;
    this.#watchedTo = watchedTo;
    this.#spanMs = spanMs;
    this.#workersMin = workersMin;
    this.#throttledMs = throttledMs;
    this.#course = createCourse(spanMs);
  }

  get course(): Course {
    return this.#course.read();
  }

  /** Must be called after `advance` when the setting changes. */
  setWorkersMin(workersMin: number): void {
    this.#workersMin = workersMin;
  }

  isWatched(now: number): boolean {
    return now >= this.#watchedFrom && now < this.#watchedTo;
  }

  /** The highest number of workers at the same time. */
  get mostWorkers(): number {
    return this.#mostWorkers;
  }

  /** Records the time up to now. Must be called before each change to the queue. */
  advance(now: number, waiting: number): void {
    if (this.#throttled.size > 0) this.#endThrottles(now, waiting);
    this.#advanceTo(now, waiting);
  }

  #endThrottles(now: number, waiting: number): void {
    for (const worker of this.#throttled) {
      if (worker.billedFrom > now) return;
      this.#advanceTo(worker.billedFrom, waiting);
      this.#throttled.delete(worker);
    }
  }

  #advanceTo(now: number, waiting: number): void {
    if (now <= this.#last) return;
    const end = Math.max(this.#last, Math.min(now, this.#spanMs));
    if (end > this.#last) this.#account(this.#last, end);
    if (now > end) this.#account(end, now);
    this.#course.add(this.#last, now, waiting, this.#count, this.#known.size - this.#throttled.size);
    this.#last = now;
  }

  /** Must be called when a worker starts, changes state, or has stopped (`gone`). */
  onWorker(workerId: string, state: PlayedState | "gone", now: number): void {
    const before = this.#known.get(workerId);
    if (before) this.#add(before.state, -1);
    if (state === "gone") {
      if (before) this.#leave(workerId, before, now);
      return;
    }
    this.#add(state, 1);
    if (before) before.state = state;
    else {
      const worker = { state, billedFrom: now + this.#throttledMs() };
      this.#known.set(workerId, worker);
      if (worker.billedFrom > now) this.#throttled.add(worker);
    }
    this.#mostWorkers = Math.max(this.#mostWorkers, this.#known.size);
  }

  /** Names each state, because V8 reads and writes a property of changing name slowly. */
  #add(state: PlayedState, workers: 1 | -1): void {
    if (state === "running") this.#count.running += workers;
    else if (state === "idle") this.#count.idle += workers;
    else this.#count.starting += workers;
  }

  onStart(now: number, delayMs: number): void {
    this.delays.add(delayMs);
    if (this.isWatched(now)) this.watchedDelays.add(delayMs);
    this.#course.onStart(now, delayMs);
  }

  #account(from: number, to: number): void {
    const passed = (to - from) / 1000;
    const { starting, running, idle } = this.#count;
    const kept = Math.min(idle, Math.max(0, this.#workersMin - starting - running));
    const paidKept = from < this.#spanMs ? kept : 0;
    const billedStarting = starting - this.#throttled.size;
    this.seconds.start += billedStarting * passed;
    this.seconds.run += running * passed;
    this.seconds.idle += (idle - kept) * passed;
    this.seconds.minimum += paidKept * passed;
    this.seconds.active += Math.min(this.#workersMin, billedStarting + running + paidKept) * passed;
  }

  #leave(workerId: string, worker: KnownWorker, now: number): void {
    this.#known.delete(workerId);
    this.#throttled.delete(worker);
    // Workers are billed in whole seconds.
    const life = Math.max(0, now - worker.billedFrom) / 1000;
    this.seconds.idle += Math.ceil(life) - life;
  }
}

/** The number of workers in each state. */
type Counts = Record<PlayedState, number>;

/** Sums up the parts of a course. */
function createCourse(spanMs: number) {
  const parts = () => new Float64Array(PARTS);
  const sums = { waiting: parts(), starting: parts(), running: parts(), idle: parts(), paid: parts() };
  const delaySums = parts();
  const delayCounts = parts();
  const partMs = spanMs / PARTS;
  const partOf = (ms: number) => Math.min(PARTS - 1, Math.max(0, Math.floor(ms / partMs)));

  return {
    /** Adds a period without changes. `workers` is the number of workers that are billed. */
    add(from: number, to: number, waiting: number, count: Counts, workers: number): void {
      for (let at = from, part = partOf(from); at < to && part < PARTS; part += 1) {
        const end = Math.min(to, (part + 1) * partMs);
        // Rounding may move the beginning of a part into the previous part.
        if (end <= at) continue;
        const passed = end - at;
        at = end;
        sums.waiting[part] = (sums.waiting[part] ?? 0) + waiting * passed;
        sums.starting[part] = (sums.starting[part] ?? 0) + count.starting * passed;
        sums.running[part] = (sums.running[part] ?? 0) + count.running * passed;
        sums.idle[part] = (sums.idle[part] ?? 0) + count.idle * passed;
        sums.paid[part] = (sums.paid[part] ?? 0) + (workers * passed) / 1000;
      }
    },
    /** Adds the start of a job. Those after the end are in no part. */
    onStart(now: number, delayMs: number): void {
      if (now > spanMs) return;
      const part = partOf(now);
      delaySums[part] = (delaySums[part] ?? 0) + delayMs;
      delayCounts[part] = (delayCounts[part] ?? 0) + 1;
    },
    read(): Course {
      const mean = (values: Float64Array) => Array.from(values, (sum) => sum / partMs);
      return {
        waiting: mean(sums.waiting),
        starting: mean(sums.starting),
        running: mean(sums.running),
        idle: mean(sums.idle),
        delayS: Array.from(delaySums, (sum, part) => sum / Math.max(1, delayCounts[part] ?? 0) / 1000),
        paidS: Array.from(sums.paid),
      };
    },
  };
}
