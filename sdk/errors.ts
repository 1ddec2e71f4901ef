import { type ErrorDetails, ServerlessGpuError } from "./baseError";
import { nameErrors } from "./errorNames";
import { redact } from "./secret";

export { type ErrorDetails, type ErrorResponse, ServerlessGpuError } from "./baseError";

/** The codes that have no class of their own, each with its disposition. */
const DISPOSITIONS = {
  /** A record is absent, but was last seen with another key or URL, where it may still exist. */
  ACCOUNT_CHANGED: "stop",
  /** No connection could be made. Nothing was sent. */
  CANNOT_CONNECT: "wait",
  /** A client is used after it was closed, or was closed during a wait for a job. */
  CLIENT_CLOSED: "stop",
  /**
   * A record was not deleted in time. The message says why and, for an endpoint, whether it runs
   * again.
   */
  DELETE_TIMEOUT: "wait",
  /**
   * A deletion or a recycle was aborted after it had scaled the endpoint to zero. The message says
   * whether the endpoint runs again. `cause` is a copy of the signal's reason.
   */
  INTERRUPTED: "wait",
  /** Another process uses the store of a journal that only one process can use. */
  JOURNAL_LOCKED: "wait",
  /** A resource cannot move to another account. Nothing was deleted. */
  MOVE_REFUSED: "stop",
  /** A proxy does not accept the user or the password in its URL (status 407). Nothing was sent. */
  PROXY_AUTHENTICATION: "stop",
  /** An endpoint's workers are not ready in time. The endpoint exists. */
  READY_TIMEOUT: "wait",
  /**
   * Workers do not stop in time for a recycle. The message says whether the endpoint has its
   * workers again.
   */
  RECYCLE_TIMEOUT: "wait",
  /**
   * A new release of an endpoint fails its rollout, or was rejected before. The message says which
   * settings the endpoint serves with.
   */
  ROLL_OUT: "stop",
  /** A smoke test's job takes too long, or its output is not as expected. */
  SMOKE_TEST: "stop",
  /**
   * A response is not JSON (a gateway's HTML page, a truncated or damaged body). The message
   * contains a short excerpt.
   */
  UNREADABLE_RESPONSE: "wait",
  /**
   * The certificate of the service or the proxy is not trusted. Nothing was sent. A retry would not
   * help.
   */
  UNTRUSTED_CERTIFICATE: "stop",
} as const;

/**
 * Thrown where the code tells a program all that it needs. Compare `code`.
 */
export class CodedError extends ServerlessGpuError {
  readonly code: keyof typeof DISPOSITIONS;
  override readonly disposition: "wait" | "stop";

  /** @internal */
  constructor(code: keyof typeof DISPOSITIONS, message: string, details?: ErrorDetails) {
    super(message, details);
    this.code = code;
    this.disposition = DISPOSITIONS[code];
  }
}

/**
 * Thrown before any call if the key or a URL is missing or not valid. The message names the
 * setting.
 */
export class ConfigurationError extends ServerlessGpuError {
  readonly code = "CONFIGURATION";
}

/** One problem of an input. */
export interface InputProblem {
  /** The property that has the problem. */
  readonly property: string;
  /** The problem, the allowed values and, if there is one, the nearest match. */
  readonly message: string;
}

/** Thrown before any call if an input is not valid. Lists all problems at once. */
export class InvalidInputError extends ServerlessGpuError {
  readonly code = "INVALID_INPUT";
  /** All problems. */
  readonly problems: readonly InputProblem[];

  /** @internal */
  constructor(what: string, problems: readonly InputProblem[]) {
    super(`${what} is not valid: ${problems.map(({ property, message }) => `${property}: ${message}`).join("; ")}`);
    this.problems = problems.map(({ property, message }) => ({ property: redact(property), message: redact(message) }));
  }
}

/**
 * Thrown when the service does not accept the key: status 401, "Unauthorized", or a response
 * without an account.
 */
export class AuthenticationError extends ServerlessGpuError {
  readonly code = "AUTHENTICATION";
}

/**
 * Thrown when the service says that the requested record does not exist (status 404, or "not found"
 * in GraphQL).
 */
export class NotFoundError extends ServerlessGpuError {
  readonly code = "NOT_FOUND";
}

