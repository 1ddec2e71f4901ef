import { CodedError } from "../errors/errors";
import type { DeleteOptions } from "./deleteOptions";
import { withOutcome } from "./putBack";
import type { WorkerLimits } from "./workerLimits";

/** Obstacles after which it is unknown whether the endpoint is already gone. */
export const STILL_LISTED = "the service accepted its deletion, but still lists it";
export const UNKNOWN_YET_LISTED = "the service reports that it does not exist, but still lists it";

const MAYBE_GONE: readonly string[] = [STILL_LISTED, UNKNOWN_YET_LISTED];

/** A deletion that has failed. */
interface FailedDeletion {
  readonly id: string;
  /** The worker counts before the deletion scaled the endpoint to zero. */
  readonly counts: WorkerLimits | undefined;
}

/**
 * Returns the error of a deletion that was sent and whose outcome is not known. The workers are not
 * restored, because the endpoint may disappear at any moment.
 */
export function maybeDeleted(
  failure: unknown,
  { id, isAccepted, counts }: FailedDeletion & { readonly isAccepted: boolean },
): Error {
  const said = isAccepted
    ? "the service accepted the deletion of"
    : "the service received, but did not answer, the deletion of";
  const state = counts ? " If it still exists, it is scaled to zero" : "";
  return withOutcome(failure, `${said} endpoint ${id}, so it may be gone.${state}`);
}

/** Returns the error of a deletion that failed after the endpoint's template was replaced. */
export function atZeroForGood(failure: unknown, id: string, standIn: string): unknown {
  return withOutcome(
    failure,
    `endpoint ${id} was scaled to zero, and is not billed once its workers have stopped. They were not restored, because its ` +
      `template was not found. The endpoint was given the temporary template ${standIn}, which is deleted together with it`,
  );
}

/** Returns the error of a deletion that did not end in time. */
export function deleteTimeout(
  { id, obstacle, counts, options }: FailedDeletion & { readonly obstacle: string; readonly options: DeleteOptions },
  drainTimeoutMs: number,
  wasSeen: boolean,
): CodedError {
  const wasAtZero = counts === undefined && options.drain !== false;
  const exists = wasAtZero ? "It still exists, and is still scaled to zero." : "It still exists.";
  const remains = !wasSeen || MAYBE_GONE.includes(obstacle) ? "It may still exist." : exists;
  return new CodedError(
    "DELETE_TIMEOUT",
    `endpoint ${id} was not deleted within ${Math.round(drainTimeoutMs / 1000)} s: ${obstacle}. ` +
      `${remains} Remove the cause (such as running jobs) or wait, then delete it again`,
  );
}
