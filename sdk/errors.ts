import { types } from "node:util";
import { redact } from "./secret";

/** What an error may carry beyond its message. */
export interface ErrorDetails {
  /** What led to it. Kept as a copy without keys. */
  readonly cause?: unknown;
  /** How long the service asked us to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The root of all errors of this package. The message says what happened, to what, and what to do next. No key
 * survives in message, stack or cause: they are removed when the error is made.
 */
export abstract class ServerlessGpuError extends Error {
  /** Stable name of the kind of error, for programs to compare. */
  abstract readonly code: string;
  /** Whether the same call may succeed later (`wait`) or will fail again unless something is changed (`stop`). */
  readonly disposition: "wait" | "stop" = "stop";
  /** How long the service asked us to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** How many times the call was sent before this error was given up to the caller. */
  attempts = 1;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(redact(message), details.cause === undefined ? undefined : { cause: withoutKeys(details.cause) });
    this.name = new.target.name;
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (this.stack) this.stack = redact(this.stack);
  }

  /**
   * Adds to the message how often and how long the call was tried.
   * @internal
   */
  afterAttempts(attempts: number, elapsedMs: number): this {
    if (attempts < 2) return this;
    const seconds = Math.max(1, Math.round(elapsedMs / 1000));
    const plainMessage = this.message;
    this.attempts = attempts;
    this.message = `${plainMessage} (given up after ${attempts} attempts in ${seconds} s)`;
    if (this.stack) this.stack = this.stack.replace(plainMessage, () => this.message);
    return this;
  }
}

/** Thrown before any call when the key or an address is missing or malformed. Says which setting to set. */
export class ConfigurationError extends ServerlessGpuError {
  readonly code = "CONFIGURATION";
}

/** One thing that is wrong with an input. */
export interface InputProblem {
  /** The property it is about. */
  readonly property: string;
  /** What is wrong, what is allowed and, where there is one, the nearest match. */
  readonly message: string;
}

/** Thrown before any call when an input is not acceptable. Lists every problem at once. */
export class InvalidInputError extends ServerlessGpuError {
  readonly code = "INVALID_INPUT";
  /** Everything that is wrong. */
  readonly problems: readonly InputProblem[];

  /** @internal */
  constructor(what: string, problems: readonly InputProblem[]) {
    super(`${what} is not valid: ${problems.map(({ property, message }) => `${property}: ${message}`).join("; ")}`);
    this.problems = problems.map(({ property, message }) => ({ property: redact(property), message: redact(message) }));
  }
}

/** Thrown when the service does not accept the key: status 401, "Unauthorized", or an answer without an account. */
export class AuthenticationError extends ServerlessGpuError {
  readonly code = "AUTHENTICATION";
}

/** Thrown when the service says that what was asked for does not exist (status 404, or a "not found" of GraphQL). */
export class NotFoundError extends ServerlessGpuError {
  readonly code = "NOT_FOUND";
}

/** Thrown when the service refuses the request as such: status 400 or 403, or a GraphQL document that is not valid. */
export class RejectedError extends ServerlessGpuError {
  readonly code: string = "REJECTED";
}

/** Thrown when a rule of the service forbids what was asked for: workers are not at zero, a template is unknown. */
export class BusinessRuleError extends RejectedError {
  override readonly code: string = "BUSINESS_RULE";
}

/** Thrown when a change would pass the account's quota of workers (the sum of `workersMax` over all endpoints). */
export class QuotaExceededError extends BusinessRuleError {
  override readonly code = "QUOTA_EXCEEDED";
}

/** Thrown when the service still answers 429 after all attempts. The request had no effect. */
export class RateLimitError extends ServerlessGpuError {
  readonly code = "RATE_LIMITED";
  override readonly disposition = "wait";
}

/** Thrown when the service fails by itself (status 5xx, or `INTERNAL_SERVER_ERROR` of GraphQL). */
export class ServiceFaultError extends ServerlessGpuError {
  readonly code = "SERVICE_FAULT";
  override readonly disposition = "wait";
}

/** Thrown when the connection broke before the answer was complete. */
export class ConnectionError extends ServerlessGpuError {
  readonly code: string = "CONNECTION";
  override readonly disposition: "wait" | "stop" = "wait";
}

/** Thrown when no connection could be made: nothing was sent. */
export class CannotConnectError extends ConnectionError {
  override readonly code: string = "CANNOT_CONNECT";
}

