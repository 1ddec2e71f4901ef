import type { Clock } from "../../sdk/contract/clock";
import { type Billing, BUCKET_SIZES, bucketOf } from "../workers/billing";
import type { V2Call } from "./handler";
import { V2Refusal } from "./problem";

const DAYS_30_MS = 30 * 24 * 3_600_000;

/** Returns the operation that shows what endpoints have cost. */
export function billingHandlers(billing: Billing, clock: Clock) {
  return {
    getServerlessBilling({ query }: V2Call) {
      const size = BUCKET_SIZES.find((each) => each === (query.get("bucketSize") ?? "day"));
      if (!size) throw invalid("bucketSize");
      const { from, to } = windowIn(query, clock.now());
      const [start, end] = [bucketOf(size, from), bucketOf(size, to - 1, 1)];
      const wanted = query.get("serverlessId");
      const records = billing
        .charges(size, start, end)
        .filter(({ endpointId }) => wanted === null || endpointId === wanted)
        .map(({ endpointId, time, end, amount, isCpu }) => ({
          startTime: new Date(time).toISOString(),
          endTime: new Date(end).toISOString(),
          serverlessId: endpointId,
          totalAmount: amount,
          gpuAmount: isCpu ? 0 : amount,
          cpuAmount: isCpu ? amount : 0,
          diskAmount: 0,
          feeAmount: 0,
        }));
      const ids = new Set(records.map(({ serverlessId }) => serverlessId));
      const totalAmount = records.reduce((sum, record) => sum + record.totalAmount, 0);
      const shown = {
        startTime: new Date(start).toISOString(),
        endTime: new Date(end).toISOString(),
        bucketSize: size,
      };
      const counts = { recordCount: records.length, uniqueServerlessCount: ids.size };
      return { records, metadata: { query: shown, ...counts, totals: { totalAmount } } };
    },
  };

  function windowIn(query: URLSearchParams, now: number) {
    const lastN = query.get("lastN");
    if (lastN === null)
      return { from: timeIn(query, "startTime") ?? now - DAYS_30_MS, to: timeIn(query, "endTime") ?? now };
    if (query.has("startTime") || query.has("endTime"))
      throw new V2Refusal(400, "lastN and startTime or endTime exclude each other", "billing.last-n");
    if (!/^[1-9]\d*$/.test(lastN)) throw invalid("lastN");
    const size = BUCKET_SIZES.find((each) => each === query.get("bucketSize")) ?? "day";
    return { from: bucketOf(size, now, 1 - Number(lastN)), to: now + 1 };
  }
}

function timeIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const time = /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw invalid(name);
  return time;
}

function invalid(name: string): V2Refusal {
  return new V2Refusal(422, `${name} is invalid`, "billing.invalid");
}
