import fc from "fast-check";
import {
  AuthenticationError,
  CodedError,
  ConfigurationError,
  ConnectionError,
  NotFoundError,
  QuotaExceededError,
  RateLimitError,
  RejectedError,
  RequestTimeoutError,
  type ServerlessGpuError,
  ServiceFaultError,
  UnexpectedResponseError,
} from "../../../sdk/errors/errors";
import { DEFAULT_RETRY_POLICY, decideRetry, pauseMs, type Repeatability } from "../../../sdk/transport/retryPolicy";

function decideOn(repeatability: Repeatability, error: ServerlessGpuError, attempt = 1, elapsedMs = 0, random = 0.5) {
  return decideRetry({ repeatability, error, attempt, elapsedMs, random }, DEFAULT_RETRY_POLICY);
}

const AGAIN = { lookUp: false, again: true };
const GIVE_UP = { lookUp: false, again: false };
const LOOK_THEN_AGAIN = { lookUp: true, again: true };
const LOOK_THEN_GIVE_UP = { lookUp: true, again: false };

const TABLE: [ServerlessGpuError, Record<Repeatability, { lookUp: boolean; again: boolean }>][] = [
  // Refused: it certainly had no effect.
  [new RateLimitError("429"), { safe: AGAIN, create: AGAIN, submit: AGAIN }],
  // Nothing was sent.
  [new CodedError("CANNOT_CONNECT", "refused"), { safe: AGAIN, create: AGAIN, submit: AGAIN }],
  // The effect is unknown.
  ...[
    new ConnectionError("broken"),
    new RequestTimeoutError("slow"),
    new ServiceFaultError("500"),
    new CodedError("UNREADABLE_RESPONSE", "HTML"),
  ].map((error): (typeof TABLE)[number] => [error, { safe: AGAIN, create: LOOK_THEN_AGAIN, submit: GIVE_UP }]),
  // It may have had an effect, and another request would get the same response.
  [new UnexpectedResponseError("shape"), { safe: GIVE_UP, create: LOOK_THEN_GIVE_UP, submit: GIVE_UP }],
  // It was refused, and would be refused again.
  ...[
    new RejectedError("400"),
    new QuotaExceededError("quota"),
    new AuthenticationError("401"),
    new NotFoundError("404"),
    new ConfigurationError("no key"),
    new CodedError("CLIENT_CLOSED", "closed"),
  ].map((error): (typeof TABLE)[number] => [error, { safe: GIVE_UP, create: GIVE_UP, submit: GIVE_UP }]),
];

describe("the decision after a failed attempt", () => {
  for (const [error, decisions] of TABLE) {
    for (const [repeatability, expected] of Object.entries(decisions)) {
      const what = `${expected.lookUp ? "look, then " : ""}${expected.again ? "try again" : "give up"}`;
      test(`${error.name} of a ${repeatability}: ${what}`, () => {
        const { lookUp, retryInMs } = decideOn(repeatability as Repeatability, error);
        expect({ lookUp, again: retryInMs !== undefined }).toEqual(expected);
      });
    }
  }

  test("the sixth attempt is the last one, and a create still checks afterwards whether it took effect", () => {
    expect(decideOn("safe", new ConnectionError("broken"), 5).retryInMs).toBeDefined();
    expect(decideOn("safe", new ConnectionError("broken"), 6)).toEqual({ lookUp: false });
    expect(decideOn("create", new ConnectionError("broken"), 6)).toEqual({ lookUp: true });
  });

  test("no further attempt follows if the pause would exceed the time for the call", () => {
    expect(decideOn("safe", new ConnectionError("broken"), 1, 119_999, 0.9)).toEqual({ lookUp: false });
    expect(decideOn("safe", new ConnectionError("broken"), 1, 200_000, 0)).toEqual({ lookUp: false });
  });
});

describe("Retry-After", () => {
  const limited = (retryAfterMs: number) => new RateLimitError("429", { retryAfterMs });

  test("Retry-After is respected, including in a 5xx response", () => {
    expect(decideOn("safe", limited(7_000)).retryInMs).toBe(7_000);
    expect(decideOn("safe", new ServiceFaultError("503", { retryAfterMs: 9_000 })).retryInMs).toBe(9_000);
  });

  test("Retry-After is respected in full if the call has enough time left", () => {
    expect(decideOn("safe", limited(119_000)).retryInMs).toBe(119_000);
    expect(decideOn("safe", limited(1_000), 2, 118_000).retryInMs).toBeUndefined();
  });

  test("Retry-After ends the call at once if it is longer than the time left", () => {
    const ended = { lookUp: false, isAskedToWaitLonger: true };
    expect(decideOn("safe", limited(3_600_000))).toEqual(ended);
    expect(decideOn("safe", limited(20_001), 2, 100_000)).toEqual(ended);
    expect(decideOn("submit", limited(3_600_000), 2, 115_100)).toEqual(ended);
    expect(decideOn("create", new ServiceFaultError("503", { retryAfterMs: 3_600_000 }))).toEqual({
      ...ended,
      lookUp: true,
    });
  });

  test("Retry-After is respected in a call with little time left", () => {
    const failed = { repeatability: "safe", error: limited(1_000), attempt: 1, elapsedMs: 0, random: 0 } as const;
    expect(decideRetry(failed, { maxAttempts: 6, maxElapsedMs: 3_000 }).retryInMs).toBe(1_000);
  });

  test("Retry-After is never shortened by an earlier retry", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 ** 6 }), fc.integer({ min: 0, max: 119_000 }), (after, elapsedMs) => {
        const { retryInMs } = decideOn("safe", limited(after), 1, elapsedMs);
        return retryInMs === undefined || retryInMs >= after;
      }),
    );
  });
});

describe("pauses", () => {
  test("pauses are limited by an upper bound that doubles from 0.5 s to 20 s", () => {
    const longest = [1, 2, 3, 4, 5, 6, 7, 8, 50, 5_000].map((attempt) => pauseMs(attempt, 1));
    expect(longest).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000, 20_000, 20_000]);
  });

  test("pauses use the whole range up to the upper bound", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const pause = pauseMs(attempt, random);
        return pause >= 0 && pause <= 20_000 && pause === random * pauseMs(attempt, 1);
      }),
    );
  });

  test("pauses never exceed the time for the call when added to the attempts", () => {
    fc.assert(
      fc.property(
        fc.constantFrom<Repeatability>("safe", "create", "submit"),
        fc.integer({ min: 1, max: 10 }),
        fc.integer({ min: 0, max: 300_000 }),
        fc.option(fc.integer({ min: 0, max: 10 ** 9 }), { nil: undefined }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (repeatability, attempt, elapsedMs, retryAfterMs, random) => {
          const error = new RateLimitError("429", { retryAfterMs });
          const { retryInMs } = decideOn(repeatability, error, attempt, elapsedMs, random);
          if (retryInMs === undefined) return true;
          return attempt < 6 && retryInMs >= 0 && elapsedMs + retryInMs < 120_000;
        },
      ),
    );
  });
});
