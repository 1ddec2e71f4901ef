import { type Command, InvalidArgumentError } from "commander";
import type { ColdStartKind, ColdStarts } from "../../emulator/forecast/coldStarts";
import type { Duration, Pattern } from "../../emulator/forecast/load";
import type { StackFlag } from "../stack";
import type { Settings } from "./settings/endpoints";
import { parseAxis, parseSetting, type SweepAxis } from "./settings/sweep";
import { parseCost, parseDuration, parseList, parseNumber, parseRate, parseRates, parseTime } from "./values";

/** The options of `serverless-gpu forecast`. Times are in seconds, and rates in jobs per second. */
export interface ForecastFlags {
  readonly load?: string;
  readonly generate?: Pick<Pattern, "kind" | "rate" | "secondRate">;
  readonly bursts?: { readonly jobs: number; readonly everyS: number };
  readonly for?: number;
  readonly duration?: Duration;
  /** The stack's name; `true` for the selected stack. */
  readonly stack?: StackFlag;
  readonly program?: boolean;
  readonly endpoint?: string;
  readonly set?: Partial<Settings>;
  readonly sweep?: readonly SweepAxis[];
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
  readonly pictures?: string | true;
  readonly json?: boolean;
}

/** The limits of `--max-during`. */
export type DuringLimits = Readonly<Partial<Record<"p50" | "p95" | "p99" | "lost", number>>>;

/** How many jobs may be lost to their ttl or to the execution timeout. */
export type LostLimit = { readonly jobs: number } | { readonly share: number };

/** The options that determine how a load is simulated, what it costs, and which limits apply. */
export type PlayFlags = Pick<
  ForecastFlags,
  | "seeds"
  | "concurrency"
  | "coldStart"
  | "restore"
  | "throttled"
  | "ttl"
  | "executionTimeout"
  | "prices"
  | "activeDiscount"
  | "freeStarts"
  | "maxP95"
  | "maxCost"
  | "maxLost"
  | "maxDuring"
  | "requireCalibration"
>;

/** Adds the options of `PlayFlags`. */
export function addPlayFlags(command: Command): Command {
  return command
    .optionsGroup("Simulation:")
    .option("--seeds <n>", "number of runs (default: 20; 6 for each setting of a sweep)", parseNumber(1, 1000, true))
    .option("--concurrency <n>", "jobs that a worker runs at once (default: 1)", parseNumber(1, 10_000, true))
    .option(
      "--cold-start <list>",
      "times with their shares of all cold starts (default: 30s@0.9,240s@0.1), or a file with one cold start on each line: a number of seconds, or a job record with delayTime",
      parseColdStart,
    )
    .option(
      "--restore <time@recent,other>",
      "time that FlashBoot takes to restore a worker, and the share of starts that it restores: soon after the last worker stopped, and later (default: 2s@0.8,0.2)",
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
      "with a limit: exit with 3 if more jobs can be lost to their ttl or time out, such as 5 or 0.1% (default: 0)",
      parseLost,
    )
    .option(
      "--max-during <limits>",
      "exit with 3 if the hour after the change can be worse, such as p95=60s or p95=60s,lost=0",
      parseDuring,
    )
    .option(
      "--require-calibration",
      "exit with 3 unless the forecast was compared with the recording and is close to it",
    );
}

