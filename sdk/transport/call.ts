import { EventEmitter } from "node:events";
import type { Clock } from "../contract/clock";
import type { Closing } from "./closing";
import type { Gate } from "./gate";
import type { Reports } from "./observers";
import type { ObservedOptions, RequestOptions } from "./requestOptions";
import type { ReceivedResponse } from "./responseInfo";
import type { Repeatability, RetryPolicy } from "./retryPolicy";

/** The settings that all calls of a client share. */
export interface CallContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** How long an attempt may go without receiving data from the service, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Called before the pause that precedes a retry. */
  readonly onRetry?: Reports["retry"];
  /** Called with a warning that a person should read. */
  readonly warn?: Reports["warning"] | undefined;
  /** Delays the attempts of all calls to stay within a rate limit. */
  readonly gate?: Gate | undefined;
  /**
   * Delays the attempts of calls that always go to REST v2, even if other calls use another API.
   * @default `gate`
   */
  readonly v2Gate?: Gate | undefined;
  /** Ends attempts, pauses and waits when the client is closed. */
  readonly closing?: Closing | undefined;
}

/** One call to the service, which consists of one or more attempts. */
export interface ServiceCall<T> extends ObservedOptions {
  /** The name of the operation in events, such as `run` or `saveEndpoint`. */
  readonly name: string;
  /** The name of the call in errors, such as `saveEndpoint of "llama"`. */
  readonly operation: string;
  readonly repeatability: Repeatability;
  /** The id of the job that the call is about, for errors. */
  readonly jobId?: string | undefined;
  /** Sends the request once. */
  readonly attempt: AttemptStep<T>;
  /**
   * Determines the outcome of an attempt whose effect is unknown. Returns its result, or
   * `undefined` if it had no effect.
   */
  readonly lookUp?: () => Promise<T | undefined>;
  /** Delays attempts to stay within the rate limit. */
  readonly gate?: Gate | undefined;
  /**
   * The time limit of the whole call, in milliseconds.
   * @default the time limit of the retry policy, not counting the time that the gate holds attempts
   */
  readonly timeoutMs?: number | undefined;
  /**
   * `true` if the signal does not interrupt an attempt that was already sent, but only the pauses
   * and waits before and after it. A number interrupts the attempt after so many milliseconds.
   */
  readonly keepsAttempt?: boolean | number | undefined;
}

/**
 * A step of the pipeline. A step makes one attempt by calling the next step and adds its own part
 * to it.
 */
export type AttemptStep<T> = (attempt: Attempt) => Promise<T>;

/** One attempt of a call. */
export interface Attempt {
  /** The number of the attempt, starting at 1. */
  readonly number: number;
  /** Headers to add to the request. */
  readonly headers?: RequestOptions["headers"];
  /** Must be called with the response, before it is read. */
  readonly onResponse: (response: ReceivedResponse) => void;
  /**
   * Called before each request. All requests after the first one also count toward the rate limit.
   */
  readonly onSend?: () => void;
  /**
   * Called when the body is passed on as a stream. Returns a function. Until that function is
   * called, the request counts as in progress, and the caller's signal ends it.
   */
  readonly goesOn?: () => () => void;
  /** Ends the attempt. */
  readonly signal: AttemptSignal;
  /**
   * Restarts the attempt's idle timer. Call it when data has arrived.
   * @param uploadMs the extra time to allow for the upload of the request, in milliseconds
   */
  readonly progress: (uploadMs?: number) => void;
  /**
   * Called when a connection begins to send the request. From then on, the request may have an
   * effect.
   */
  readonly onBegin?: () => void;
}

/**
 * A signal that ends an attempt. It is used because an `AbortController` would make a short request
 * take 50 % more CPU time.
 */
export class AttemptSignal extends EventEmitter {
  aborted = false;
  reason: unknown;

  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.emit("abort");
  }
}

/** The time that a call has used, in milliseconds. */
export class CallTime {
  readonly #clock: Clock;
  #startedAt: number;

  /** @param maxMs the maximum time that the call may use */
  constructor(
    clock: Clock,
    readonly maxMs: number,
  ) {
    this.#clock = clock;
    this.#startedAt = clock.monotonic();
  }

  elapsedMs(): number {
    return this.#clock.monotonic() - this.#startedAt;
  }

  leftMs(): number {
    return this.maxMs - this.elapsedMs();
  }

  /** Waits for a promise. The time of this wait does not count as time that the call has used. */
  async leaveOut(wait: Promise<void>): Promise<void> {
    const from = this.#clock.monotonic();
    await wait;
    this.#startedAt += this.#clock.monotonic() - from;
  }
}
