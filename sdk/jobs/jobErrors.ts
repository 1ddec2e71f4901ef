import { type ErrorDetails, ServerlessGpuError } from "../errors";
import { redact } from "../secret";
import type { JobStatus } from "./jobRecord";

/**
 * Thrown when a submit was sent and its response was lost, or made no sense: the job may have been submitted. It is not
 * sent again, because the job could then run twice; a submit with `idempotent: true` is. `cause` says what happened.
 */
export class SubmitUncertainError extends ServerlessGpuError {
  readonly code = "SUBMIT_UNCERTAIN";
  /** Identifier of the job, if the response held one: then the job was submitted. */
  readonly jobId: string | undefined;

  /** @internal */
  constructor(message: string, { jobId, ...details }: ErrorDetails & { readonly jobId?: string | undefined }) {
    super(message, details);
    this.jobId = jobId === undefined ? undefined : redact(jobId);
  }
}

/**
 * Thrown when a retry was sent, its response was lost, and the job's state does not tell whether it took place: it may
 * run, or may have run again and failed again. It is not sent again, because the job could then run twice.
 */
export class RetryUncertainError extends ServerlessGpuError {
  readonly code = "RETRY_UNCERTAIN";
  /** Identifier of the job. */
  readonly jobId: string;

  /** @internal */
  constructor(message: string, jobId: string, details: ErrorDetails) {
    super(message, details);
    this.jobId = jobId;
  }
}

/**
 * Thrown when a purge of the queue was sent and its response was lost: it may have taken place. It is not sent again,
 * because it could then remove jobs that were submitted since.
 */
export class PurgeUncertainError extends ServerlessGpuError {
  readonly code = "PURGE_UNCERTAIN";
}

/**
 * Thrown when a read of a stream broke after it was sent: the service hands each piece out once, so pieces may be
 * missing between those read before and those that come next.
 */
export class StreamGapError extends ServerlessGpuError {
  readonly code = "STREAM_GAP";
  /** Identifier of the job. */
  readonly jobId: string;
  /** How many pieces were read before the gap. */
  readonly piecesRead: number;

  /** @internal */
  constructor(message: string, gap: { readonly jobId: string; readonly piecesRead: number }, details: ErrorDetails) {
    super(message, details);
    this.jobId = gap.jobId;
    this.piecesRead = gap.piecesRead;
  }
}

/** Thrown when a job failed, was cancelled or timed out, so that there is no result. */
export class JobFailedError extends ServerlessGpuError {
  readonly code = "JOB_FAILED";
  /** Identifier of the job. */
  readonly jobId: string;
  /** `FAILED`, `CANCELLED` or `TIMED_OUT`. */
  readonly status: JobStatus;
  /** What the service says about it. */
  readonly jobError: string | undefined;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus; readonly error?: string }) {
    super(message);
    this.jobId = job.id;
    this.status = job.status;
    this.jobError = job.error === undefined ? undefined : redact(job.error);
  }
}

/**
 * Thrown when a wait with `onAbort: "cancel"` was aborted and its job could not be cancelled: it may go on, and cost.
 * `cause` is the reason of the abort.
 */
export class CancelFailedError extends ServerlessGpuError {
  readonly code = "CANCEL_FAILED";
  override readonly disposition = "wait";
  /** Identifier of the job. */
  readonly jobId: string;

  /** @internal */
  constructor(message: string, jobId: string, details: ErrorDetails) {
    super(message, details);
    this.jobId = jobId;
  }
}

/** Why the service does not know a job any more. */
export type ExpiryReason = "ttl" | "retention";

/**
 * Thrown when the service does not know a job any more because its time is over: its `ttl`, or the time for which the
 * result is kept after the job ended. Any other job that is unknown is a `NotFoundError`.
 */
export class JobExpiredError extends ServerlessGpuError {
  readonly code = "JOB_EXPIRED";
  /** Identifier of the job. */
  readonly jobId: string;
  /** `ttl`: the job's life was over. `retention`: it had ended, and its result is not kept any more. */
  readonly reason: ExpiryReason;
  /** When it expired at the latest. */
  readonly expiredAt: Date;

  /** @internal */
  constructor(message: string, expiry: { readonly jobId: string; readonly reason: ExpiryReason; readonly at: Date }) {
    super(message);
    this.jobId = expiry.jobId;
    this.reason = expiry.reason;
    this.expiredAt = expiry.at;
  }
}

/** Thrown by `retry`, before it is sent, when the job is in another state than FAILED and TIMED_OUT. */
export class JobNotRetryableError extends ServerlessGpuError {
  readonly code = "JOB_NOT_RETRYABLE";
  /** Identifier of the job. */
  readonly jobId: string;
  /** The state that the job is in. */
  readonly status: JobStatus;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus }) {
    super(message);
    this.jobId = job.id;
    this.status = redact(job.status);
  }
}

/** Given to a webhook receiver's `onError` when a delivery is about a job that has not ended. */
export class WebhookNotConfirmedError extends ServerlessGpuError {
  readonly code = "WEBHOOK_NOT_CONFIRMED";
  /** Identifier of the job. */
  readonly jobId: string;
  /** The state that `/status` shows, in which no webhook is sent. */
  readonly status: JobStatus;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus }) {
    super(message);
    this.jobId = job.id;
    this.status = redact(job.status);
  }
}
