import type { Clock } from "../../sdk/contract/clock";
import type { EndpointRecord } from "../model/endpointFields";

/** The lengths of a bucket. Each function returns the beginning of a bucket in UTC. */
const BUCKETS = {
  hour: (at: Date, plus: number) =>
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate(), at.getUTCHours() + plus),
  day: (at: Date, plus: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() + plus),
  week: (at: Date, plus: number) =>
    Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate() - ((at.getUTCDay() + 6) % 7) + 7 * plus),
  month: (at: Date, plus: number) => Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + plus),
  year: (at: Date, plus: number) => Date.UTC(at.getUTCFullYear() + plus, 0),
};

export type BucketSize = keyof typeof BUCKETS;

export const BUCKET_SIZES = Object.keys(BUCKETS) as BucketSize[];

/**
 * Returns the beginning of the bucket that contains `at`, or of one that is `plus` buckets later.
 */
export function bucketOf(size: BucketSize, at: number, plus = 0): number {
  return BUCKETS[size](new Date(at), plus);
}

/** The cost of an endpoint's workers in one bucket. */
export interface Charge {
  readonly endpointId: string;
  /** The beginning of the bucket, in milliseconds since the epoch. */
  readonly time: number;
  /** The end of the bucket. */
  readonly end: number;
  readonly isCpu: boolean;
  /** In US dollars. */
  amount: number;
  seconds: number;
}

type Running = Pick<Charge, "endpointId" | "isCpu"> & { readonly since: number; readonly perHour: number };

export type Billing = ReturnType<typeof createBilling>;

/**
 * Creates the bill of an account. The data file does not save it.
 * @param priceOf returns the price of an endpoint's worker, in US dollars an hour
 */
export function createBilling(clock: Clock, priceOf: (record: EndpointRecord) => number) {
  const running = new Map<string, Running>();
  /** The charges of workers that have ended, by endpoint and hour. */
  const past = new Map<string, Charge>();

  /** Adds the hours of a worker up to `to`. */
  function add(charges: Map<string, Charge>, { endpointId, isCpu, since, perHour }: Running, to: number): void {
    for (let at = since; at < to; ) {
      const [time, next] = [bucketOf("hour", at), bucketOf("hour", at, 1)];
      const seconds = (Math.min(next, to) - at) / 1000;
      merge(charges, { endpointId, isCpu, time, end: next, seconds, amount: (seconds * perHour) / 3600 });
      at = next;
    }
  }

  return {
    /** Bills a worker from now on, unless it is billed already. */
    begin(record: EndpointRecord, workerId: string): void {
      if (running.has(workerId)) return;
      const isCpu = record.computeType === "CPU";
      running.set(workerId, { endpointId: record.id, isCpu, since: clock.now(), perHour: priceOf(record) });
    },
    end(workerId: string): void {
      const worker = running.get(workerId);
      if (worker) add(past, worker, clock.now());
      running.delete(workerId);
    },
    /**
     * Returns one charge per endpoint and bucket, the oldest first. A charge is shown when the hour
     * in which it arose has ended.
     */
    charges(size: BucketSize, from: number, to: number): Charge[] {
      const shownTo = Math.min(to, bucketOf("hour", clock.now()));
      const hours = new Map([...past].map(([key, charge]) => [key, { ...charge }]));
      for (const worker of running.values()) add(hours, worker, shownTo);
      const buckets = new Map<string, Charge>();
      for (const charge of hours.values()) {
        if (charge.time < from || charge.time >= shownTo) continue;
        const [time, end] = [bucketOf(size, charge.time), bucketOf(size, charge.time, 1)];
        merge(buckets, { ...charge, time, end });
      }
      return [...buckets.values()].sort((one, other) => one.time - other.time);
    },
    clear(): void {
      running.clear();
      past.clear();
    },
  };
}

function merge(charges: Map<string, Charge>, charge: Charge): void {
  const key = `${charge.time} ${charge.endpointId}`;
  const known = charges.get(key);
  if (!known) charges.set(key, charge);
  else {
    known.amount += charge.amount;
    known.seconds += charge.seconds;
  }
}
