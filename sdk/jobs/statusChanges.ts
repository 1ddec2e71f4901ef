import { onAbort } from "../contract/clock";
import type { Job, JobStatus } from "./jobRecord";

/** Called with a job's new status, and with the job. */
export type StatusListener = (status: JobStatus, job: Job) => unknown;

/** The calls of one wait's listener. */
export interface StatusChanges {
  /** Aborts with the wait's signal, or with the listener's error. */
  readonly signal: AbortSignal;
  /** Calls the listener if the job's status has changed, after earlier calls have settled. */
  readonly onRead: (job: Job) => void;
  /** Resolves when all calls have settled. Rejects with the listener's error. */
  settled(): Promise<unknown>;
  /** Removes the listener of the wait's signal. */
  release(): void;
}

/** Follows the changes of a job's status for one wait. */
export function followStatus(listener: StatusListener, signal: AbortSignal | undefined): StatusChanges {
  const ended = new AbortController();
  const release = onAbort(signal, () => ended.abort(signal?.reason));
  if (signal?.aborted) ended.abort(signal.reason);
  let last: JobStatus | undefined;
  let calls: Promise<unknown> = Promise.resolve();
  return {
    signal: ended.signal,
    onRead(job) {
      if (job.status === last) return;
      last = job.status;
      calls = calls.then(() => listener(job.status, job));
      calls.catch((error: unknown) => ended.abort(error));
    },
    settled: () => calls,
    release,
  };
}
