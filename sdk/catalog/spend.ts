import { InvalidInputError } from "../errors/errors";
import type { Attempt, CallContext } from "../transport/call";
import { aDate, aString, type OptionChecks, oneOfWords, REQUEST_OPTIONS } from "../transport/callOptions";
import { makeCall } from "../transport/makeCall";
import { type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";

/** The options of `account.spend()`. */
export interface SpendOptions extends RequestOptions {
  /** The id of the endpoint. @default all endpoints of the account */
  readonly endpointId?: string | undefined;
  /** The beginning. It is moved back to the beginning of its bucket. @default the UTC month */
  readonly from?: Date | undefined;
  /** The end, exclusive. It is moved to the end of its bucket. @default now */
  readonly to?: Date | undefined;
  /**
   * Also returns the amount of each endpoint, day or hour: `endpoint`, `day` or `hour`.
   * @default none
   */
  readonly groupBy?: string | undefined;
}

/** A part of what was spent. */
export interface SpendGroup {
  /** The id of the endpoint, or the beginning of the day or hour as a UTC timestamp. */
  readonly key: string;
  /** In US dollars. */
  readonly amount: number;
  /** The billed worker seconds, if the API shows them (GraphQL). */
  readonly seconds?: number | undefined;
}

/** What endpoints have cost. Times are UTC timestamps. */
export interface Spend {
  /** In US dollars. */
  readonly amount: number;
  /** The billed worker seconds, if the API shows them (GraphQL). */
  readonly seconds?: number | undefined;
  /** Always `USD`. */
  readonly currency: string;
  /** The beginning of the first bucket. */
  readonly from: string;
  /** The end of the last bucket, which may be in the future. */
  readonly to: string;
  /** The beginning of the newest bucket with a charge. Missing if there is none. */
  readonly newestBucket?: string | undefined;
  /** The time since `newestBucket`, in seconds. */
  readonly newestBucketAge?: number | undefined;
  /** When the amount was read. */
  readonly readAt: string;
  /** The parts that `groupBy` asks for, the largest amount or the oldest bucket first. */
  readonly groups?: readonly SpendGroup[] | undefined;
}

/** Stands for the id of an endpoint that the bill does not name. */
export const UNKNOWN_ENDPOINT = "unknown";

/** One record of the bill. */
export interface Charge {
  readonly endpointId: string;
  /** The beginning of the bucket, in milliseconds since 1970. */
  readonly time: number;
  readonly amount: number;
  readonly seconds?: number | undefined;
}

/** Which charges to read. Times are in milliseconds since 1970, at the limits of buckets. */
export interface ChargeWindow {
  readonly endpointId: string | undefined;
  readonly from: number;
  readonly to: number;
  readonly bucket: "hour" | "day";
}

/**
 * Reads charges with a single request, without retries. The response may contain charges of other
 * endpoints and times.
 */
export type ReadCharges = (operation: string, window: ChargeWindow, attempt: Attempt) => Promise<Charge[]>;

export type ReadSpend = (options?: SpendOptions) => ResponsePromise<Spend>;

const SPEND_OPTIONS: OptionChecks<SpendOptions> = {
  ...REQUEST_OPTIONS,
  endpointId: aString,
  from: aDate,
  to: aDate,
  groupBy: oneOfWords("endpoint", "day", "hour"),
};

const LENGTHS = { hour: 3_600_000, day: 24 * 3_600_000 } as const;

/** Returns the beginning of the month of a time in UTC, in milliseconds since 1970. */
export function monthOf(now: number, plus = 0): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + plus);
}

/** Returns the function that reads what endpoints have cost. */
export function createSpend(context: CallContext, charges: ReadCharges): ReadSpend {
  return (given) =>
    checkedCall(given, SPEND_OPTIONS, ({ endpointId, from, to, groupBy, ...options }) => {
      const operation = endpointId === undefined ? "the bill of the account" : `the bill of endpoint ${endpointId}`;
      const call = { ...requestOptions(options), name: "billing", operation, repeatability: "safe" } as const;
      return makeCall(context, {
        ...call,
        async attempt(attempt) {
          const window = windowOf(context.clock.now(), { endpointId, from, to, groupBy });
          return spendIn(await charges(operation, window, attempt), window, groupBy, context.clock.now());
        },
      });
    });
}

/**
 * Returns the window at the limits of its buckets. Buckets are days, which keeps the response short,
 * unless one of the limits is within a day.
 */
function windowOf(now: number, { endpointId, groupBy, ...given }: SpendOptions): ChargeWindow {
  const from = given.from?.getTime() ?? monthOf(given.to ? given.to.getTime() - 1 : now);
  const to = given.to?.getTime() ?? now + 1;
  if (from >= to) throw new InvalidInputError("the call", [{ property: "from", message: "must be before to" }]);
  const isDaily = from % LENGTHS.day === 0 && (to % LENGTHS.day === 0 || to > now);
  const bucket = isDaily && groupBy !== "hour" ? "day" : "hour";
  const length = LENGTHS[bucket];
  return { endpointId, bucket, from: Math.floor(from / length) * length, to: Math.ceil(to / length) * length };
}

function spendIn(all: readonly Charge[], window: ChargeWindow, groupBy: string | undefined, now: number): Spend {
  const { endpointId, from, to } = window;
  // The service's own filters are not reliable (observed).
  const charges = all.filter(
    (charge) =>
      charge.time >= from && charge.time < to && (endpointId === undefined || charge.endpointId === endpointId),
  );
  const newest = Math.max(...charges.map(({ time }) => time));
  return {
    ...sumOf(charges),
    currency: "USD",
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(charges.length > 0 && {
      newestBucket: new Date(newest).toISOString(),
      newestBucketAge: Math.max(0, Math.round((now - newest) / 1000)),
    }),
    readAt: new Date(now).toISOString(),
    ...(groupBy !== undefined && { groups: groupsOf(charges, groupBy) }),
  };
}

function sumOf(charges: readonly Charge[]): Pick<Spend, "amount" | "seconds"> {
  const sum = charges.reduce((total, { amount }) => total + amount, 0);
  const seconds = charges.reduce<number | undefined>(
    (total, charge) => (total === undefined || charge.seconds === undefined ? undefined : total + charge.seconds),
    0,
  );
  // Without rounding, a sum would appear as 0.30000000000000004.
  return { amount: Number(sum.toPrecision(12)), ...(charges.length > 0 && seconds !== undefined && { seconds }) };
}

function groupsOf(charges: readonly Charge[], groupBy: string): SpendGroup[] {
  const keyOf = ({ endpointId, time }: Charge) => {
    if (groupBy === "endpoint") return endpointId;
    const length = groupBy === "day" ? LENGTHS.day : LENGTHS.hour;
    return new Date(Math.floor(time / length) * length).toISOString();
  };
  const keys = [...new Set(charges.map(keyOf))];
  const groups = keys.map((key) => ({ key, ...sumOf(charges.filter((charge) => keyOf(charge) === key)) }));
  return groups.sort((one, other) =>
    groupBy === "endpoint" ? other.amount - one.amount : one.key.localeCompare(other.key),
  );
}
