import { Console } from "node:console";
import type { ServerlessGpuError } from "../errors/errors";
import { redact } from "../errors/secretText";

/** One request that was sent or could not be sent. Each retry of a call is a separate event. */
export interface RequestEvent {
  /**
   * The operation, such as `run`, `status`, `saveEndpoint`, `myself` or `getPod`. There are only a
   * few values, so they are suitable as a metric label.
   */
  readonly operation: string;
  /** The operation and its subject, such as `status of job a1 at endpoint b2`. */
  readonly description: string;
  /** The number of the attempt, starting at 1. */
  readonly attempt: number;
  /** The HTTP status. Missing if no complete response arrived. */
  readonly status?: number;
  /** Why no complete response arrived: the error's `code`, or `ABORTED`. */
  readonly error?: string;
  /** The time from sending to the end of the response, in milliseconds. */
  readonly ms: number;
}

/** A retry that is about to be made, after a pause. */
export interface RetryEvent {
  /** The name of the operation, as in `RequestEvent`. */
  readonly operation: string;
  /** The operation and its subject. */
  readonly description: string;
  /** The number of the attempt that failed, starting at 1. */
  readonly attempt: number;
  /** The `code` of the error that the attempt failed with. */
  readonly error: string;
  /** The HTTP status that the attempt failed with. Missing if no response arrived. */
  readonly status?: number;
  /** The pause before the next attempt, in milliseconds. */
  readonly delayMs: number;
}

/** Reports requests that are waiting for a rate limit of the service. */
export interface RateLimitEvent {
  /** The number of waiting requests. */
  readonly waiting: number;
  /** The time until the next waiting request may be sent, in milliseconds. */
  readonly delayMs: number;
}

/** Something that a person should know although no call failed. */
export interface WarningEvent {
  /** A description of the problem, its consequences, and the remedy. */
  readonly message: string;
}

/**
 * The levels of log lines: `debug` for requests that succeed, `info` for retries and waits, `warn`
 * for requests that fail.
 */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** A logger with the methods of pino and similar libraries. */
export interface Logger {
  /** Logs details for debugging. */
  debug(details: object, message: string): void;
  /** Logs retries and waits. */
  info(details: object, message: string): void;
  /** Logs failed requests, and input that is valid but probably a mistake. */
  warn(details: object, message: string): void;
  /** Logs failures that may continue to cost money. */
  error(details: object, message: string): void;
}

/** A function that logs a line. */
export type LogFunction = (level: LogLevel, message: string, details: object) => unknown;

/** The observers of a client. They never receive a key. Errors that they throw are ignored. */
export interface Observers {
  /**
   * The logger: pino, `console`, an object with the same methods, or a function.
   * @default none: the client logs nothing
   */
  readonly logger?: Logger | Console | LogFunction | undefined;
  /** Called after every request. @default none */
  readonly onRequest?: ((event: RequestEvent) => unknown) | undefined;
  /** Called before the pause that precedes every retry. @default none */
  readonly onRetry?: ((event: RetryEvent) => unknown) | undefined;
  /**
   * Called every 10 seconds while requests wait for the rate limit of a management API.
   * @default none
   */
  readonly onRateLimit?: ((event: RateLimitEvent) => unknown) | undefined;
  /**
   * Called once for each warning, for example that a list may be cut off or that the service does
   * not have a field.
   * @default none
   */
  readonly onWarning?: ((event: WarningEvent) => unknown) | undefined;
}

/** Logs a line with keys redacted. `undefined` if there is no logger. */
export type Log = ((level: LogLevel, message: string, details: object) => void) | undefined;

/** Returns the function that logs to the logger. */
export function createLog(logger: Observers["logger"]): Log {
  if (!logger) return undefined;
  return (level, text, details) => {
    const message = redact(text);
    callUser(() => {
      if (typeof logger === "function") return logger(level, message, details);
      // pino takes the details first, while the console prints its arguments in their order.
      if (isConsole(logger)) return logger[level](message, details);
      return logger[level](details, message);
    });
  };
}

function isConsole(logger: Logger | Console): logger is Console {
  return logger === globalThis.console || logger instanceof Console;
}

/**
 * Reports requests, retries and waits to the observers. `request` and `retry` are `undefined` if no
 * observer needs them.
 */
export interface Reports {
  readonly request: ((event: RequestEvent) => void) | undefined;
  readonly retry: ((event: RetryEvent) => void) | undefined;
  readonly rateLimit: (event: RateLimitEvent) => void;
  readonly warning: (message: string) => void;
}

export function createReports({ onRequest, onRetry, onRateLimit, onWarning }: Observers, log: Log): Reports {
  return {
    request: reporter(log, onRequest, ({ description, status, error, ms }) => [
      status !== undefined && status < 300 ? "debug" : "warn",
      `${description}: ${status ?? error} in ${ms} ms`,
    ]),
    retry: reporter(log, onRetry, ({ description, status, error, attempt, delayMs }) => [
      "info",
      `${description}: attempt ${attempt + 1} in ${delayMs} ms, after ${status ?? error}`,
    ]),
    rateLimit(event) {
      log?.("info", waitText(event), event);
      callUser(() => onRateLimit?.(event));
    },
    warning(text) {
      const message = redact(text);
      log?.("warn", message, {});
      callUser(() => onWarning?.({ message }));
    },
  };
}

/**
 * Returns the function that reports an event to the log and to the user's function. `undefined` if
 * there is neither.
 */
function reporter<Event extends { readonly description: string }>(
  log: Log,
  onEvent: ((event: Event) => unknown) | undefined,
  lineOf: (event: Event) => readonly [LogLevel, string],
): ((event: Event) => void) | undefined {
  if (!log && !onEvent) return undefined;
  return (event) => {
    const shown = { ...event, description: redact(event.description) };
    log?.(...lineOf(shown), shown);
    callUser(() => onEvent?.(shown));
  };
}

/** Describes a wait for a rate limit. */
export function waitText({ waiting, delayMs }: RateLimitEvent): string {
  const many = waiting === 1 ? "1 request waits" : `${waiting} requests wait`;
  return `${many} for the service's rate limit, the next for ${Math.ceil(delayMs / 1000)} s`;
}

/** Returns the event for a retry. */
export function retryEvent(
  call: { readonly name: string; readonly operation: string },
  attempt: number,
  { code, status }: ServerlessGpuError,
  delayMs: number,
): RetryEvent {
  const { name, operation } = call;
  const shared = { operation: name, description: operation, attempt, error: code, delayMs: Math.round(delayMs) };
  return typeof status === "number" ? { ...shared, status } : shared;
}

/** Calls a user's function. Ignores errors that it throws or rejects with. */
export function callUser(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // Ignore the error, because there is nobody to report it to.
  }
}
