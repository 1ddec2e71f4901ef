import { isDeepStrictEqual } from "node:util";
import { onAbort } from "../contract/clock";
import { isTerminal, type Job, type JobStatus } from "./jobRecord";

/** Called with a job's new status and the job. */
export type StatusListener = (status: JobStatus, job: Job) => unknown;

/** Called with a worker's latest progress update and the job. */
export type ProgressListener = (update: unknown, job: Job) => unknown;

/** The listeners of a wait. */
interface JobListeners {
  readonly onStatus?: StatusListener | undefined;
  readonly onProgress?: ProgressListener | undefined;
}

/** Calls the listeners of a wait. */
interface StatusChanges {
  /**
   * Aborts when the wait's signal aborts or a listener fails. The reason is the signal's reason or
   * the listener's error.
   */
  readonly signal: AbortSignal;
  /**
   * Must be called with each response about the job. Calls a listener, after earlier calls have
   * settled, if the job's status or progress update has changed.
   */
  readonly onRead: (job: Job) => void;
  /** Resolves when all calls have settled. Rejects with a listener's error if one failed. */
  settled(): Promise<unknown>;
  /** Removes the listener from the wait's signal. */
  release(): void;
}

/** Follows the changes of a job during a wait. Returns `undefined` if there are no listeners. */
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
      // Once a job has ended, its output is its result and not a progress update. Before that, a
      // service may return null.
      if (!onProgress || isTerminal(status) || output == null || isDeepStrictEqual(output, lastUpdate)) return;
      lastUpdate = output;
      call(() => onProgress(output, job));
    },
    settled: () => calls,
    release,
  };
}
