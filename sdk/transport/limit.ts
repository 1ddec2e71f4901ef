import { timeLimit } from "../contract/clock";
import { RateLimitError } from "../errors/errors";
import type { AttemptStep, CallContext, CallTime, ServiceCall } from "./call";
import { untilClosed } from "./closing";
import type { Gate } from "./gate";

/**
 * Thrown when a call ends before the gate admits its attempt, so nothing was sent.
 */
export class NotAdmitted extends Error {
  constructor(override readonly cause: unknown) {
    super("the attempt was not admitted");
  }
}

/**
 * Holds an attempt until the gate admits it, and tells the gate how the attempt ended.
 * @throws NotAdmitted
 */
export function limit<T>(
  context: CallContext,
  call: ServiceCall<T>,
  used: CallTime,
  next: AttemptStep<T>,
): AttemptStep<T> {
  const { gate } = call;
  if (!gate) return next;
  return async (attempt) => {
    if (!gate.tryEnter()) await admitted(context, call, used, gate);
    const sentAt = context.clock.monotonic();
    let refusal: RateLimitError | undefined;
    let requests = 0;
    let isStreamed = false;
    let hasLeft = false;
    const leave = () => {
      if (!hasLeft) gate.leave(sentAt, refusal !== undefined, refusal?.retryAfterMs);
      hasLeft = true;
    };
    const goesOn = () => {
      isStreamed = true;
      return leave;
    };
    const onSend = () => {
      if (requests++ > 0) gate.count();
    };
    try {
      return await next({ ...attempt, onSend, goesOn });
    } catch (error) {
      if (error instanceof RateLimitError) refusal = error;
      throw error;
    } finally {
      if (!isStreamed) leave();
    }
  };
}

/**
 * Waits until the gate admits an attempt. The wait counts toward the time limit only if the caller
 * has set this limit.
 */
async function admitted<T>(
  { clock, closing }: CallContext,
  call: ServiceCall<T>,
  used: CallTime,
  gate: Gate,
): Promise<void> {
  const noTimeLeft = () =>
    new RateLimitError(
      `${call.operation}: not sent, because the rate limit left no time for it. Try again later, or send fewer requests at once`,
    );
  const enter = (signal: AbortSignal | undefined) => {
    if (call.timeoutMs === undefined) return used.leaveOut(gate.enter(signal));
    const limited = timeLimit(clock, used.leftMs(), noTimeLeft, signal);
    return gate.enter(limited.signal).finally(limited.release);
  };
  await untilClosed(closing, call, enter).catch((cause) => {
    throw new NotAdmitted(cause);
  });
}

/** The maximum time between two readings of the clock, in milliseconds. */
const CLOCK_MS = 50;

/** How many rejections of a call, with a wait announced by the service, count as one attempt. */
const REFUSALS_OF_AN_ATTEMPT = 3;

/** Counts the rejections of a call after which the gate holds all requests. */
export class HeldRefusals {
  readonly #gate: Gate | undefined;
  #refusals = 0;
  #acceptedBefore: number | undefined;
  /** The number of attempts that do not count. */
  uncounted = 0;

  constructor(gate: Gate | undefined) {
    this.#gate = gate;
  }

  /**
   * Returns `true` if the gate holds all requests for the pause that the service asks for. The
   * pause does not use up the time of any call. The rejection does not count as an attempt if other
   * requests were accepted in the meantime. Of several rejections in a row, only the last one
   * counts. The reason is that several processes share the quota, and another process may have used
   * all of a window.
   */
  add(retryAfterMs: number | undefined, pauseMs: number): boolean {
    const gate = this.#gate;
    if (retryAfterMs !== pauseMs || !gate || gate.closedMs() < pauseMs - CLOCK_MS) return false;
    this.#refusals++;
    const othersGetThrough = gate.accepted > (this.#acceptedBefore ?? gate.accepted);
    if (othersGetThrough || this.#refusals % REFUSALS_OF_AN_ATTEMPT > 0) this.uncounted++;
    this.#acceptedBefore = gate.accepted;
    return true;
  }
}
