import { Bag, type BagItem } from "../contract/bag";
import { onAbort } from "../contract/clock";
import { CodedError, ConnectionError } from "../errors/errors";
import type { Log } from "./observers";

/** An attempt that can be ended. */
interface Abortable {
  abort(reason: unknown): void;
}

/** An attempt in progress. */
interface RunningAttempt extends BagItem {
  readonly signal: Abortable;
  /** The name of its operation in error messages. */
  readonly operation: string;
}

/** The maximum number of requests named in a log line. */
const MOST_NAMED = 10;

/** Ends everything that a client has in progress when the client is closed. */
export class Closing {
  readonly #controller = new AbortController();
  /**
   * Aborts immediately when the client is closed, which ends retry pauses and waits for a rate
   * limit.
   */
  readonly signal: AbortSignal = this.#controller.signal;
  readonly attempts = new Bag<RunningAttempt>();
  /** The attempts whose bodies are being streamed. */
  readonly bodies = new Set<Abortable>();
  /**
   * The reason with which new bodies are ended at once and new requests are not sent. Set once
   * closing has begun.
   */
  closedBy: CodedError | undefined;

  /** Ends all bodies, pauses and waits. */
  begin(): void {
    this.closedBy ??= new CodedError("CLIENT_CLOSED", "the response was not read to its end: the client was closed");
    for (const body of [...this.bodies]) body.abort(this.closedBy);
    this.#controller.abort();
  }

  /** Ends the attempts that have not received a response yet, and logs them. */
  endAttempts(log: Log): void {
    const running = this.attempts.all();
    if (running.length === 0) return;
    const operations = running.slice(0, MOST_NAMED).map(({ operation }) => operation);
    log?.("warn", `the client was closed while ${running.length} requests had no response yet`, { operations });
    for (const { signal, operation } of running) {
      const message = `${operation}: the client was closed before the service had responded`;
      signal.abort(new ConnectionError(`${message}. Check whether it took effect`));
    }
  }
}

/**
 * Runs a wait that is part of a call. The wait ends when the caller aborts or the client is closed.
 */
export async function untilClosed(
  closing: Closing | undefined,
  { operation, signal }: { readonly operation: string; readonly signal?: AbortSignal | undefined },
  wait: (signal: AbortSignal | undefined) => Promise<void>,
  cause?: unknown,
): Promise<void> {
  if (!closing) return wait(signal);
  const either = new AbortController();
  const close = () => {
    const message = `${operation}: the client was closed before ${cause === undefined ? "it was sent" : "the next attempt"}`;
    either.abort(new CodedError("CLIENT_CLOSED", `${message}. Create a new client to send it`, { cause }));
  };
  const abort = () => either.abort(signal?.reason);
  const releases = [onAbort(signal, abort), onAbort(closing.signal, close)];
  if (signal?.aborted) abort();
  else if (closing.signal.aborted) close();
  try {
    await wait(either.signal);
  } finally {
    for (const release of releases) release();
  }
}
