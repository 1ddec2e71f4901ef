import { types } from "node:util";
import type { ErrorCode } from "./errorCodes";
import { errorName } from "./errorNames";
import { redact, redactedStart } from "./secretText";
import { visibleLines } from "./visible";

/** Details of an error, in addition to its message. */
export interface ErrorDetails {
  /** The cause of the error. The error keeps a copy in which keys are redacted. */
  readonly cause?: unknown;
  /** How long the service asked to wait before the next attempt, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/** The response that caused an error. */
export interface ErrorResponse {
  /** The HTTP status. */
  readonly status: number;
  /** The service's id of the request, if the response contained one. */
  readonly requestId?: string | undefined;
  /** The response headers, with keys redacted. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** The beginning of the body, with keys redacted. */
  readonly body: string;
}

/** How much of a body an error keeps, in characters. */
const LONGEST_BODY = 4_000;

/**
 * The base class of all errors of this package. The message says what happened, which resource is
 * affected, and what to do next. The constructor redacts keys in the message, stack and cause, and
 * escapes control characters in the message.
 */
export abstract class ServerlessGpuError extends Error {
  /** The stable error code, which programs can compare. */
  abstract readonly code: ErrorCode;
  /**
   * `wait`: the same call may succeed later. `stop`: the call will fail again until something
   * changes.
   */
  readonly disposition: "wait" | "stop" = "stop";
  /** How long the service asked to wait, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The number of attempts that the call made before it failed with this error. */
  attempts = 1;
  /** The id of the job that the call was about, if any. */
  declare readonly jobId?: string | undefined;
  /** The HTTP status of the response that caused the error. Missing if there was no response. */
  declare readonly status?: number;
  /** The service's id of the request, if the response that caused the error contained one. */
  declare readonly requestId?: string;
  /**
   * The headers of the response that caused the error, with lower-case names and with keys
   * redacted. Not enumerable.
   */
  declare readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** The first 4,000 characters of the response body, with keys redacted. Not enumerable. */
  declare readonly body?: string;

  /** @internal */
  constructor(message: string, details: ErrorDetails = {}) {
    super(
      visibleLines(redact(message)),
      details.cause === undefined ? undefined : { cause: withoutKeys(details.cause) },
    );
    this.name = errorName(new.target);
    if (details.retryAfterMs !== undefined) this.retryAfterMs = details.retryAfterMs;
    if (this.stack) this.stack = visibleLines(redact(this.stack));
    if (details.cause instanceof ServerlessGpuError) this.#inherit(details.cause);
  }

  #inherit({ status, requestId, headers = {}, body = "", jobId }: ServerlessGpuError): void {
    if (status !== undefined) this.ofResponse({ status, requestId, headers, body });
    if (jobId !== undefined) this.ofJob(jobId);
  }

  /**
   * Adds the response that caused the error, unless the error already has one.
   * @internal
   */
  ofResponse({ status, requestId, headers, body }: ErrorResponse): this {
    if (this.status !== undefined) return this;
    const shown = Object.entries(headers).map(([name, value]) => {
      return [name, typeof value === "string" ? redact(value) : value.map((each) => redact(each))] as const;
    });
    // Not enumerable, because `console.error` would print them and hide the message.
    Object.defineProperty(this, "headers", { value: Object.fromEntries(shown) });
    Object.defineProperty(this, "body", { value: redactedStart(body, LONGEST_BODY).slice(0, LONGEST_BODY) });
    return Object.assign(this, { status, ...(requestId !== undefined && { requestId: redact(requestId) }) });
  }

  /**
   * Adds the job's id.
   * @internal
   */
  ofJob(jobId: string): this {
    return Object.assign(this, { jobId: this.jobId ?? redact(jobId) });
  }

  /**
   * Adds the number of attempts and the elapsed time to the message.
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

  /**
   * Appends details to the message.
   * @internal
   */
  withDetails(details: string): this {
    const plainMessage = this.message;
    this.message = visibleLines(redact(plainMessage + details));
    if (this.stack) this.stack = this.stack.replace(plainMessage, () => this.message);
    return this;
  }

  /**
   * Adds what happened to the record at the beginning of the message, and details at its end.
   * @internal
   */
  withOutcome(outcome: string, details = ""): this {
    const plainMessage = this.message;
    this.message = visibleLines(redact(`${outcome}: ${plainMessage}${details}`));
    if (this.stack) this.stack = this.stack.replace(plainMessage, () => this.message);
    return this;
  }
}

/**
 * The maximum length of a chain of causes. A limit is necessary because an error may be its own
 * cause.
 */
const DEEPEST_CAUSE = 8;

/**
 * Returns a copy of a cause with keys redacted. The copy keeps only the name, message, code and
 * stack, and the causes below it.
 */
function withoutKeys(cause: unknown, depth = 1): unknown {
  if (cause instanceof ServerlessGpuError) return cause;
  // Under Jest, Node.js's own errors come from another realm.
  if (!(cause instanceof Error || types.isNativeError(cause))) return redact(String(cause));
  const hasCause = cause.cause !== undefined && depth < DEEPEST_CAUSE;
  const copy = new Error(redact(cause.message), hasCause ? { cause: withoutKeys(cause.cause, depth + 1) } : undefined);
  copy.name = cause.name;
  copy.stack = redact(cause.stack ?? copy.message);
  if ("code" in cause && typeof cause.code === "string") Object.assign(copy, { code: cause.code });
  return copy;
}
