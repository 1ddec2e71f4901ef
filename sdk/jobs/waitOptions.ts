import { aFunction, anAbortSignal, msFrom, type OptionChecks, oneOf } from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import type { ProgressListener, StatusListener } from "./statusChanges";

/** Options of `wait`. */
export interface WaitOptions extends Pick<RequestOptions, "signal"> {
  /**
   * The longest time to wait, in milliseconds, ≥ 0. With 0 the job is read once.
   * @default until the job has ended
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Decides what an abort of `signal` does to the job: `detach` lets it continue, `cancel` cancels
   * it before the wait rejects. A cancel waits for the rate limit, at most for the client's
   * `retry.maxElapsedMs`. If it fails, the wait rejects with a `CancelFailedError`.
   * @default "detach"
   */
  readonly onAbort?: "detach" | "cancel" | undefined;
  /**
   * Called with the job's status when it is first read, and on each change. Calls do not overlap.
   * The wait resolves when all have settled, and rejects if one fails; the job then continues.
   * Statuses that follow each other faster than the job is read are missed.
   * @default none
   */
  readonly onStatus?: StatusListener | undefined;
  /**
   * Called with each new progress update of the worker, which is the job's `output` until it ends.
   * Calls do not overlap, and an error of one ends the wait, as for `onStatus`. Updates that follow
   * each other faster than the job is read are missed. For a stream, the pieces are the progress.
   * @default none
   */
  readonly onProgress?: ProgressListener | undefined;
}

export const ON_ABORT = oneOf("detach", "cancel");

export const WAIT_OPTIONS: OptionChecks<WaitOptions> = {
  timeoutMs: msFrom(0),
  signal: anAbortSignal,
  onAbort: ON_ABORT,
  onStatus: aFunction,
  onProgress: aFunction,
};
