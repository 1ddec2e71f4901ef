import { CodedError, NotFoundError, RejectedError, ServerlessGpuError } from "../errors/errors";
import { look } from "../records/absence";
import type { KnownSettings } from "../records/calls";
import type { ObservedOptions } from "../transport/requestOptions";
import type { EndpointCollection } from "./calls";
import type { Endpoint } from "./record";
import { saveWorkers } from "./saveWorkers";
import { hasSameLimits, isAtZero, type WorkerLimits } from "./workerLimits";

/** Callbacks for a call that temporarily scales an endpoint to zero. */
export interface ScaleDownOptions {
  /**
   * Called with the endpoint's worker counts before the save that scales the endpoint to zero. If
   * the process is killed after that save, the counts are known only from this callback. If the
   * callback throws an error, the call ends with that error and changes nothing.
   */
  readonly onScaleDown?: ((counts: WorkerLimits) => void) | undefined;
  /**
   * Called if the call fails but the endpoint is not at zero, because its previous worker counts
   * were restored or someone else set other counts.
   */
  readonly onPutBack?: (() => void) | undefined;
}

/** An endpoint that was scaled to zero by a call. */
interface ScaledDown {
  /** Why the endpoint was scaled to zero: `deletion` or `recycle`. */
  readonly purpose: string;
  /** The worker counts to restore. */
  readonly counts: WorkerLimits;
  /**
   * `false` if it is unknown whether the endpoint was scaled to zero, because the response to the
   * save was lost.
   */
  readonly isCertain: boolean;
}

/**
 * The time limit of each request after an abort, in milliseconds. It is short because a caller who
 * aborts does not want to wait.
 */
const AFTER_ABORT_MS = 15_000;

/**
 * Returns `true` if the service rejected a save, so that nothing was changed. The rejection of a
 * retry proves nothing.
 */
export function changedNothing(error: unknown): boolean {
  return error instanceof RejectedError && error.attempts === 1;
}

/**
 * Restores an endpoint's worker counts if the call that scaled it to zero has failed or was
 * aborted. Does not change the counts if someone else has changed them in the meantime.
 * @returns the error to throw; its first line says whether the endpoint is running
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
  // The abort that ended the call must not stop the restore as well.
  const options = signal?.aborted ? { ...others, timeoutMs: AFTER_ABORT_MS } : others;
  let isSaving = false;
  try {
    const listed = await look(collection, await collection.list.read({ gathers: true }, options), id, options);
    if (!listed)
      return withOutcome(failure, `the service no longer shows endpoint ${id}, so its workers were not restored`);
    const now = collection.hooks.latest?.(listed) ?? listed;
    // The list may still show the earlier counts. In that case, saving them again has no effect.
    const isOurs = !isCertain || isAtZero(now) || hasSameLimits(now, counts);
    isSaving = isOurs;
    const endpoint = isOurs ? await saveWorkers(collection, listed, counts, { ...options, known }) : now;
    onPutBack?.();
    return withOutcome(
      failure,
      `endpoint ${id} is in service and billed again, with ${describe(endpoint)}, because its ${purpose} failed`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    // A save whose response was lost may have restored the workers.
    const isLeft = isCertain && (!isSaving || changedNothing(error));
    const where =
      error instanceof NotFoundError
        ? `the service says that endpoint ${id} does not exist, so its workers were not restored`
        : `endpoint ${id} ${isLeft ? "is still" : "may be"} scaled to zero: its ${purpose} failed, and ${describe(counts)} ${isLeft ? "could not be" : "may not have been"} restored`;
    return withOutcome(failure, where, `. Restoring the workers failed with: ${reason}`);
  }
}

function describe({ workersMin, workersMax }: Endpoint | WorkerLimits): string {
  return `workersMin ${workersMin} and workersMax ${workersMax}`;
}

/**
 * Returns an error whose message begins with the outcome. If the failure is the reason of an abort,
 * it belongs to the caller and is not modified.
 */
export function withOutcome(failure: unknown, outcome: string, details = ""): Error {
  if (failure instanceof ServerlessGpuError) return failure.withOutcome(outcome, details);
  const reason = failure instanceof Error ? failure.message : String(failure);
  return new CodedError("INTERRUPTED", `${outcome}: ${reason}${details}`, { cause: failure });
}
