import { nameErrors } from "../errors/errorNames";
import { ServerlessGpuError } from "../errors/errors";

/**
 * Thrown when RunPod had no worker for a request to a load-balancing endpoint in time (status 400).
 * The request did not reach a worker.
 */
export class NoWorkerError extends ServerlessGpuError {
  readonly code = "NO_WORKER";
  override readonly disposition = "wait";
}

/**
 * Thrown when the worker that the request names in `worker` was not ready in time (status 400). The
 * request did not reach a worker.
 */
export class WorkerTimeoutError extends ServerlessGpuError {
  readonly code = "WORKER_TIMEOUT";
  override readonly disposition = "wait";
}

/**
 * Thrown when the worker that the request names in `worker` no longer exists (status 404). The
 * request did not reach a worker.
 */
export class WorkerGoneError extends ServerlessGpuError {
  readonly code = "WORKER_GONE";
}

/** Thrown when RunPod cannot reach a worker's HTTP server (status 502). */
export class WorkerUnreachableError extends ServerlessGpuError {
  readonly code = "WORKER_UNREACHABLE";
}

/** Thrown when a worker took longer to process a request than RunPod allows (status 524). */
export class ProcessingTimeoutError extends ServerlessGpuError {
  readonly code = "PROCESSING_TIMEOUT";
}

/**
 * Thrown when a request to a load-balancing endpoint was sent but its response was lost, so a
 * worker may have processed the request. The request is not sent again. `cause` describes what
 * happened.
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
