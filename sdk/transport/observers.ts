import { redact } from "../secret";

/** One request that was sent, or that could not be sent. Repeated requests of one call are events of their own. */
export interface RequestEvent {
  /** `run`, `status`, `saveEndpoint`, `myself`, `getPod`, …: few words, fit to be a metric's label. */
  readonly operation: string;
  /** The operation and what it is about: `status of job a1 at endpoint b2`. */
  readonly description: string;
  /** 1 for the first attempt of a call. */
  readonly attempt: number;
  /** The HTTP status; nothing when no complete answer came. */
  readonly status?: number;
  /** Why no complete answer came: the error's `code`, or `ABORTED`. */
  readonly error?: string;
  /** From sending to the end of the answer, in milliseconds. */
  readonly ms: number;
}

/** Where a client writes what it does. pino has this shape, and so do its like. */
export interface Logger {
  /** Takes what is of interest when something is looked for. */
  debug(details: object, message: string): void;
  /** Takes what did not go well, or is hardly meant. */
  warn(details: object, message: string): void;
}

/** Who is told what a client does. */
export interface Observers {
  /** Told of every request: with `debug` when it was answered well, with `warn` otherwise. Never told a key. */
  readonly logger?: Logger | undefined;
  /** Called after every request. What it throws changes nothing. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined;
}

/** Tells the observers of a request; nothing when there are none. */
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

/** Calls a user's function. Neither what it throws nor a promise that it rejects may break what we do. */
export function callUser(call: () => unknown): void {
  try {
    Promise.resolve(call()).catch(() => {});
  } catch {
    // It is the user's to mend; there is nobody to tell.
  }
}
