import { nameErrors } from "../errorNames";
import { ServerlessGpuError } from "../errors";

/**
 * Thrown when the service had no worker for a request to a load-balancing endpoint in time (status
 * 400). The request reached no worker.
 */
export class NoWorkerError extends ServerlessGpuError {
  readonly code = "NO_WORKER";
  override readonly disposition = "wait";
}

/**
 * Thrown when the one worker that a request names was not ready for it in time (status 400). The
 * request reached no worker.
 */
export class WorkerTimeoutError extends ServerlessGpuError {
  readonly code = "WORKER_TIMEOUT";
  override readonly disposition = "wait";
}

/**
 * Thrown when the one worker that a request names no longer exists (status 404). The request
 * reached no worker.
 */
export class WorkerGoneError extends ServerlessGpuError {
  readonly code = "WORKER_GONE";
}

/** Thrown when the service cannot reach the HTTP server of a worker (status 502). */
export class WorkerUnreachableError extends ServerlessGpuError {
  readonly code = "WORKER_UNREACHABLE";
}

/** Thrown when a worker took longer for a request than the service allows (status 524). */
export class ProcessingTimeoutError extends ServerlessGpuError {
  readonly code = "PROCESSING_TIMEOUT";
}

/**
 * Thrown when a request to a load-balancing endpoint was sent and its response was lost: a worker
 * may have processed it. It is not sent again. `cause` says what happened.
 */
export class RequestUncertainError extends ServerlessGpuError {
  readonly code = "REQUEST_UNCERTAIN";
}

nameErrors({
  NoWorkerError,
  ProcessingTimeoutError,
  RequestUncertainError,
  WorkerGoneError,
  WorkerTimeoutError,
  WorkerUnreachableError,
});
