import { jsonCopy } from "../io/json";
import { type JobRun, type JobRunEvents, limitRun, type Outcome } from "../jobs/jobRun";
import type { Job } from "../jobs/jobStates";
import { inChunks, itemOf } from "../jobs/streamItems";
import type { EmulatorClock } from "../time/virtualClock";

/** A job that a worker program is running. */
export interface RunningJob extends JobRun {
  /** Adds an item to the job's stream. */
  stream(output: unknown): void;
  /**
   * Handles what the worker posts as a job's result: an error, a progress update, or the output.
   */
  post(body: Readonly<Record<string, unknown>>): void;
  /** Ends the job because its worker has ended. */
  lose(): void;
}

/**
 * Follows a job until it has an outcome or its execution timeout expires.
 * @param onOver called once when the job ends, before its outcome
 */
export function followJob(
  job: Job,
  clock: EmulatorClock,
  events: JobRunEvents,
  onOver: (type: Outcome["type"] | "stopped") => void,
): RunningJob {
  let isOpen = true;
  let streamed = 0;
  const cancelTimeout = limitRun(clock, job, () => settle({ type: "exceedExecutionTimeout" }));

  function close(type: Outcome["type"] | "stopped"): boolean {
    if (!isOpen) return false;
    isOpen = false;
    cancelTimeout();
    onOver(type);
    return true;
  }

  function settle(outcome: Outcome): void {
    if (close(outcome.type)) events.onOutcome(outcome);
  }

  return {
    stop: () => void close("stopped"),
    lose: () => settle({ type: "loseWorker" }),
    stream(output) {
      const chunks = inChunks(itemOf(output, streamed));
      streamed += chunks.length;
      events.onItems(chunks);
    },
    post(body) {
      const { error, output, status } = body;
      if (error !== undefined && error !== null) settle({ type: "fail", error: errorText(error) });
      else if (status === "IN_PROGRESS") events.onProgress(jsonCopy(output));
      else settle({ type: "complete", output });
    },
  };
}

function errorText(error: unknown): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}
