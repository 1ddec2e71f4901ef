import { PERCENTILES, type RunResult, type WatchedResult } from "../../../emulator/forecast/play";
import { shownMoney, shownNumber, shownTime } from "../../shownValues";
import type { Table } from "../../tables";
import { type Costing, costOf, type Range, rangeOf } from "./summary";

/** The results for a part of the load, with or without the change at its beginning. */
export interface WatchedSummary {
  readonly jobs: Range;
  readonly delayS: Readonly<Record<string, Range>>;
  readonly coldStarts: Range;
  readonly lost: Range;
  readonly timedOut: Range;
  /** US dollars for this time. */
  readonly cost: Range;
}

/** The change at the busiest hour of the load. */
export interface During {
  /** The hour, in seconds after the first job. */
  readonly fromS: number;
  readonly toS: number;
  /** `true` if the change replaces the workers. */
  readonly isReleased: boolean;
  /** The same hour without the change. */
  readonly before: WatchedSummary;
  readonly during: WatchedSummary;
}

/** Sums up the watched time of each run. */
export function watchedSummary(runs: readonly RunResult[], costing: Costing): WatchedSummary {
  const range = (value: (watched: WatchedResult) => number) =>
    rangeOf(runs.flatMap(({ watched }) => (watched ? value(watched) : [])));
  const cost = ({ seconds }: WatchedResult) =>
    Object.values(costOf(seconds, costing)).reduce((sum, part) => sum + part, 0);
  return {
    jobs: range(({ jobs }) => jobs),
    coldStarts: range(({ coldStarts }) => coldStarts),
    cost: range(cost),
    lost: range(({ lost }) => lost),
    timedOut: range(({ timedOut }) => timedOut),
    delayS: Object.fromEntries(
      PERCENTILES.map((share, at) => [`p${share * 100}`, range(({ delayS }) => delayS[at] ?? 0)]),
    ),
  };
}

/** Returns the table of the busiest time, without the change and with it. */
export function duringTable({ before, during, fromS, toS, isReleased }: During): Table {
  const shown = ({ low, high }: Range, format: (value: number) => string) =>
    low === high ? format(low) : `${format(low)} … ${format(high)}`;
  const row = (name: string, of: (side: WatchedSummary) => Range | undefined, format: (value: number) => string) => {
    const [one, other] = [of(before), of(during)];
    return one && other ? [[name, shown(one, format), shown(other, format)]] : [];
  };
  const rows = [
    ...row("jobs", ({ jobs }) => jobs, shownNumber),
    ...row("delay p50", ({ delayS }) => delayS.p50, shownTime),
    ...row("delay p95", ({ delayS }) => delayS.p95, shownTime),
    ...row("cold starts", ({ coldStarts }) => coldStarts, shownNumber),
    ...row("jobs lost to ttl", ({ lost }) => lost, shownNumber),
    ...row("jobs timed out", ({ timedOut }) => timedOut, shownNumber),
    ...row("cost", ({ cost }) => cost, shownMoney),
  ];
  const title =
    `The change at the busiest time, ${shownTime(fromS)} after the first job, and the ${shownTime(toS - fromS)} after it` +
    `${isReleased ? ", with new workers" : ""}`;
  return { title, header: ["", "without the change", "with it"], rows };
}
