import { nameErrors } from "../errors/errorNames";
import { type ErrorDetails, ServerlessGpuError } from "../errors/errors";
import { redact } from "../errors/secretText";
import type { JobStatus } from "./jobRecord";

/**
 * Thrown when a submit was sent but its response was lost or not valid, so the job may have been
 * submitted. The submit is not sent again, because the job could then run twice. With `idempotent:
 * true`, it is sent again instead. `cause` describes what happened.
 */
export class SubmitUncertainError extends ServerlessGpuError {
  readonly code = "SUBMIT_UNCERTAIN";
  /** The id of the job, if the response contained one. In that case, the job was submitted. */
  override readonly jobId: string | undefined;

  /** @internal */
  constructor(message: string, { jobId, ...details }: ErrorDetails & { readonly jobId?: string | undefined }) {
    super(message, details);
    this.jobId = jobId === undefined ? undefined : redact(jobId);
  }
}

/**
 * Thrown when a retry was sent, its response was lost, and the job's status does not show whether
 * the retry took effect. The job may be running, or it may have run and failed again. The retry is
 * not sent again, because the job could then run twice.
 */
export class RetryUncertainError extends ServerlessGpuError {
  readonly code = "RETRY_UNCERTAIN";
  /** The id of the job. */
  override readonly jobId: string;

  /** @internal */
  constructor(message: string, jobId: string, details: ErrorDetails) {
    super(message, details);
    this.jobId = jobId;
  }
}

/**
 * Thrown when a purge of the queue was sent but its response was lost, so jobs may have been
 * removed. The purge is not sent again, because it could then remove jobs that were submitted in
 * the meantime.
 */
export class PurgeUncertainError extends ServerlessGpuError {
  readonly code = "PURGE_UNCERTAIN";
}

/**
 * Thrown when the connection broke during a read of a stream, or when the response contained an
 * item without an output. RunPod returns each piece only once, so pieces may be missing between
 * those already read and those that come next.
 */
export class StreamGapError extends ServerlessGpuError {
  readonly code = "STREAM_GAP";
  /** The id of the job. */
  override readonly jobId: string;
  /** The number of pieces read before the gap. */
  readonly piecesRead: number;

  /** @internal */
  constructor(message: string, gap: { readonly jobId: string; readonly piecesRead: number }, details: ErrorDetails) {
    super(message, details);
    this.jobId = gap.jobId;
    this.piecesRead = gap.piecesRead;
  }
}

/**
 * Thrown when the workers' OpenAI-compatible server sends an error in a stream. Earlier events were
 * already yielded.
 */
export class OpenAiStreamError extends ServerlessGpuError {
  readonly code = "OPENAI_STREAM";
  /** The error type that the server sent, such as `InternalServerError`. */
  readonly type: string | undefined;
  /** The error code that the server sent, which may be an HTTP status. */
  readonly errorCode: string | undefined;

  /** @internal */
  constructor(message: string, error: { readonly type?: unknown; readonly code?: unknown }) {
    super(message);
    this.type = typeof error.type === "string" ? redact(error.type) : undefined;
    this.errorCode = ["string", "number"].includes(typeof error.code) ? redact(String(error.code)) : undefined;
  }
}

/**
 * Thrown when the response of an OpenAI-compatible server ends without the event that marks the end
 * of the stream, so the rest of the stream is missing. Earlier events were already yielded.
 */
export class OpenAiStreamIncompleteError extends ServerlessGpuError {
  readonly code = "OPENAI_STREAM_INCOMPLETE";
  /** The number of events received. */
  readonly eventsRead: number;

  /** @internal */
  constructor(message: string, eventsRead: number) {
    super(message);
    this.eventsRead = eventsRead;
  }
}

/** A part of an output that does not match its schema. */
export interface OutputIssue {
  /** A description of what is wrong. */
  readonly message: string;
  /** The keys that lead to this part. An empty list stands for the whole output. */
  readonly path: readonly (string | number)[];
}

/**
 * Thrown when the output of a completed job, a piece of a stream, or a response of an
 * OpenAI-compatible server does not match the caller's `schema`. The error contains the output,
 * because you may have been charged for it. A stream can still be read: its next `next()` returns
 * the following piece.
 */
export class OutputMismatchError extends ServerlessGpuError {
  readonly code = "OUTPUT_MISMATCH";
  /** The id of the job. `undefined` for a response of an OpenAI-compatible server. */
  override readonly jobId: string | undefined;
  /** The output, piece or response as it was received. The property is not enumerable. */
  declare readonly output: unknown;
  /** The parts of the output that do not match the schema. The list is never empty. */
  readonly issues: readonly OutputIssue[];

