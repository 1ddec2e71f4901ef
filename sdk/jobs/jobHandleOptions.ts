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

/** Options for `wait`. */
export interface WaitOptions extends Pick<RequestOptions, "signal"> {
  /**
   * The maximum time to wait, in milliseconds, ≥ 0. With 0, the job is read once.
   * @default until the job has ended
   */
  readonly timeoutMs?: number | undefined;
  /**
   * What happens to the job when `signal` aborts: `detach` lets the job continue, `cancel` cancels
   * it before the wait rejects. The cancellation waits for the rate limit, up to the client's
   * `retry.maxElapsedMs`. If the cancellation fails, the wait rejects with a `CancelFailedError`.
   * @default "detach"
   */
  readonly onAbort?: "detach" | "cancel" | undefined;
  /**
   * Called with the job's status when it is first read, and whenever it changes. Calls do not
   * overlap. The wait resolves after all calls have settled. It rejects if one of them fails, and
   * the job then continues. A status is missed if it changes again before the job's next read.
   * @default none
   */
  readonly onStatus?: StatusListener | undefined;
  /**
   * Called with each new progress update from the worker. Until the job ends, the update is the
   * job's `output`. Calls do not overlap. An error in one of them ends the wait, as for `onStatus`.
   * An update is missed if the worker sends another update before the job's next read. In a stream,
   * the pieces themselves show the progress.
   * @default none
   */
  readonly onProgress?: ProgressListener | undefined;
  /**
   * `true` if a timeout error should explain why the job is waiting and contain the `diagnosis`.
   * This sends up to nine additional requests. All waits of a process share one diagnosis per 30 s.
   * If the error contains no diagnosis, its message says how to get one.
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

/** Options for `status`. */
export interface StatusOptions extends RequestOptions {
  /**
   * Sets the job's time to live, in milliseconds from its submit (integer, 10 seconds to 7 days).
   * @default unchanged
   */
  readonly ttl?: number | undefined;
}

export const TTL = wholeMs(JOB_TTL_MS);

export const STATUS_OPTIONS: OptionChecks<StatusOptions> = { ...REQUEST_OPTIONS, ttl: TTL };

/** Options for `stream`. */
export interface StreamOptions<Item> extends RequestOptions {
  /** The schema of each item's `output`. @default none: `output` is `unknown` */
  readonly schema?: OutputSchema<Item> | undefined;
  /**
   * Called when pieces may be missing between those read so far and the next pieces. The stream
   * then continues.
   * @default none: the stream ends with the error
   */
  readonly onGap?: ((gap: StreamGapError) => unknown) | undefined;
}

export const STREAM_OPTIONS: OptionChecks<StreamOptions<unknown>> = {
  ...REQUEST_OPTIONS,
  schema: aSchema,
  onGap: aFunction,
};
