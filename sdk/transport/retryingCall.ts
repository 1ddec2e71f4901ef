import { EventEmitter } from "node:events";
import { type Clock, onAbort, sleep, timeLimit } from "../contract/clock";
import { RateLimitError, RequestTimeoutError, ServerlessGpuError } from "../errors";
import { startAttemptTimer } from "./attemptTimer";
import { type Closing, untilClosed } from "./closing";
import { type Reports, retryEvent } from "./observers";
import type { ObservedOptions, RequestOptions } from "./requestOptions";
import { type ReceivedResponse, responseInfo } from "./responseInfo";
import { decide, type Repeatability, type RetryPolicy } from "./retry";
import type { Gate } from "./throttle";

/** The settings that all calls of a client share. */
export interface CallContext {
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  /** The longest time of an attempt without data from the service, in milliseconds. */
  readonly attemptTimeoutMs: number;
  /** Headers to add to each request. */
  readonly headers?: RequestOptions["headers"];
  /** Called before the pause of a retry. */
  readonly onRetry?: Reports["retry"];
  /** Called with a warning that somebody should read. */
  readonly warn?: Reports["warning"] | undefined;
  /** Delays the attempts of all calls to stay within a rate limit. */
  readonly gate?: Gate | undefined;
  /** The same for calls that go to REST v2 whatever the others use. @default `gate` */
  readonly v2Gate?: Gate | undefined;
  /** Ends attempts, pauses and waits when the client is closed. */
  readonly closing?: Closing | undefined;
}

/** One attempt of a call. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** Ends the attempt. */
  readonly signal: AttemptSignal;
  /**
   * Restarts the attempt's idle timer. Call it when data has arrived.
   * @param uploadMs the extra time to allow for the upload of the request, in milliseconds
   */
  readonly progress: (uploadMs?: number) => void;
  /**
   * Called when the body is passed on as a stream: until the returned function is called, the
   * request counts as pending, and the caller's signal ends it.
   */
  readonly goesOn?: () => () => void;
  /** Headers to add to the request. */
  readonly headers?: RequestOptions["headers"];
  /** Called when a connection begins to send the request: from then on it may have its effect. */
  readonly onBegin?: () => void;
  /** Called before each request: those after the first also count against the rate limit. */
  readonly onSend?: () => void;
  /** Must be called with the response, before it is read. */
  readonly onResponse: (response: ReceivedResponse) => void;
}

/**
 * Ends an attempt. An `AbortController` instead would make a short request take 50 % more CPU time.
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

/** One call of the service, made of one or more attempts. */
export interface Call<T> extends ObservedOptions {
  /** The operation's name in events: `run`, `saveEndpoint`. */
  readonly name: string;
  /** Names the call in errors: `saveEndpoint of "llama"`. */
  readonly operation: string;
  readonly repeatability: Repeatability;
  /** The id of the job that the call is about, for errors. */
  readonly jobId?: string | undefined;
  /** Sends the request once. */
  readonly attempt: (attempt: Attempt) => Promise<T>;
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
   * `true`: the signal does not interrupt an attempt already sent, only what comes before and after
   * it.
   */
  readonly keepsAttempt?: boolean | undefined;
}

/** The time that passes between two looks at the clock at most, in milliseconds. */
const CLOCK_MS = 50;

/** The announced refusals of a call that count as one attempt. */
const REFUSALS_OF_AN_ATTEMPT = 3;

/** The latest time that a `Date` can hold, in milliseconds since the Unix epoch. */
const LATEST_DATE_MS = 8.64e15;

/**
 * Makes the attempts of a call, with pauses as `decide` returns them, until one succeeds or no more
 * is allowed.
 */
export async function makeCall<T>(context: CallContext, given: Call<T>): Promise<T> {
  const { clock, retry } = context;
  const call = given.gate ? given : { ...given, gate: context.gate };
  call.signal?.throwIfAborted();
  const maxAttempts = call.maxRetries === undefined ? retry.maxAttempts : call.maxRetries + 1;
  const maxElapsedMs = call.timeoutMs ?? retry.maxElapsedMs;
  let startedAt = call.timeoutMs === undefined ? undefined : clock.monotonic();
  let uncounted = 0;
  let refusals = 0;
  let acceptedBefore: number | undefined;
  for (let number = 1; ; number++) {
    if (call.gate && !call.gate.tryEnter()) {
      const askedAt = clock.monotonic();
      const enter = (signal?: AbortSignal) => waitAtGate(context, { ...call, signal }, startedAt);
      await untilClosed(context.closing, call, enter);
      if (startedAt !== undefined && call.timeoutMs === undefined) startedAt += clock.monotonic() - askedAt;
    }
    startedAt ??= clock.monotonic();
    try {
      return await withTimeout(context, call, number, maxElapsedMs - (clock.monotonic() - startedAt));
    } catch (error) {
      if (!(error instanceof ServerlessGpuError)) throw error;
      if (call.jobId !== undefined) error.ofJob(call.jobId);
      const elapsedMs = clock.monotonic() - startedAt;
      const failed = {
        repeatability: call.repeatability,
        error,
        attempt: number - uncounted,
        elapsedMs,
        random: context.random(),
      };
      const decision = decide(failed, { maxAttempts, maxElapsedMs });
      const found = decision.lookUp ? await call.lookUp?.() : undefined;
      if (found !== undefined) return found;
      // The check took time as well.
      const totalMs = clock.monotonic() - startedAt;
      if (decision.retryInMs === undefined || totalMs + decision.retryInMs >= maxElapsedMs) {
        if (decision.isAskedToWaitLonger) error.withDetails(whenToTryAgain(clock, error));
        throw error.afterAttempts(number, totalMs);
      }
      context.onRetry?.(retryEvent(call, number, error, decision.retryInMs));
      const { retryInMs } = decision;
      if (error.retryAfterMs === retryInMs && call.gate && call.gate.closedMs() >= retryInMs - CLOCK_MS) {
        // The gate holds all requests for that time, which does not count for any of them. Nor does
        // a refusal while others get through, and of several refusals in a row only the last:
        // several processes share the quota, and another may have used all of a window.
        const accepted = call.gate.accepted();
        refusals++;
        if (accepted > (acceptedBefore ?? accepted) || refusals % REFUSALS_OF_AN_ATTEMPT > 0) uncounted++;
        acceptedBefore = accepted;
        continue;
      }
      await untilClosed(context.closing, call, (signal) => sleep(clock, retryInMs, signal), error);
    }
  }
}

