import { isDeepStrictEqual } from "node:util";
import { onAbort } from "../contract/clock";
import { isTerminal, type Job, type JobStatus } from "./jobRecord";

/** Called with a job's new status, and with the job. */
export type StatusListener = (status: JobStatus, job: Job) => unknown;

/** Called with a worker's latest progress update, and with the job. */
export type ProgressListener = (update: unknown, job: Job) => unknown;

/** The listeners of one wait. */
export interface JobListeners {
  readonly onStatus?: StatusListener | undefined;
  readonly onProgress?: ProgressListener | undefined;
}

/** The calls of one wait's listeners. */
export interface StatusChanges {
  /** Aborts with the wait's signal, or with a listener's error. */
  readonly signal: AbortSignal;
  /**
   * Calls a listener if the job's status or its progress update has changed, after earlier calls
   * have settled.
   */
  readonly onRead: (job: Job) => void;
  /** Resolves when all calls have settled. Rejects with a listener's error. */
  settled(): Promise<unknown>;
  /** Removes the listener of the wait's signal. */
  release(): void;
}

/** Follows the changes of a job for one wait. Returns `undefined` if nothing listens. */
export function followStatus(
  { onStatus, onProgress }: JobListeners,
  signal: AbortSignal | undefined,
): StatusChanges | undefined {
  if (!onStatus && !onProgress) return undefined;
  const ended = new AbortController();
  const release = onAbort(signal, () => ended.abort(signal?.reason));
  if (signal?.aborted) ended.abort(signal.reason);
  let last: JobStatus | undefined;
  let lastUpdate: unknown;
  let calls: Promise<unknown> = Promise.resolve();
  const call = (listener: () => unknown) => {
    calls = calls.then(listener);
    calls.catch((error: unknown) => ended.abort(error));
  };
  return {
    signal: ended.signal,
    onRead(job) {
      const { status, output } = job;
      if (onStatus && status !== last) call(() => onStatus(status, job));
      last = status;
      // The output of a job that has ended is its result. A service may show null before that.
      if (!onProgress || isTerminal(status) || output == null || isDeepStrictEqual(output, lastUpdate)) return;
      lastUpdate = output;
      call(() => onProgress(output, job));
    },
    settled: () => calls,
    release,
  };
}
