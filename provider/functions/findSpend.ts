import { aged, monthOf, type Spend } from "../../sdk/catalog/record";
import { instantOf } from "../../sdk/endpoints/instant";
import { InvalidInputError, ServerlessGpuError, UnexpectedResponseError } from "../../sdk/errors/errors";
import { runInstant } from "../connection/runInstant";
import { log } from "../engine/log";
import { readRecord, writeRecord } from "../machine/machineRecord";
import type { DataSourceContext } from "./dataSource";

// The plugin loads this file, so it doesn't import any values from Pulumi.

/** Selects what to add up. */
export interface GetSpendArgs {
  /** The id of the endpoint. @default all endpoints of the account */
  readonly endpointId?: string | undefined;
  /**
   * The beginning: a date in UTC, or a time with `Z` or an offset. It is moved back to the
   * beginning of its bucket. @default the beginning of the month in UTC
   */
  readonly from?: string | undefined;
  /** The end, exclusive, in the same form. It is moved to the end of its bucket. @default now */
  readonly to?: string | undefined;
  /**
   * Also returns the amount of each endpoint, day or hour: `endpoint`, `day` or `hour`.
   * @default none
   */
  readonly groupBy?: string | undefined;
  /**
   * `true` to return the amount that this machine read last for the same arguments if RunPod does
   * not answer. Its `readAt` is then the time of that read. @default false: the program fails
   */
  readonly useLastKnown?: boolean | undefined;
}

/** What endpoints have cost, as far as RunPod has billed it. Times are UTC timestamps. */
export interface GetSpendResult extends Spend {
  /** `true` if RunPod did not answer and this is the amount that this machine read last. */
  readonly isLastKnown: boolean;
}

const DAY_MS = 24 * 3_600_000;

/** Returns what endpoints have cost, up to the instant of this run, and logs it. */
export async function findSpend(context: DataSourceContext, args: GetSpendArgs): Promise<GetSpendResult> {
  const { endpointId, groupBy, useLastKnown = false } = args;
  const [from, to] = [timeIn("from", args.from), timeIn("to", args.to)];
  const now = runInstant();
  const window = {
    // With the whole day as its end, the window consists of days.
    to: new Date(to ?? (Math.floor(now / DAY_MS) + 1) * DAY_MS),
    from: new Date(from ?? monthOf(to === undefined ? now : to - 1)),
  };
  const { service, apiKey } = context.account;
  const key = JSON.stringify([apiKey, endpointId, window.from, args.to, groupBy]);
  const subject = { service, noun: "bill", thing: "spend", key } as const;
  try {
    const read = await context.client.account.spend({ endpointId, groupBy, ...window });
    const spend = aged({ ...read, readAt: new Date(now).toISOString() }, now);
    // The id may be wrong or belong to another account, so a budget for it would never be reached.
    if (endpointId !== undefined && spend.newestBucket === undefined) await context.client.endpoints.get(endpointId);
    // A run for a later time must not count as newer than others, because its month may not have
    // begun.
    if (useLastKnown && now <= Date.now()) writeRecord(subject, { ...spend });
    return told({ ...spend, isLastKnown: false });
  } catch (error) {
    const isMissing =
      error instanceof UnexpectedResponseError || (error instanceof ServerlessGpuError && error.disposition === "wait");
    const last = useLastKnown && isMissing ? readRecord(subject) : undefined;
    if (last === undefined) throw error;
    log("getSpend", `warning: RunPod did not answer, so the last known amount is used: ${(error as Error).message}`);
    return told({ ...aged(last as unknown as Spend, now), isLastKnown: true });
  }
}

function timeIn(property: "from" | "to", text: string | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const time = instantOf(text);
  if (!Number.isNaN(time)) return time;
  const message = "must be a date, such as 2026-11-01, or a time with Z or an offset, such as 2026-11-01T08:00:00Z";
  throw new InvalidInputError("getSpend", [{ property, message }]);
}

/** Logs the amount, which the pipeline's `tick` looks for. */
function told(spend: GetSpendResult): GetSpendResult {
  const { amount, from, newestBucket, newestBucketAge = 0, isLastKnown, readAt } = spend;
  const newest =
    newestBucket === undefined ? "no charge yet" : `newest bucket ${newestBucket}, ${inWords(newestBucketAge)} old`;
  const last = isLastKnown ? `, last known at ${readAt}` : "";
  log("getSpend", `$${amount.toFixed(2)} from ${from} (${newest}${last})`);
  return spend;
}

function inWords(seconds: number): string {
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