/** Says when the service accepts the call again. */
function whenToTryAgain(clock: Clock, { retryAfterMs = 0 }: ServerlessGpuError): string {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const at = new Date(Math.min(clock.now() + retryAfterMs, LATEST_DATE_MS)).toISOString();
  return `. The service asks for a wait of ${seconds} s, longer than this call may take: try again at ${at} or later`;
}

/**
 * Waits until the gate admits an attempt, at most for the time that is left if the caller has set a
 * limit.
 */
async function waitAtGate<T>(
  { clock }: CallContext,
  { gate, operation, signal, timeoutMs }: Call<T>,
  startedAt: number | undefined,
): Promise<void> {
  if (startedAt === undefined || timeoutMs === undefined) return gate?.enter(signal);
  const timeLeftMs = startedAt + timeoutMs - clock.monotonic();
  const reason = () =>
    new RateLimitError(`${operation}: the rate limit left no time to send it. Try again later, or send fewer at once`);
  const limit = timeLimit(clock, timeLeftMs, reason, signal);
  try {
    await gate?.enter(limit.signal);
  } finally {
    limit.release();
  }
}

/** Returns the headers of the client and of the call, which take precedence. */
function withHeaders(
  ofClient: Readonly<Record<string, string>>,
  ofCall: RequestOptions["headers"] = {},
): Readonly<Record<string, string>> {
  const entries = [...Object.entries(ofClient), ...Object.entries(ofCall)];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
}

/**
 * Makes one attempt. Aborts it when no data arrives in time, when the call's time is up, or when
 * the caller aborts.
 */
async function withTimeout<T>(context: CallContext, call: Call<T>, number: number, timeLeftMs: number): Promise<T> {
  const { clock, attemptTimeoutMs } = context;
  const sentAt = clock.monotonic();
  const signal = new AttemptSignal();
  const timer = startAttemptTimer(clock, {
    idleMs: attemptTimeoutMs,
    timeLeftMs,
    // A limit that the caller set includes the upload.
    uploadCounts: call.timeoutMs !== undefined,
    onEnd(waitedMs) {
      const seconds = Math.round(waitedMs / 100) / 10;
      const message = `${call.operation}: no complete response within ${seconds} s`;
      signal.abort(new RequestTimeoutError(`${message}. Check the network and the URL if this continues`));
    },
  });
  const ignoreAbort = onAbort(call.keepsAttempt ? undefined : call.signal, () => signal.abort(call.signal?.reason));
  let refused = false;
  let retryAfterMs: number | undefined;
  let isOver = false;
  let goesOn = false;
  let requests = 0;
  const onSend = () => {
    if (requests++ > 0) call.gate?.count();
  };
  let received: ReceivedResponse | undefined;
  const end = () => {
    if (isOver) return;
    isOver = true;
    ignoreAbort();
    call.gate?.leave(sentAt, refused, retryAfterMs);
  };
  const keepOn = () => {
    goesOn = true;
    return end;
  };
  context.closing?.attempts.set(signal, call.operation);
  try {
    // It may have aborted while the gate held the attempt.
    call.signal?.throwIfAborted();
    const onResponse = (response: ReceivedResponse) => {
      received = response;
      call.onResponse?.(response);
    };
    const { progress } = timer;
    const headers = context.headers ? withHeaders(context.headers, call.headers) : call.headers;
    return await call.attempt({ number, signal, progress, goesOn: keepOn, headers, onSend, onResponse });
  } catch (error) {
    refused = error instanceof RateLimitError;
    if (error instanceof RateLimitError) ({ retryAfterMs } = error);
    if (received && error instanceof ServerlessGpuError) {
      error.ofResponse({ ...responseInfo(received), body: received.body ?? "" });
    }
    throw error;
  } finally {
    timer.cancel();
    context.closing?.attempts.delete(signal);
    if (!goesOn) end();
  }
}
