import type { FaultEffect, Interface } from "../../emulator";

/** A way in which the service, or a gateway in front of it, misbehaves. */
export interface Fault {
  readonly name: string;
  /** A function is called when the fault begins. */
  readonly effect: FaultEffect | (() => FaultEffect);
  /** Matches the cause in the message of the resulting error. */
  readonly cause: RegExp;
  /**
   * The only interfaces that can respond so.
   * @default all can
   */
  readonly only?: readonly Interface[];
}

const HOUR_MS = 3_600_000;

/** A response that matches no operation. */
const WRONG_SHAPE = {
  id: 7,
  data: { myself: { endpoints: [{ id: "" }], serverlessDiscount: 3 }, saveEndpoint: { id: 42 }, deleteEndpoint: 1 },
};

const httpDate = (offsetMs: number) => new Date(Date.now() + offsetMs).toUTCString();

/**
 * An attempt has ended, or the time of a whole create or update, which may end at the same moment.
 */
const NO_RESPONSE = /no complete response within|not complete within|no response arrived/;

export const FAULTS: readonly Fault[] = [
  { name: "429", effect: { status: 429 }, cause: /429.*too many requests/ },
  {
    name: "429, Retry-After: 1",
    effect: { status: 429, headers: { "retry-after": "1" } },
    cause: /429.*too many requests/,
  },
  {
    name: "429, Retry-After an hour ago (clock skew)",
    effect: () => ({ status: 429, headers: { "retry-after": httpDate(-HOUR_MS) } }),
    cause: /429.*too many requests/,
  },
  {
    name: "429, Retry-After in an hour (clock skew)",
    effect: () => ({ status: 429, headers: { "retry-after": httpDate(HOUR_MS) } }),
    cause: /429.*too many requests/,
  },
  { name: "500", effect: { status: 500 }, cause: /responded with 500/ },
  { name: "500 after the effect", effect: { status: 500, when: "after" }, cause: /responded with 500/ },
  { name: "502 with HTML", effect: { html: true }, cause: /responded with 502.*HTML/ },
  {
    name: "GraphQL server fault",
    effect: { graphqlError: { message: "Something went wrong. Please try again later" } },
    cause: /Something went wrong/,
    only: ["graphql"],
  },
  { name: "hang", effect: { hang: true }, cause: NO_RESPONSE },
  { name: "hang after the effect", effect: { hang: true, when: "after" }, cause: NO_RESPONSE },
  { name: "slow (3 s)", effect: { latencyMs: 3_000 }, cause: /never/ },
  { name: "reset before the effect", effect: { reset: true }, cause: /the connection to .* broke/ },
  { name: "reset after the effect", effect: { reset: true, when: "after" }, cause: /the connection to .* broke/ },
  { name: "truncated body", effect: { truncated: true }, cause: /not complete JSON|not in the form of REST v2/ },
  { name: "wrong shape", effect: { status: 200, body: WRONG_SHAPE, when: "after" }, cause: /unexpected shape/ },
  {
    name: "null account",
    effect: { nullAccount: true },
    cause: /found no account|unexpected shape/,
    only: ["graphql"],
  },
  { name: "list 4 s behind", effect: { listLagMs: 4_000 }, cause: /never/, only: ["graphql", "v2"] },
  { name: "key revoked", effect: { status: 401 }, cause: /responded with 401/ },
];

/** Number of times that a fault occurs; `undefined` for indefinitely. */
export const TIMES = [1, 3, undefined] as const;

/** For people: `once`. */
export function timesName(times: (typeof TIMES)[number]): string {
  return times === undefined ? "indefinitely" : times === 1 ? "once" : `${times} times`;
}
