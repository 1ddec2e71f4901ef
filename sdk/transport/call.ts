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
  /** The maximum time that an attempt may receive no data from the service, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Called before the pause of a retry. */
  readonly onRetry?: Reports["retry"];
  /** Called with a warning that someone should read. */
  readonly warn?: Reports["warning"] | undefined;
  /** Delays the attempts of all calls to stay within a rate limit. */
  readonly gate?: Gate | undefined;
  /** The gate for calls that go to REST v2 regardless of the API of other calls. @default `gate` */
  readonly v2Gate?: Gate | undefined;
  /** Ends attempts, pauses and waits when the client is closed. */
  readonly closing?: Closing | undefined;
}

/** One call of the service, made of one or more attempts. */
export interface ServiceCall<T> extends ObservedOptions {
  /** The name of the operation in events, such as `run` or `saveEndpoint`. */
  readonly name: string;
  /** Names the call in errors: `saveEndpoint of "llama"`. */
  readonly operation: string;
  readonly repeatability: Repeatability;
  /** The id of the job that the call is about, for errors. */
  readonly jobId?: string | undefined;
  /** Sends the request once. */
  readonly attempt: AttemptStep<T>;
  /** Returns the result of an attempt with unknown effect, or `undefined` if it had no effect. */
  readonly lookUp?: () => Promise<T | undefined>;
  /** Delays attempts to stay within the rate limit. */
  readonly gate?: Gate | undefined;
  /**
   * The time for the whole call, in milliseconds.
   * @default the retry policy's, without the time that the gate holds its attempts
   */
  readonly timeoutMs?: number | undefined;
  /**
   * `true` if the signal does not interrupt an attempt that was already sent, but only what comes
   * before and after it.
   */
  readonly keepsAttempt?: boolean | undefined;
}

/**
 * A step of the pipeline. It makes one attempt by the step after it, to which it adds its own part.
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
  /** Called before each request. Requests after the first one also count against the rate limit. */
  readonly onSend?: () => void;
  /**
   * Called when the body is passed on as a stream. Until the returned function is called, the
   * request counts as pending, and the caller's signal ends it.
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

/** Ends an attempt. An `AbortController` would make a short request take 50 % more CPU time. */
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

  /** @param maxMs the time that the call may use */
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

  /** Waits without using the call's time. */
  async leaveOut(wait: Promise<void>): Promise<void> {
    const from = this.#clock.monotonic();
    await wait;
    this.#startedAt += this.#clock.monotonic() - from;
  }
}
