import { type ErrorDetails, ServerlessGpuError } from "./baseError";
import { DISPOSITIONS, type ErrorCode } from "./errorCodes";
import { nameErrors } from "./errorNames";
import { redact } from "./secretText";

export { type ErrorDetails, type ErrorResponse, ServerlessGpuError } from "./baseError";
export type { ErrorCode } from "./errorCodes";

/**
 * Thrown for errors that do not need a class of their own. Programs distinguish them by their
 * `code`.
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
 * Thrown before any request is sent if the key or a URL is missing or invalid. The message names
 * the setting.
 */
export class ConfigurationError extends ServerlessGpuError {
  readonly code = "CONFIGURATION";
}

/** A problem with an input. */
export interface InputProblem {
  /** The property that has the problem. */
  readonly property: string;
  /**
   * A description of the problem, with the allowed values and, if there is one, the closest match.
   */
  readonly message: string;
}

/** Thrown before any request is sent if an input is invalid. Lists all problems at once. */
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
 * Thrown when the service does not accept the key: status 401, the message "Unauthorized", or a
 * response without an account.
 */
export class AuthenticationError extends ServerlessGpuError {
  readonly code = "AUTHENTICATION";
}

/**
 * Thrown when the service reports that the requested record does not exist (status 404, or "not
 * found" in GraphQL).
 */
export class NotFoundError extends ServerlessGpuError {
  readonly code = "NOT_FOUND";
}

/**
 * Thrown when the service rejects the request itself: status 400 or 403, or an invalid GraphQL
 * document.
 */
export class RejectedError extends ServerlessGpuError {
  readonly code: ErrorCode = "REJECTED";
  /**
   * The names of the fields in an invalid GraphQL document that the service does not have.
   * @internal
   */
  declare readonly refusedFields?: readonly string[];
}

/**
 * Thrown when the queue of a load-balancing endpoint is used, because such an endpoint has no
 * queue. Nothing was submitted.
 */
export class NoQueueError extends RejectedError {
  override readonly code = "NO_QUEUE";
}

/**
 * Thrown when the request violates a rule of the service, for example because the workers are not
 * scaled to zero, or a template is unknown.
 */
export class BusinessRuleError extends RejectedError {
  override readonly code: ErrorCode = "BUSINESS_RULE";
}

/**
 * Thrown when a change would exceed the account's worker quota (the sum of `workersMax` over all
 * endpoints).
 */
export class QuotaExceededError extends BusinessRuleError {
  override readonly code = "QUOTA_EXCEEDED";
}

/**
 * Thrown when the service still responds with status 429 after all attempts. The request had no
 * effect.
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

/** Thrown when the connection was lost before the response was complete. */
export class ConnectionError extends ServerlessGpuError {
  readonly code = "CONNECTION";
  override readonly disposition = "wait";
}

/**
 * Thrown when no data arrived within the time limit of an attempt, or when the service stopped
 * waiting (status 408).
 */
export class RequestTimeoutError extends ServerlessGpuError {
  readonly code = "REQUEST_TIMEOUT";
  override readonly disposition = "wait";
}

/**
 * Thrown when a response is larger than 64 MB, or is JSON that does not match the contract. The
 * message contains a short excerpt.
 */
export class UnexpectedResponseError extends ServerlessGpuError {
  readonly code: ErrorCode = "UNEXPECTED_RESPONSE";
}

/**
 * Thrown when a record is in no list, all lists are empty, and the service cannot read such a
 * record by its id. Empty lists do not prove that the record is gone, because a failing service
 * also returns them.
 */
export class EmptyListError extends UnexpectedResponseError {
  override readonly code = "EMPTY_LIST";
}

/**
 * Thrown when the response to a create was lost and it is unknown whether the record was created,
 * or which of several new records it is. This happens if the lists do not show it, or if there was
 * no time to check. The create is not sent again.
 */
export class CreateUncertainError extends ServerlessGpuError {
  readonly code = "CREATE_UNCERTAIN";
  /**
   * The ids of the new records that match. One of them may be the record that this call created.
   */
  readonly ids: readonly string[];

  /** @internal */
  constructor(message: string, ids: readonly string[], details?: ErrorDetails) {
    super(message, details);
    this.ids = ids;
  }
}

/**
 * Thrown when a template, a volume or a registry credential was not deleted because it is still in
 * use. The message names what uses it.
 */
export class InUseError extends ServerlessGpuError {
  readonly code = "IN_USE";
}

/** Thrown when another record already has the name. Nothing was changed. */
export class NameTakenError extends ServerlessGpuError {
  readonly code = "NAME_TAKEN";
  /** The ids of the records with this name, as far as they are known. */
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
