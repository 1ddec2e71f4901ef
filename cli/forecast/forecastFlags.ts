import { type Command, InvalidArgumentError } from "commander";
import type { ColdStartKind, ColdStarts } from "../../emulator/forecast/coldStarts";
import type { Duration, Pattern } from "../../emulator/forecast/load";
import { parseInstant } from "../parseInstant";
import type { StackFlag } from "../stack";
import type { Values } from "./settings/schedule";
import type { SweepAxis } from "./settings/sweep";
import { parseCost, parseList, parseNumber, parseTime } from "./values";

/**
 * The options that determine how a load is simulated, what it costs, and which limits apply. Times
 * are in seconds.
 */
export interface PlayFlags {
  /** When the load begins, in milliseconds since the Unix epoch. */
  readonly from?: number;
  readonly seeds?: number;
  readonly concurrency?: number;
  /** The kinds of cold starts, or the name of a file with measurements. */
  readonly coldStart?: readonly ColdStartKind[] | string;
  readonly restore?: Pick<ColdStarts["restore"], "seconds" | "recentShare" | "otherShare">;
  readonly throttled?: { readonly share: number; readonly seconds: number };
  readonly ttl?: number;
  readonly executionTimeout?: number;
  /** A price in US dollars per second, or the name of a file. */
  readonly prices?: number | string;
  readonly activeDiscount?: number;
  readonly freeStarts?: boolean;
  /** In seconds. */
  readonly maxP95?: number;
  /** The highest acceptable cost, in US dollars a month. */
  readonly maxCost?: number;
  /** The jobs that may be lost or time out: a number, or a share of all jobs. */
  readonly maxLost?: LostLimit;
  /** Limits of the time after the change: delays in seconds, and jobs that are lost or time out. */
  readonly maxDuring?: DuringLimits;
  readonly requireCalibration?: boolean;
}

/** The options of `serverless-gpu forecast`. Times are in seconds, and rates in jobs per second. */
export interface ForecastFlags extends PlayFlags {
  readonly load?: string;
  readonly generate?: Pick<Pattern, "kind" | "rate" | "secondRate">;
  readonly bursts?: { readonly jobs: number; readonly everyS: number };
  readonly for?: number;
  readonly duration?: Duration;
  /** The stack's name; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly endpoint?: string;
  readonly set?: Values;
  readonly sweep?: readonly SweepAxis[];
  /** `true` to print every figure. */
  readonly details?: boolean;
  readonly pictures?: string | true;
  readonly json?: boolean;
}

/** The limits of `--max-during`. */
export type DuringLimits = Readonly<Partial<Record<"p50" | "p95" | "p99" | "lost", number>>>;

/** How many jobs may be lost to their ttl or to the execution timeout. */
export type LostLimit = { readonly jobs: number } | { readonly share: number };

/** Adds the options of `PlayFlags`. */
export function addPlayFlags(command: Command): Command {
  return command
    .optionsGroup("Simulation:")
    .option(
      "--from <time>",
      "with a schedule: when a load without real times begins, such as 2026-11-30T00:00+01:00 (default: the coming Monday)",
      parseInstant,
    )
    .option("--seeds <n>", "number of runs (default: 20; 6 for each setting of a sweep)", parseNumber(1, 1000, true))
    .option("--concurrency <n>", "jobs that a worker runs at once (default: 1)", parseNumber(1, 10_000, true))
    .option(
      "--cold-start <list>",
      "times with their shares of all cold starts (default: 30s@0.9,240s@0.1), or a file with one cold start on each line: a number of seconds, or a job record with delayTime",
      parseColdStart,
    )
    .option(
      "--restore <time@recent,other>",
      "time that FlashBoot takes to restore a worker, the share of starts that it restores soon after the last worker stopped, and the share later (default: 2s@0.8,0.2)",
      parseRestore,
    )
    .option(
      "--throttled <share@time>",
      "share of starts that wait for a free machine, and for how long, such as 0.1@60s (default: none)",
      parseThrottled,
    )
    .option("--ttl <time>", "time to live of jobs (default: 1d)", parseTime)
    .option("--execution-timeout <time>", "maximum run time of a job (default: 10m)", parseTime)
    .option(
      "--prices <price>",
      'US dollars per second for one GPU or a CPU worker, or a file: {"date", "perSecond": {"AMPERE_24": 0.00019}}',
      parsePrices,
    )
    .option("--active-discount <share>", "discount for workersMin workers, such as 0.2 (default: 0)", parseNumber(0, 1))
    .option("--free-starts", "do not count the cost of starting workers")
    .optionsGroup("Limits:")
    .option("--max-p95 <time>", "exit with 3 if the p95 delay can exceed this", parseTime)
    .option("--max-cost <cost>", "exit with 3 if the cost can exceed this, such as 50/month", parseCost)
    .option(
      "--max-lost <jobs>",
      "exit with 3 if more jobs can be lost to their ttl or time out, such as 5 or 0.1% (default: 0 with --max-p95 or --max-cost)",
      parseLost,
    )
    .option(
      "--require-calibration",
      "exit with 3 unless the forecast was compared with the recording and is close to it",
    );
}

/** Parses durations with shares. Text that does not start with a duration is a file name. */
function parseColdStart(text: string): readonly ColdStartKind[] | string {
  if (!/^\.?\d+(\.\d+)?[a-z]*(@|,|$)/.test(text)) return text;
  return parseList((part) => {
    const [time = "", share = "1"] = part.split("@");
    return { seconds: parseTime(time), weight: parseNumber(0.000_001, Number.MAX_SAFE_INTEGER)(share) };
  })(text);
}

function parseRestore(text: string): ForecastFlags["restore"] {
  const [time = "", shares = ""] = text.split("@");
  const [recentShare, otherShare, ...more] = shares === "" ? [0.8, 0.2] : parseList(parseNumber(0, 1))(shares);
  if (recentShare !== undefined && otherShare !== undefined && more.length === 0) {
    return { seconds: parseTime(time), recentShare, otherShare };
  }
  throw new InvalidArgumentError("Give a time and two shares, such as 2s@0.8,0.2.");
}

/** Parses a price. Text that is not a number is a file name. */
function parsePrices(text: string): number | string {
  return Number.isNaN(Number(text)) ? text : parseNumber(0, 1)(text);
}

/** Parses a number of jobs, or a percentage of all jobs. */
function parseLost(text: string): LostLimit {
  if (text.endsWith("%")) return { share: parseNumber(0, 100)(text.slice(0, -1)) / 100 };
  return { jobs: parseNumber(0, Number.MAX_SAFE_INTEGER, true)(text) };
}

function parseThrottled(text: string): { share: number; seconds: number } {
  const [share = "", time = ""] = text.split("@");
  return { share: parseNumber(0, 1)(share), seconds: parseTime(time) };
}
