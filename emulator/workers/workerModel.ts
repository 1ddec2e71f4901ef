import type { JobRun, JobRunEvents } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";

/** The part of a worker that a model reads. */
export interface ModelledWorker {
  readonly state: "throttled" | "initializing" | "idle" | "running";
  readonly pod: { readonly desiredStatus: string };
}

/** Parts of the emulation that a forecast replaces: it plays millions of jobs, whose results nobody reads. */
export interface WorkerModel {
  /** The number of workers that one evaluation starts at most, ≥ 1. */
  readonly startAtOnce: number;
  /** The number of jobs that a worker runs at once, whole, ≥ 1. */
  readonly concurrency: number;
  /** The interval at which a busy worker asks for its next job, in milliseconds; 0 for at once. */
  readonly takeEveryMs: number;
  /** Returns the time until the next evaluation of the scaler, in milliseconds; 0 for at once. */
  evaluationDelayMs(): number;
  /** Returns the time that the worker which starts now takes until it accepts jobs, in milliseconds. */
  coldStartMs(): number;
  /** Called when a worker has started, changed its state or stopped (its pod is then `TERMINATED`). */
  onWorker(worker: ModelledWorker): void;
  /** Runs a job in place of a handler. */
  run(job: Job, events: JobRunEvents): JobRun;
}
