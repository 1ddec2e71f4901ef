import type { EmulatorClock } from "../time/virtualClock";
import type { Job, JobEvent, StreamItem } from "./jobStates";

/** An event that ends a worker's run of a job. */
export type Outcome = Extract<
  JobEvent,
  { type: "complete" | "fail" | "exceedExecutionTimeout" | "loseWorker" | "loseJob" | "timeOut" }
>;

export interface JobRunEvents {
  onProgress(output: unknown): void;
  onItems(items: readonly StreamItem[]): void;
  /** Called exactly once, unless the run is stopped first. */
  onOutcome(outcome: Outcome): void;
}

/** A job that a worker runs. */
export interface JobRun {
  /** Ends the run without an outcome. Anything the worker still does for the job is ignored. */
  stop(): void;
}

/**
 * Calls `onTimeout` when a job's execution timeout expires. Returns a function that cancels the
 * timeout.
 */
export function limitRun(clock: EmulatorClock, { request }: Job, onTimeout: () => void): () => void {
  const { executionTimeout } = request.policy;
  return executionTimeout === 0 ? () => {} : clock.schedule(executionTimeout, onTimeout);
}