  /** @internal */
  constructor(
    message: string,
    found: { readonly jobId?: string | undefined; readonly output: unknown; readonly issues: readonly OutputIssue[] },
    details?: ErrorDetails,
  ) {
    super(message, details);
    this.jobId = found.jobId === undefined ? undefined : redact(found.jobId);
    // Keep the output out of the output of `console.error`, because it may be large and is the
    // user's data.
    Object.defineProperty(this, "output", { value: found.output });
    this.issues = found.issues.map((issue) => ({
      message: redact(issue.message),
      path: issue.path.map((key) => (typeof key === "string" ? redact(key) : key)),
    }));
  }
}

/** Thrown when a job failed, was canceled or timed out, so there is no result. */
export class JobFailedError extends ServerlessGpuError {
  readonly code = "JOB_FAILED";
  /** The id of the job. */
  override readonly jobId: string;
  /** `FAILED`, `CANCELLED` or `TIMED_OUT`. */
  readonly jobStatus: JobStatus;
  /** The error description that RunPod returned. */
  readonly jobError: string | undefined;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus; readonly error?: string }) {
    super(message);
    this.jobId = job.id;
    this.jobStatus = job.status;
    this.jobError = job.error === undefined ? undefined : redact(job.error);
  }
}

/**
 * Thrown when a wait with `onAbort: "cancel"` was aborted and its job could not be canceled. The
 * job may continue, and you may still be charged for it. `cause` is the abort reason.
 */
export class CancelFailedError extends ServerlessGpuError {
  readonly code = "CANCEL_FAILED";
  override readonly disposition = "wait";
  /** The id of the job. */
  override readonly jobId: string;

  /** @internal */
  constructor(message: string, jobId: string, details: ErrorDetails) {
    super(message, details);
    this.jobId = jobId;
  }
}

/** The reason why the service no longer knows a job. */
export type ExpiryReason = "ttl" | "retention";

/**
 * Thrown when RunPod no longer knows a job because the job's `ttl`, or the retention time of its
 * result, has elapsed. For any other unknown job, a `NotFoundError` is thrown instead.
 */
export class JobExpiredError extends ServerlessGpuError {
  readonly code = "JOB_EXPIRED";
  /** The id of the job. */
  override readonly jobId: string;
  /**
   * `ttl` if the job's time to live has elapsed. `retention` if the job has ended and its result is
   * no longer kept.
   */
  readonly reason: ExpiryReason;
  /** The time by which the job had expired at the latest. */
  readonly expiredAt: Date;

  /** @internal */
  constructor(message: string, expiry: { readonly jobId: string; readonly reason: ExpiryReason; readonly at: Date }) {
    super(message);
    this.jobId = expiry.jobId;
    this.reason = expiry.reason;
    this.expiredAt = expiry.at;
  }
}

/** Thrown by `retry`, before anything is sent, if the job is neither FAILED nor TIMED_OUT. */
export class JobNotRetryableError extends ServerlessGpuError {
  readonly code = "JOB_NOT_RETRYABLE";
  /** The id of the job. */
  override readonly jobId: string;
  /** The status of the job. */
  readonly jobStatus: JobStatus;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus }) {
    super(message);
    this.jobId = job.id;
    this.jobStatus = redact(job.status);
  }
}

/** Passed to a webhook receiver's `onError` when a delivery is about a job that has not ended. */
export class WebhookNotConfirmedError extends ServerlessGpuError {
  readonly code = "WEBHOOK_NOT_CONFIRMED";
  /** The id of the job. */
  override readonly jobId: string;
  /** The job's status according to `/status`. RunPod sends no webhook for this status. */
  readonly jobStatus: JobStatus;

  /** @internal */
  constructor(message: string, job: { readonly id: string; readonly status: JobStatus }) {
    super(message);
    this.jobId = job.id;
    this.jobStatus = redact(job.status);
  }
}

nameErrors({
  CancelFailedError,
  JobExpiredError,
  JobFailedError,
  JobNotRetryableError,
  OpenAiStreamError,
  OpenAiStreamIncompleteError,
  OutputMismatchError,
  PurgeUncertainError,
  RetryUncertainError,
  StreamGapError,
  SubmitUncertainError,
  WebhookNotConfirmedError,
});
