import type { EmulatorClock } from "../time/virtualClock";
import type { Job, JobEvent, StreamItem } from "./jobStates";

/** An event that ends the run of a job by a worker. */
export type Outcome = Extract<
  JobEvent,
  { type: "complete" | "fail" | "exceedExecutionTimeout" | "loseWorker" | "timeOut" }
>;

export interface JobRunEvents {
  onProgress(output: unknown): void;
  onItems(items: readonly StreamItem[]): void;
  /** Called exactly once, unless the run is stopped first. */
  onOutcome(outcome: Outcome): void;
}

/** A job that a worker runs. */
export interface JobRun {
  /** Ends the run without an outcome. Whatever the worker still does for the job is ignored. */
  stop(): void;
}

/**
 * Calls `onTimeout` when the execution timeout of a job expires. Returns a function that cancels
 * that.
 */
export function limitRun(clock: EmulatorClock, { request }: Job, onTimeout: () => void): () => void {
  const { executionTimeout } = request.policy;
  return executionTimeout === 0 ? () => {} : clock.schedule(executionTimeout, onTimeout);
}
