/** The error codes that do not have their own class, each with its disposition. */
export const DISPOSITIONS = {
  /**
   * A record is missing. It was last seen with a different key or URL, so it may still exist in
   * another account.
   */
  ACCOUNT_CHANGED: "stop",
  /** The connection could not be established. Nothing was sent. */
  CANNOT_CONNECT: "wait",
  /** The client was used after it was closed, or was closed while it was waiting for a job. */
  CLIENT_CLOSED: "stop",
  /**
   * A record was not deleted in time. The message explains why and, for an endpoint, whether it is
   * running again.
   */
  DELETE_TIMEOUT: "wait",
  /**
   * A deletion or a restart of the workers was aborted after it had scaled the endpoint to zero.
   * The message says whether the endpoint is running again. `cause` is a copy of the signal's
   * reason.
   */
  INTERRUPTED: "wait",
  /** The resource cannot be moved to another account. Nothing was deleted. */
  MOVE_REFUSED: "stop",
  /**
   * The proxy did not accept the username or password in its URL (status 407). Nothing was sent.
   */
  PROXY_AUTHENTICATION: "stop",
  /** The endpoint's workers were not ready in time. The endpoint exists nevertheless. */
  READY_TIMEOUT: "wait",
  /**
   * The endpoint's workers were to be restarted, but did not stop in time. The message says whether
   * its worker counts were restored.
   */
  RECYCLE_TIMEOUT: "wait",
  /**
   * A new release failed, or it was rejected before it was rolled out. The message says which
   * settings the endpoint is using.
   */
  ROLL_OUT: "stop",
  /** The job of a smoke test took too long, or its output was not as expected. */
  SMOKE_TEST: "stop",
  /**
   * The response is not JSON (such as a gateway's HTML page, or a truncated or corrupted body). The
   * message contains a short excerpt.
   */
  UNREADABLE_RESPONSE: "wait",
  /**
   * The certificate of the service or the proxy is not trusted. Nothing was sent. A retry would not
   * help.
   */
  UNTRUSTED_CERTIFICATE: "stop",
  /** The key does not belong to the account that the provider was told to use. Nothing was sent. */
  WRONG_ACCOUNT: "stop",
} as const;

/** The code of an error. Codes are stable, and are listed in docs/error-codes.md. */
export type ErrorCode =
  | keyof typeof DISPOSITIONS
  | "AUTHENTICATION"
  | "BUSINESS_RULE"
  | "CANCEL_FAILED"
  | "CONFIGURATION"
  | "CONNECTION"
  | "CREATE_UNCERTAIN"
  | "EMPTY_LIST"
  | "INVALID_INPUT"
  | "IN_USE"
  | "JOB_EXPIRED"
  | "JOB_FAILED"
  | "JOB_NOT_RETRYABLE"
  | "JOURNAL_DAMAGED"
  | "JOURNAL_LOCKED"
  | "JOURNAL_REFUSED"
  | "JOURNAL_UNAVAILABLE"
  | "NAME_TAKEN"
  | "NOT_FOUND"
  | "NO_QUEUE"
  | "NO_WORKER"
  | "OPENAI_STREAM"
  | "OPENAI_STREAM_INCOMPLETE"
  | "OUTPUT_MISMATCH"
  | "PROCESSING_TIMEOUT"
  | "PURGE_UNCERTAIN"
  | "QUOTA_EXCEEDED"
  | "RATE_LIMITED"
  | "REJECTED"
  | "REQUEST_TIMEOUT"
  | "REQUEST_UNCERTAIN"
  | "RETRY_UNCERTAIN"
  | "SERVICE_FAULT"
  | "STREAM_GAP"
  | "SUBMIT_UNCERTAIN"
  | "UNEXPECTED_RESPONSE"
  | "WAIT_TIMEOUT"
  | "WEBHOOK_NOT_CONFIRMED"
  | "WORKER_GONE"
  | "WORKER_TIMEOUT"
  | "WORKER_UNREACHABLE";