/** Thrown when the certificate at the URL, or of the proxy, is not trusted: nothing was sent. Trying again is no use. */
export class UntrustedCertificateError extends CannotConnectError {
  override readonly code = "UNTRUSTED_CERTIFICATE";
  override readonly disposition = "stop";
}

/** Thrown when a proxy does not accept the user or the password in its URL (status 407): nothing was sent. */
export class ProxyAuthenticationError extends CannotConnectError {
  override readonly code = "PROXY_AUTHENTICATION";
  override readonly disposition = "stop";
}

/** Thrown when a client is used after it was closed, and to those who wait for jobs when it is closed. */
export class ClientClosedError extends ServerlessGpuError {
  readonly code = "CLIENT_CLOSED";
}

/** Thrown when nothing came within the time for one attempt, or when the service did not wait (status 408). */
export class RequestTimeoutError extends ServerlessGpuError {
  readonly code = "REQUEST_TIMEOUT";
  override readonly disposition = "wait";
}

/** Thrown when a response is no JSON (a gateway's HTML page, a truncated or damaged body). Holds a short excerpt. */
export class UnreadableResponseError extends ServerlessGpuError {
  readonly code = "UNREADABLE_RESPONSE";
  override readonly disposition = "wait";
}

/** Thrown when a response is JSON of another shape than the contract's, with a short excerpt, or larger than 64 MB. */
export class UnexpectedResponseError extends ServerlessGpuError {
  readonly code = "UNEXPECTED_RESPONSE";
}

/** Thrown when the answer to a create was lost and several new endpoints fit. Nothing more was created. */
export class CreateUncertainError extends ServerlessGpuError {
  readonly code = "CREATE_UNCERTAIN";
  /** The endpoints of which one may be the one that was created. */
  readonly endpointIds: readonly string[];

  /** @internal */
  constructor(message: string, endpointIds: readonly string[], details?: ErrorDetails) {
    super(message, details);
    this.endpointIds = endpointIds;
  }
}

/** Thrown when an endpoint could not be deleted within the time for it. It still exists, scaled to zero workers. */
export class DeleteTimeoutError extends ServerlessGpuError {
  readonly code = "DELETE_TIMEOUT";
  override readonly disposition = "wait";
}

/** Thrown when an endpoint of the new one's name exists already and must not be taken for it. Nothing was created. */
export class NameTakenError extends ServerlessGpuError {
  readonly code = "NAME_TAKEN";
  /** The endpoints that have the name. */
  readonly endpointIds: readonly string[];

  /** @internal */
  constructor(message: string, endpointIds: readonly string[]) {
    super(message);
    this.endpointIds = endpointIds;
  }
}

/** Thrown when an endpoint is absent, yet key or address are others than it was last seen with: it may exist there. */
export class AccountChangedError extends ServerlessGpuError {
  readonly code = "ACCOUNT_CHANGED";
}

/** Thrown when a resource cannot move to another account. Nothing was deleted. */
export class MoveRefusedError extends ServerlessGpuError {
  readonly code = "MOVE_REFUSED";
}

/** Thrown when an endpoint's workers are not ready within the time for it. The endpoint exists. */
export class ReadyTimeoutError extends ServerlessGpuError {
  readonly code = "READY_TIMEOUT";
  override readonly disposition = "wait";
}

/** Thrown when a smoke test's job takes too long, or gives another output than is expected. */
export class SmokeTestError extends ServerlessGpuError {
  readonly code = "SMOKE_TEST";
}

/** Causes deeper than this are left out: a chain may lead back to itself. */
const DEEPEST_CAUSE = 8;

/** A copy of a cause that is safe to show: texts redacted, everything but name, message, code and stack left behind. */
function withoutKeys(cause: unknown, depth = 1): unknown {
  if (cause instanceof ServerlessGpuError) return cause;
  // Under Jest, Node's own errors come from another realm.
  if (!(cause instanceof Error || types.isNativeError(cause))) return redact(String(cause));
  const hasCause = cause.cause !== undefined && depth < DEEPEST_CAUSE;
  const copy = new Error(redact(cause.message), hasCause ? { cause: withoutKeys(cause.cause, depth + 1) } : undefined);
  copy.name = cause.name;
  copy.stack = redact(cause.stack ?? copy.message);
  if ("code" in cause && typeof cause.code === "string") Object.assign(copy, { code: cause.code });
  return copy;
}
