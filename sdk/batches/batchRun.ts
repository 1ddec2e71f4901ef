import { type ErrorCode, ServerlessGpuError } from "../errors/errors";
import { CancelFailedError, JobFailedError, SubmitUncertainError } from "../jobs/jobErrors";
import type { JobHandle } from "../jobs/jobHandle";
import type { WaitOptions } from "../jobs/jobHandleOptions";
import type { CompletedJob } from "../jobs/jobRecord";

/** An input of a batch while it is being processed. */
export interface Item<Input> {
  readonly index: number;
  readonly input: Input;
  /** The input's key in the journal, if there is one. */
  key?: string;
  /** The id of the job, once it is known. */
  jobId?: string;
}

/** The outcome of an input whose result was delivered by an earlier run or by another process. */
export interface Skipped {
  readonly kind: "skipped" | "failedEarlier";
}

/** The outcome of an input. */
export type Outcome<Output> =
  | { readonly kind: "completed"; readonly output: Output; readonly isDuplicate?: boolean }
  | { readonly kind: "failed" | "unfinished"; readonly error: Error; readonly isDuplicate?: boolean }
  | Skipped;

/** How a batch is stopped before its last input. */
export interface Stop {
  /** Aborts when nothing more may be submitted, at the latest together with `signal`. */
  readonly submits: AbortSignal;
  /** Aborts when all waits should end. */
  readonly signal: AbortSignal;
  /** What happens to unfinished jobs. */
  readonly effect: WaitOptions["onAbort"];
  /** `true` if results that are already complete are still wanted. */
  wantsResults: boolean;
}

/** The error codes of a wait which mean that the job is no longer running. */
const ENDS_JOB: readonly ErrorCode[] = ["JOB_FAILED", "JOB_EXPIRED", "NOT_FOUND", "OUTPUT_MISMATCH"];

/** The error codes of a submit that would also occur for all other inputs. */
const CONCERNS_ALL: readonly ErrorCode[] = [
  "AUTHENTICATION",
  "CLIENT_CLOSED",
  "CONFIGURATION",
  "NOT_FOUND",
  "JOURNAL_UNAVAILABLE",
  "JOURNAL_REFUSED",
  "JOURNAL_LOCKED",
  "JOURNAL_DAMAGED",
];

/**
 * Waits for a job of a batch. If the batch is stopped, checks the job one last time, because a
 * result that is already complete has been paid for.
 */
export async function waitInBatch<Output>(job: JobHandle<Output>, stop: Stop): Promise<CompletedJob<Output>> {
  try {
    return await job.wait({ signal: stop.signal, onAbort: stop.effect });
  } catch (error) {
    const mayHaveEnded = stop.signal.aborted && (stop.wantsResults || stop.effect === "cancel");
    if (!mayHaveEnded || error instanceof CancelFailedError || endsJob(error)) throw error;
    return await job.wait({ timeoutMs: 0 });
  }
}

/** Returns the outcome of an input whose submit or wait failed. */
export function outcomeOf(error: unknown, { jobId }: Item<unknown>, stop: Stop): Outcome<never> {
  const isLeft = jobId === undefined ? stop.signal.aborted || error === stop.submits.reason : !endsJob(error);
  return { kind: mayContinue(error) || isLeft ? "unfinished" : "failed", error: error as Error };
}

/** Returns `true` if the loop has received the result before. */
export function isSkipped(outcome: Outcome<unknown>): outcome is Skipped {
  return outcome.kind === "skipped" || outcome.kind === "failedEarlier";
}

/** Returns `true` if the loop should receive the outcome. */
export function isYielded(outcome: Outcome<unknown>, stop: Stop): boolean {
  if (outcome.kind === "completed") return true;
  if (isSkipped(outcome)) return false;
  const { error, kind } = outcome;
  if (stop.submits.aborted && error === stop.submits.reason) return false;
  if (!stop.signal.aborted || error instanceof SubmitUncertainError) return true;
  const isCancelled = stop.effect === "cancel" && error instanceof JobFailedError && error.jobStatus === "CANCELLED";
  return kind === "failed" && !isCancelled;
}

/**
 * Returns `true` if an error of a wait means that the job has ended, or that the service does not
 * know it.
 */
function endsJob(error: unknown): boolean {
  return error instanceof ServerlessGpuError && ENDS_JOB.includes(error.code);
}

/** Returns `true` if the job may continue even though it should have been cancelled. */
export function mayContinue(error: unknown): boolean {
  return error instanceof CancelFailedError || error instanceof SubmitUncertainError;
}

/**
 * Returns `true` if an error ends the batch, because it would occur for every other input as well.
 */
export function concernsAll(error: unknown): boolean {
  return error instanceof ServerlessGpuError && CONCERNS_ALL.includes(error.code);
}
