import {
  aBoolean,
  aFunction,
  anObject,
  aString,
  type OptionChecks,
  positiveMs,
  REQUEST_OPTIONS,
} from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import type { ScaleDownOptions } from "./putBack";
import type { WorkerLimits } from "./workerLimits";

/** The progress of a deletion. */
export interface DeleteProgress {
  /** The current step. */
  readonly phase: "scaling to zero" | "draining" | "deleting" | "proving gone";
  /** The number of pods that are still running. */
  readonly activePods: number;
  /** The time since the deletion began, in milliseconds. */
  readonly elapsedMs: number;
  /**
   * The reason, in the service's own words, why the service rejected the last attempt to delete the
   * endpoint. Missing if it did not. The attempt is repeated.
   */
  readonly refusal?: string;
}

/** The options of `delete`. */
export interface DeleteOptions extends RequestOptions, ScaleDownOptions {
  /**
   * `false` deletes the endpoint immediately, together with its workers and jobs. Running jobs are
   * lost. Only REST v2 supports this.
   * @default true: the workers complete their jobs first
   */
  readonly drain?: boolean | undefined;
  /**
   * How long to wait for the workers to stop and for the service to accept the deletion, in
   * milliseconds (> 0).
   * @default 600_000
   */
  readonly drainTimeoutMs?: number | undefined;
  /** Called at each step. */
  readonly onProgress?: ((progress: DeleteProgress) => void) | undefined;
  /**
   * Called before anything is sent if the list does not contain the endpoint. If the callback
   * throws an error, the deletion ends with that error. Without this callback, a missing endpoint
   * counts as deleted.
   */
  readonly onAbsent?: (() => void) | undefined;
  /**
   * The worker counts to restore if the deletion fails. They are needed if the endpoint was already
   * scaled to zero by an earlier deletion that was killed.
   * @default none: an endpoint that was at zero stays at zero
   */
  readonly workers?: WorkerLimits | undefined;
  /**
   * The id of the template that belongs to the endpoint, as last known. It is needed if an earlier
   * deletion was killed after deleting the endpoint but before deleting the template. Over GraphQL,
   * this call then deletes the template if the service has kept it.
   * @default the endpoint's template, if the endpoint still exists
   */
  readonly boundTemplateId?: string | undefined;
  /**
   * The id of the endpoint's template, as last known. If the endpoint now has a different template
   * because a killed deletion replaced it, that replacement is deleted as well.
   * @default none
   */
  readonly templateId?: string | undefined;
}

export const DELETE_ENDPOINT_OPTIONS: OptionChecks<DeleteOptions> = {
  ...REQUEST_OPTIONS,
  drain: aBoolean,
  drainTimeoutMs: positiveMs,
  onProgress: aFunction,
  onAbsent: aFunction,
  onScaleDown: aFunction,
  onPutBack: aFunction,
  workers: anObject,
  boundTemplateId: aString,
  templateId: aString,
};
