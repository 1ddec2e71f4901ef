import { redact } from "../secret";

/** One request that was sent, or could not be sent. Each retry of a call is an event of its own. */
export interface RequestEvent {
  /** `run`, `status`, `saveEndpoint`, `myself`, `getPod`, …: a small set, suitable as a label of a metric. */
  readonly operation: string;
  /** The operation and its subject: `status of job a1 at endpoint b2`. */
  readonly description: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  /** The HTTP status. Missing if there was no complete response. */
  readonly status?: number;
  /** The reason why there was no complete response: the error's `code`, or `ABORTED`. */
  readonly error?: string;
  /** The time from sending to the end of the response, in milliseconds. */
  readonly ms: number;
}

/** A logger with the methods of pino and similar libraries. */
export interface Logger {
  /** Logs details for debugging. */
  debug(details: object, message: string): void;
  /** Logs failures, and input that is valid but probably a mistake. */
  warn(details: object, message: string): void;
}

/** The observers of a client. */
export interface Observers {
  /** Gets every request: with `debug` if its status is 2xx, otherwise with `warn`. Never gets a key. */
  readonly logger?: Logger | undefined;
  /** Called after every request. Errors that it throws are ignored. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
}

/** Reports a request to the observers. `undefined` if there are none. */
export type ReportRequest = ((event: RequestEvent) => void) | undefined;

export function createReport({ logger, onRequest }: Observers): ReportRequest {
  if (!logger && !onRequest) return undefined;
  return (event) => {
    const shown = { ...event, description: redact(event.description) };
    const { description, status, error, ms } = shown;
    const level = status !== undefined && status < 300 ? "debug" : "warn";
    callUser(() => logger?.[level](shown, `${description}: ${status ?? error} in ${ms} ms`));
    callUser(() => onRequest?.(shown));
  };
}

/** Logs a warning. */
export function warn(logger: Logger | undefined, details: object, message: string): void {
  callUser(() => logger?.warn(details, redact(message)));
}

/** Calls a user's function, and ignores errors that it throws or rejects with. */
export function callUser(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // There is no one to report it to.
  }
}
