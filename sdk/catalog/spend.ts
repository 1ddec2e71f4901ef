import { InvalidInputError, UnexpectedResponseError } from "../errors/errors";
import type { Attempt, CallContext } from "../transport/call";
import { aDate, aString, type OptionChecks, oneOfWords, REQUEST_OPTIONS } from "../transport/callOptions";
import { makeCall } from "../transport/makeCall";
import { type RequestOptions, requestOptions } from "../transport/requestOptions";
import { checkedCall, type ResponsePromise } from "../transport/responsePromise";
import { aged, monthOf, type Spend, type SpendGroup, UNKNOWN_ENDPOINT } from "./record";

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

/** One record of the bill. */
interface Charge {
  readonly endpointId: string;
  /** The beginning of the bucket, in milliseconds since 1970. */
  readonly time: number;
  readonly amount: number;
  readonly seconds?: number | undefined;
}

/** Which charges to read. Times are in milliseconds since 1970, at the limits of buckets. */
interface ChargeWindow {
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

type ReadSpend = (options?: SpendOptions) => ResponsePromise<Spend>;

const SPEND_OPTIONS: OptionChecks<SpendOptions> = {
  ...REQUEST_OPTIONS,
  endpointId: aString,
  from: aDate,
  to: aDate,
  groupBy: oneOfWords("endpoint", "day", "hour"),
};

const LENGTHS = { hour: 3_600_000, day: 24 * 3_600_000 } as const;

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
          const all = await charges(operation, window, attempt);
          const found = all.filter(({ time }) => time >= window.from && time < window.to);
          if (endpointId !== undefined && found.some((charge) => charge.endpointId === UNKNOWN_ENDPOINT))
            throw new UnexpectedResponseError(`${operation}: the response has a charge that names no endpoint`);
          return spendIn(found, window, groupBy, context.clock.now());
        },
      });
    });
}

/**
 * Returns the window at the limits of its buckets. Buckets are days, which keeps the response
 * short, unless one of the limits is within a day.
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
  const charges = all.filter((charge) => endpointId === undefined || charge.endpointId === endpointId);
  const newest = charges.reduce((latest, { time }) => Math.max(latest, time), 0);
  const spend = {
    ...sumOf(charges),
    currency: "USD",
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    ...(charges.length > 0 && { newestBucket: new Date(newest).toISOString() }),
    readAt: new Date(now).toISOString(),
    ...(groupBy !== undefined && { groups: groupsOf(charges, groupBy) }),
  };
  return aged(spend, now);
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
