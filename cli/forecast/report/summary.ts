import { PERCENTILES, type RuleResult, type RunResult } from "../../../emulator/forecast/play";
import type { Course, WorkerSeconds } from "../../../emulator/forecast/tally";
import type { ScheduleRule } from "../../../sdk/endpoints/schedule";
import type { Settings } from "../settings/endpoints";
import type { Price } from "../settings/prices";
import { MONTH_S } from "../values";

/** The lowest, middle and highest value over all runs. */
export interface Range {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** The parts of the cost, in US dollars a month. `discount` is negative. */
export type CostPart = "start" | "run" | "idle" | "minimum" | "discount";

/** The forecast for one setting. */
export interface Summary {
  readonly settings: Settings;
  readonly runs: number;
  readonly jobs: Range;
  /** The number of jobs that a worker started. */
  readonly started: Range;
  readonly completed: Range;
  /** The number of jobs that completed or timed out, as the service counts them. */
  readonly finished: Range;
  /** The mean number of waiting jobs. */
  readonly queueDepth: Range;
  readonly workerSeconds: Range;
  /** Delays of started jobs by percentile (`p50`, …), in seconds; 0 if no job started. */
  readonly delayS: Readonly<Record<string, Range>>;
  readonly coldStarts: Range;
  readonly mostWorkers: Range;
  /** The number of jobs whose time to live expired. */
  readonly lost: Range;
  /** The number of jobs that reached the execution timeout. */
  readonly timedOut: Range;
  /**
   * The number of jobs without a result (lost or timed out), and their share of all jobs (0 to 1).
   */
  readonly failed: Range;
  readonly failedShare: Range;
  /** The monthly cost and the p95 delay of each run, in order. */
  readonly byRun: readonly { readonly monthly: number; readonly p95S: number }[];
  /** The results while each rule of the schedule holds, by its index; empty without a schedule. */
  readonly rules: readonly RuleSummary[];
  /** The cost of the load itself, in US dollars. */
  readonly cost: Range;
  /** The cost of repeating the load for a month, in US dollars. */
  readonly monthly: Range;
  readonly monthlyParts: Readonly<Record<CostPart, Range>>;
  /** The course over time, averaged over all runs, and the range of the delay. */
  readonly course: Course;
  readonly delayBand: readonly (readonly [number, number])[];
}

/** The jobs that arrive while a rule holds. */
export interface RuleSummary {
  readonly rule: ScheduleRule;
  readonly jobs: Range;
  /** The p95 delay of the jobs that start, in seconds; 0 if none does. */
  readonly p95S: Range;
  /** Jobs that wait for the start of a worker. */
  readonly waiting: Range;
  /** Those of them that arrive in the first ten minutes after the rule begins to hold. */
  readonly waitingAtFirst: Range;
}

/** How the cost is calculated. */
export interface Costing {
  readonly price: Price;
  /** The discount for the `workersMin` workers, 0 to 1. */
  readonly activeDiscount: number;
  readonly freeStarts: boolean;
  /** The duration of the load, in seconds. */
  readonly spanS: number;
}

const P95 = PERCENTILES.indexOf(0.95);

export function summarize(settings: Settings, runs: readonly RunResult[], costing: Costing): Summary {
  const range = (value: (run: RunResult) => number) => rangeOf(runs.map(value));
  const costs = runs.map(({ seconds }) => costOf(seconds, costing));
  const total = costs.map((parts) => Object.values(parts).reduce((sum, part) => sum + part, 0));
  const perMonth = MONTH_S / costing.spanS;
  const part = (name: CostPart) => rangeOf(costs.map((parts) => parts[name] * perMonth));
  return {
    settings,
    runs: runs.length,
    jobs: range(({ jobs }) => jobs),
    started: range(({ started }) => started),
    completed: range(({ completed }) => completed),
    finished: range(({ completed, timedOut }) => completed + timedOut),
    queueDepth: range(({ course: { waiting } }) => waiting.reduce((sum, value) => sum + value, 0) / waiting.length),
    workerSeconds: range(({ seconds: { start, run: busy, idle, minimum } }) => start + busy + idle + minimum),
    delayS: Object.fromEntries(
      PERCENTILES.map((share, at) => [`p${share * 100}`, range((run) => run.delayS[at] ?? 0)]),
    ),
    coldStarts: range(({ coldStarts }) => coldStarts),
    mostWorkers: range(({ mostWorkers }) => mostWorkers),
    lost: range(({ lost }) => lost),
    timedOut: range(({ timedOut }) => timedOut),
    failed: range(({ lost, timedOut }) => lost + timedOut),
    failedShare: range(({ lost, timedOut, jobs }) => (lost + timedOut) / Math.max(1, jobs)),
    byRun: runs.map(({ delayS }, at) => ({
      monthly: (total[at] ?? 0) * perMonth,
      p95S: delayS[P95] ?? 0,
    })),
    rules: (settings.schedule?.rules ?? []).map((rule, at) => {
      const of = (value: (result: RuleResult) => number) => range(({ rules }) => (rules[at] ? value(rules[at]) : 0));
      return {
        rule,
        jobs: of(({ jobs }) => jobs),
        p95S: of(({ delayS }) => delayS[P95] ?? 0),
        waiting: of(({ waiting }) => waiting),
        waitingAtFirst: of(({ waitingAtFirst }) => waitingAtFirst),
      };
    }),
    cost: rangeOf(total),
    monthly: rangeOf(total.map((cost) => cost * perMonth)),
    monthlyParts: {
      start: part("start"),
      run: part("run"),
      idle: part("idle"),
      minimum: part("minimum"),
      discount: part("discount"),
    },
    course: meanCourse(runs.map(({ course }) => course)),
    delayBand: (runs[0]?.course.delayS ?? []).map((_, at) => {
      const values = runs.map(({ course }) => course.delayS[at] ?? 0);
      return [Math.min(...values), Math.max(...values)];
    }),
  };
}

/** Returns the range of the values of all runs. */
export function rangeOf(values: readonly number[]): Range {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? 0;
  const half = (sorted.length - 1) / 2;
  return { low: at(0), middle: (at(Math.floor(half)) + at(Math.ceil(half))) / 2, high: at(sorted.length - 1) };
}

/** Returns the parts of what workers cost, in US dollars. */
export function costOf(
  seconds: WorkerSeconds,
  { price, activeDiscount, freeStarts }: Costing,
): Record<CostPart, number> {
  const { perSecond } = price;
  return {
    start: freeStarts ? 0 : seconds.start * perSecond,
    run: seconds.run * perSecond,
    idle: seconds.idle * perSecond,
    minimum: seconds.minimum * perSecond,
    discount: activeDiscount === 0 ? 0 : -seconds.active * perSecond * activeDiscount,
  };
}

function meanCourse(courses: readonly Course[]): Course {
  const mean = (field: keyof Course) =>
    (courses[0]?.[field] ?? []).map(
      (_, at) => courses.reduce((sum, each) => sum + (each[field][at] ?? 0), 0) / courses.length,
    );
  return {
    waiting: mean("waiting"),
    starting: mean("starting"),
    running: mean("running"),
    idle: mean("idle"),
    delayS: mean("delayS"),
    paidS: mean("paidS"),
  };
}