export function addForecastFlags(command: Command): Command {
  const first = command
    .summary("Forecast delay and cost of an endpoint's settings under a load")
    .description(
      "Simulates a load on an endpoint with the emulator's scheduler in virtual time, and prints how long jobs would wait " +
        "and what that would cost, as ranges over several runs. It calls no service and changes nothing. With --stack and " +
        "--program, it runs Pulumi to export the state and to preview the program.",
    )
    .optionsGroup("Load:")
    .option(
      "--load <file>",
      "jobs: CSV with arrival_s,duration_s or minute,jobs, an emulator's journal, or the folder of a recording",
    )
    .option("--generate <rule>", "random jobs: poisson:3/s, constant:10/m, sine:0..2/s or step:1/m,10/m", parseRule)
    .option("--bursts <jobs@time>", "with --generate: also bursts, such as 20@10m, at random times", parseBursts)
    .option(
      "--for <time>",
      "time span to forecast (default: the whole --load file; with --generate 1h, or 1d for a sine)",
      parseTime,
    )
    .option(
      "--duration <time>",
      "how long a job takes, such as 8s or 2s..10s, for loads without durations",
      parseDuration,
    )
    .optionsGroup("Settings:")
    .option("--stack [name]", "take the settings from the stack's state")
    .option("--program", "take the settings from a preview of the program; with --stack, compare the two")
    .option("--endpoint <name>", "the endpoint, if there are several")
    .option("--set <setting=value...>", "change settings: workersMax=5 flashBoot=on", parseSetting)
    .option("--sweep <setting=values...>", "compare values of settings: workersMin=0..3 scalerValue=1,2,4", parseAxis);
  return addPlayFlags(first)
    .optionsGroup("Output:")
    .option("--pictures [folder]", "write forecast.svg and forecast.html (default: to the current folder)")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      `
Files for --load (recognized by the header):
  arrival_s,duration_s                      one job per line, in order of arrival
  minute,jobs                               the number of jobs in each minute; needs --duration
  [{"operation": "run", …}]                 an emulator's journal; needs --duration
A folder is a recording that the option --record of metrics wrote. It needs --duration unless a client or a webhook receiver
has recorded run times, and --endpoint if it contains several endpoints.

Settings for --set and --sweep, with their defaults:
  scalerType=QUEUE_DELAY scalerValue=4 workersMin=0 workersMax=3 idleTimeout=10 gpuIds=AMPERE_24 gpuCount=1 flashBoot=off

Examples:
  npx pulumi-serverless-gpu forecast --load jobs.csv --stack dev
  npx pulumi-serverless-gpu forecast --load jobs.csv --stack dev --program --max-p95 10s --max-cost 50/month
  npx pulumi-serverless-gpu forecast --generate poisson:3/s --duration 2s..4s --set workersMax=20 --sweep workersMin=0..3 scalerValue=1,2,4

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, an invalid value of an option, or not exactly one load
  3  a limit (--max-…) can be exceeded, or --require-calibration is not met`,
    );
}

/** Parsers for the patterns of `--generate`, by name. */
const RULES: Readonly<Record<Pattern["kind"], (text: string) => readonly [number, number]>> = {
  poisson: (text) => [parseRate(text), 0],
  constant: (text) => [parseRate(text), 0],
  sine: parseRates(".."),
  step: parseRates(","),
};

function parseRule(text: string): ForecastFlags["generate"] {
  const [name = "", rates = ""] = text.split(":");
  const kind = (Object.keys(RULES) as Pattern["kind"][]).find((each) => each === name);
  if (!kind)
    throw new InvalidArgumentError(
      `Give a rule and its rate, such as poisson:3/s. The rules are ${Object.keys(RULES).join(", ")}.`,
    );
  const [rate, secondRate] = RULES[kind](rates);
  return { kind, rate, secondRate };
}

function parsePositive(text: string): number {
  const seconds = parseTime(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError("It must be more than 0.");
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

/** Parses `p95=60s,lost=0`. */
function parseDuring(text: string, before: DuringLimits = {}): DuringLimits {
  const limits = parseList((part): [string, number] => {
    const [, name = "", value = ""] = /^(p50|p95|p99|lost)=(.+)$/.exec(part) ?? [];
    if (name === "") throw new InvalidArgumentError("Give limits for p50, p95, p99 or lost, such as p95=60s.");
    return [name, name === "lost" ? parseNumber(0, Number.MAX_SAFE_INTEGER, true)(value) : parseTime(value)];
  })(text);
  return { ...before, ...Object.fromEntries(limits) };
}

function parseThrottled(text: string): { share: number; seconds: number } {
  const [share = "", time = ""] = text.split("@");
  return { share: parseNumber(0, 1)(share), seconds: parseTime(time) };
}

function parseBursts(text: string): { jobs: number; everyS: number } {
  const [jobs = "", time = ""] = text.split("@");
  return { jobs: parseNumber(1, 1_000_000, true)(jobs), everyS: parsePositive(time) };
}
