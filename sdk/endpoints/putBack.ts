import { CodedError, NotFoundError, RejectedError, ServerlessGpuError } from "../errors";
import { look } from "../records/absence";
import type { KnownSettings } from "../records/calls";
import type { ObservedOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import { saveWorkers } from "./saveWorkers";
import { hasSameLimits, isAtZero, type WorkerLimits } from "./workerLimits";

/** Callbacks of a call that scales an endpoint to zero for a while. */
export interface ScaleDownOptions {
  /**
   * Called with the endpoint's worker counts, before the save that scales it to zero. If this
   * process is killed afterwards, nothing else knows them. An error that it throws ends the call,
   * and nothing is changed.
   */
  readonly onScaleDown?: ((counts: WorkerLimits) => void) | undefined;
  /**
   * Called after a failure that leaves the endpoint above zero: it has its former worker counts
   * again, or counts that somebody else set.
   */
  readonly onPutBack?: (() => void) | undefined;
}

/** An endpoint that a call has scaled to zero. */
export interface ScaledDown {
  /** Why it is scaled to zero: `deletion` or `recycle`. */
  readonly purpose: string;
  /** The worker counts to put back. */
  readonly counts: WorkerLimits;
  /** `false` if the response to the save that scales to zero was lost. */
  readonly isCertain: boolean;
}

/**
 * How long each request after an abort may take, in milliseconds: whoever aborts does not want to
 * wait.
 */
const AFTER_ABORT_MS = 15_000;

/**
 * Returns `true` if the service refused a save, so nothing was changed. A refused retry proves
 * nothing.
 */
export function changedNothing(error: unknown): boolean {
  return error instanceof RejectedError && error.attempts === 1;
}

/**
 * Restores an endpoint's workers after the call that scaled it to zero has failed or was aborted.
 * An endpoint that somebody else has scaled meanwhile is left alone.
 * @returns the error to throw; its first line says whether the endpoint runs
 */
export async function putBack(
  collection: EndpointCollection,
  id: string,
  scaledDown: ScaledDown,
  failure: unknown,
  given: ObservedOptions & ScaleDownOptions,
  known?: KnownSettings,
): Promise<Error> {
  const { counts, purpose, isCertain } = scaledDown;
  const { signal, onPutBack, ...others } = given;
  // Restoring the workers must not be aborted as well.
  const options = signal?.aborted ? { ...others, timeoutMs: AFTER_ABORT_MS } : others;
  try {
    const listed = await look(collection, await collection.list.read({ gathers: true }, options), id, options);
    if (!listed)
      return withOutcome(failure, `the service no longer shows endpoint ${id}, so its workers were not put back`);
    const now = collection.hooks.latest?.(listed) ?? listed;
    // The list may still show the earlier counts. Saving them again changes nothing.
    const isOurs = !isCertain || isAtZero(now) || hasSameLimits(now, counts);
    const endpoint = isOurs ? await saveWorkers(collection, listed, counts, { ...options, known }) : now;
    onPutBack?.();
    return withOutcome(
      failure,
      `endpoint ${id} runs and is billed again: it has ${describe(endpoint)}. Its ${purpose} failed`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const where =
      error instanceof NotFoundError
        ? `the service says that endpoint ${id} does not exist, so its workers were not put back`
        : `endpoint ${id} ${isCertain ? "is still" : "may be"} off: its ${purpose} failed, and ${describe(counts)} could not be put back`;
    return withOutcome(failure, where, `. Putting the workers back failed with: ${reason}`);
  }
}

function describe({ workersMin, workersMax }: Endpoint | WorkerLimits): string {
  return `workersMin ${workersMin} and workersMax ${workersMax}`;
}

/**
 * Returns an error that begins with the outcome. An abort's reason belongs to the caller and stays
 * as it is.
 */
export function withOutcome(failure: unknown, outcome: string, details = ""): Error {
  if (failure instanceof ServerlessGpuError) return failure.withOutcome(outcome, details);
  const reason = failure instanceof Error ? failure.message : String(failure);
  return new CodedError("INTERRUPTED", `${outcome}: ${reason}${details}`, { cause: failure });
}