/**
 * Thrown when the service rejects the request itself: status 400 or 403, or a GraphQL document that
 * is not valid.
 */
export class RejectedError extends ServerlessGpuError {
  readonly code: string = "REJECTED";
  /**
   * The fields of an invalid GraphQL document that the service does not have.
   * @internal
   */
  declare readonly refusedFields?: readonly string[];
}

/**
 * Thrown when the queue of a load-balancing endpoint is called: it has none. Nothing was submitted.
 */
export class NoQueueError extends RejectedError {
  override readonly code = "NO_QUEUE";
}

/**
 * Thrown when a rule of the service forbids the request: workers are not at zero, or a template is
 * unknown.
 */
export class BusinessRuleError extends RejectedError {
  override readonly code: string = "BUSINESS_RULE";
}

/**
 * Thrown when a change would exceed the account's quota of workers (the sum of `workersMax` over
 * all endpoints).
 */
export class QuotaExceededError extends BusinessRuleError {
  override readonly code = "QUOTA_EXCEEDED";
}

/**
 * Thrown when the service still responds with 429 after all attempts. The request had no effect.
 */
export class RateLimitError extends ServerlessGpuError {
  readonly code = "RATE_LIMITED";
  override readonly disposition = "wait";
}

/** Thrown when the service fails (status 5xx, or `INTERNAL_SERVER_ERROR` in GraphQL). */
export class ServiceFaultError extends ServerlessGpuError {
  readonly code = "SERVICE_FAULT";
  override readonly disposition = "wait";
}

/** Thrown when the connection broke before the response was complete. */
export class ConnectionError extends ServerlessGpuError {
  readonly code = "CONNECTION";
  override readonly disposition = "wait";
}

/**
 * Thrown when no data arrived within the time of an attempt, or when the service stopped waiting
 * (status 408).
 */
export class RequestTimeoutError extends ServerlessGpuError {
  readonly code = "REQUEST_TIMEOUT";
  override readonly disposition = "wait";
}

/**
 * Thrown when a response is larger than 64 MB, or is JSON that does not match the contract.
 * Contains a short excerpt.
 */
export class UnexpectedResponseError extends ServerlessGpuError {
  readonly code: string = "UNEXPECTED_RESPONSE";
}

/**
 * Thrown when a record is in no list, the lists have no records at all, and the service does not
 * read such a record by its id. A failing service also shows empty lists, so they do not prove that
 * the record is gone.
 */
export class EmptyListError extends UnexpectedResponseError {
  override readonly code = "EMPTY_LIST";
}

/**
 * Thrown when the response to a create was lost, and the lists do not show whether the record was
 * created, or which of several new ones it is, or there was no time to look. The create is not sent
 * again.
 */
export class CreateUncertainError extends ServerlessGpuError {
  readonly code = "CREATE_UNCERTAIN";
  /** The ids of the new records that match. One of them may be the one that was created. */
  readonly ids: readonly string[];

  /** @internal */
  constructor(message: string, ids: readonly string[], details?: ErrorDetails) {
    super(message, details);
    this.ids = ids;
  }
}

/**
 * Thrown when a template, a volume or a registry credential was not deleted because it is still
 * used. Names its users.
 */
export class InUseError extends ServerlessGpuError {
  readonly code = "IN_USE";
}

/** Thrown when another record already has the name. Nothing was changed. */
export class NameTakenError extends ServerlessGpuError {
  readonly code = "NAME_TAKEN";
  /** The ids of the records with the name, as far as they are known. */
  readonly ids: readonly string[];

  /** @internal */
  constructor(message: string, ids: readonly string[]) {
    super(message);
    this.ids = ids;
  }
}

nameErrors({
  AuthenticationError,
  BusinessRuleError,
  CodedError,
  ConfigurationError,
  ConnectionError,
  CreateUncertainError,
  InUseError,
  InvalidInputError,
  NameTakenError,
  NoQueueError,
  NotFoundError,
  QuotaExceededError,
  RateLimitError,
  RejectedError,
  RequestTimeoutError,
  ServerlessGpuError,
  ServiceFaultError,
  EmptyListError,
  UnexpectedResponseError,
});
