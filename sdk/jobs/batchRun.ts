import { ServerlessGpuError } from "../errors";
import { CancelFailedError, JobFailedError, SubmitUncertainError } from "./jobErrors";
import type { JobHandle } from "./jobHandle";
import type { WaitOptions } from "./jobHandleOptions";
import type { CompletedJob } from "./jobRecord";

/** One input of a batch on its way to a result. */
export interface Item<Input> {
  readonly index: number;
  readonly input: Input;
  /** The input's key in the journal, if there is one. */
  key?: string;
  /** The id of its job, once it is known. */
  jobId?: string;
}

/** How an input ended. */
export type Outcome<Output> =
  | { readonly kind: "completed"; readonly output: Output; readonly isDuplicate?: boolean }
  | { readonly kind: "failed" | "unfinished"; readonly error: Error; readonly isDuplicate?: boolean }
  /** Its result was delivered earlier, or by another process. */
  | { readonly kind: "skipped" };

/** The end of a batch before its last input. */
export interface Stop {
  /** Aborts when nothing more is submitted and all waits end. */
  readonly signal: AbortSignal;
  /** What the stop does to jobs that have not ended. */
  readonly effect: WaitOptions["onAbort"];
  /** `true` if results that are already complete are still wanted. */
  wantsResults: boolean;
}

/** Errors of a wait for a job that does not run any more. */
const ENDS_JOB = ["JOB_FAILED", "JOB_EXPIRED", "NOT_FOUND", "OUTPUT_MISMATCH"];

/** Submit errors that every further submit would also get. */
const CONCERNS_ALL = [
  ...["AUTHENTICATION", "CLIENT_CLOSED", "CONFIGURATION", "NOT_FOUND"],
  ...["JOURNAL_UNAVAILABLE", "JOURNAL_REFUSED", "JOURNAL_LOCKED", "JOURNAL_DAMAGED"],
];

/**
 * Waits for a job of a batch. After a stop it looks once more, because a result that is complete
 * has been paid for.
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
  const isLeft = jobId === undefined ? stop.signal.aborted : !endsJob(error);
  return { kind: mayContinue(error) || isLeft ? "unfinished" : "failed", error: error as Error };
}

/** Returns `true` if the loop gets the outcome. */
export function isYielded(outcome: Outcome<unknown>, stop: Stop): boolean {
  if (outcome.kind === "completed") return true;
  if (outcome.kind === "skipped") return false;
  if (!stop.signal.aborted) return true;
  const { error, kind } = outcome;
  const isCancelled = stop.effect === "cancel" && error instanceof JobFailedError && error.jobStatus === "CANCELLED";
  return kind === "failed" && !isCancelled;
}

/** Returns `true` for an error of a wait whose job has ended, or is not known to the service. */
export function endsJob(error: unknown): boolean {
  return error instanceof ServerlessGpuError && ENDS_JOB.includes(error.code);
}

/** Returns `true` if the job may continue although it should have been cancelled. */
export function mayContinue(error: unknown): boolean {
  return error instanceof CancelFailedError || error instanceof SubmitUncertainError;
}

/** Returns `true` for an error that ends the batch: every other input would get it as well. */
export function concernsAll(error: unknown): boolean {
  return error instanceof ServerlessGpuError && CONCERNS_ALL.includes(error.code);
}
