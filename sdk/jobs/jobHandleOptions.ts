import { JOB_TTL_MS } from "../contract/limits";
import {
  aBoolean,
  aFunction,
  anAbortSignal,
  aSchema,
  msFrom,
  type OptionChecks,
  oneOfWords,
  REQUEST_OPTIONS,
  wholeMs,
} from "../transport/callOptions";
import type { RequestOptions } from "../transport/requestOptions";
import type { StreamGapError } from "./jobErrors";
import type { OutputSchema } from "./jobOutput";
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
  /**
   * `true`: after the timeout, the error says why the job waits, and has the `diagnosis`. It sends
   * up to nine requests more. All waits of a process share one diagnosis in 30 s; without one, the
   * error says how to get it.
   * @default false
   */
  readonly diagnose?: boolean | undefined;
}

export const ON_ABORT = oneOfWords("detach", "cancel");

export const WAIT_OPTIONS: OptionChecks<WaitOptions> = {
  timeoutMs: msFrom(0),
  signal: anAbortSignal,
  onAbort: ON_ABORT,
  onStatus: aFunction,
  onProgress: aFunction,
  diagnose: aBoolean,
};

/** Options of `status`. */
export interface StatusOptions extends RequestOptions {
  /**
   * Sets the job's time to live, in milliseconds from its submit: whole, 10 seconds to 7 days.
   * @default
   * unchanged
   */
  readonly ttl?: number | undefined;
}

export const TTL = wholeMs(JOB_TTL_MS);

export const STATUS_OPTIONS: OptionChecks<StatusOptions> = { ...REQUEST_OPTIONS, ttl: TTL };

/** Options of `stream`. */
export interface StreamOptions<Item> extends RequestOptions {
  /** The schema of each item's `output`. @default none: `output` is `unknown` */
  readonly schema?: OutputSchema<Item> | undefined;
  /**
   * Called when pieces may be missing between those read so far and the next ones. The stream then
   * continues.
   * @default none: the stream ends with the error
   */
  readonly onGap?: ((gap: StreamGapError) => unknown) | undefined;
}

export const STREAM_OPTIONS: OptionChecks<StreamOptions<unknown>> = {
  ...REQUEST_OPTIONS,
  schema: aSchema,
  onGap: aFunction,
};
