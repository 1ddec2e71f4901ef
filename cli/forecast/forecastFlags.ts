import { type Command, InvalidArgumentError, Option } from "commander";
import type { ColdStartKind } from "../../emulator/forecast/coldStarts";
import type { Duration } from "../../emulator/forecast/load";
import type { Settings } from "./settings/endpoints";
import { parseAxis, type SweepAxis } from "./settings/sweep";
import { parseCost, parseDuration, parseList, parseNumber, parseRate, parseRates, parseTime } from "./values";

/** The options of `serverless-gpu forecast`. Times are in seconds, rates in jobs a second. */
export interface ForecastFlags {
  readonly load?: string;
  readonly poisson?: number;
  readonly constant?: number;
  readonly sine?: readonly [number, number];
  readonly step?: readonly [number, number];
  readonly bursts?: { readonly jobs: number; readonly everyS: number };
  readonly for?: number;
  readonly duration?: Duration;
  readonly prefill?: number;
  readonly decode?: number;
  /** `true` for the selected stack. */
  readonly stack?: string | true;
  readonly program?: boolean;
  readonly endpoint?: string;
  readonly scalerType?: Settings["scalerType"];
  readonly scalerValue?: number;
  readonly workersMin?: number;
  readonly workersMax?: number;
  readonly idleTimeout?: number;
  readonly gpuIds?: string;
  readonly flashBoot?: "on" | "off";
  readonly sweep?: readonly SweepAxis[];
  readonly seeds?: number;
  readonly scalerInterval?: readonly number[];
  readonly scalerStep?: readonly number[];
  readonly concurrency?: number;
  readonly takeEvery?: number;
  readonly coldStart?: readonly ColdStartKind[];
  readonly coldStarts?: string;
  readonly restore?: number;
  readonly restoreShare?: readonly [number, number];
  readonly throttled?: { readonly share: number; readonly seconds: number };
  readonly ttl?: number;
  readonly executionTimeout?: number;
  readonly prices?: string;
  readonly price?: number;
  readonly activeDiscount?: number;
  readonly freeStarts?: boolean;
  /** In seconds. */
  readonly maxP95?: number;
  /** In US dollars a month. */
  readonly maxCost?: number;
  readonly pictures?: string | true;
  readonly json?: boolean;
}

const ANY = Number.MAX_SAFE_INTEGER;

/** Adds the options of the load, of the settings, of the model and of the output. */
export function addForecastFlags(command: Command): Command {
  addLoad(command);
  addSettings(command);
  addModel(command);
  return command
    .option("--prices <file>", 'JSON with prices: {"date", "perSecond": {"AMPERE_24": 0.00019}}')
    .option("--price <usd>", "price of a worker in US dollars a second", parseNumber(0, 1))
    .option("--active-discount <share>", "discount for workersMin workers, such as 0.2 (default: 0)", parseNumber(0, 1))
    .option("--free-starts", "starting workers are not paid")
    .option("--max-p95 <time>", "exit with 3 if the p95 delay can be longer", parseTime)
    .option("--max-cost <cost>", "exit with 3 if it can cost more, such as 50/month", parseCost)
    .option("--pictures [folder]", "write forecast.svg and forecast.html (default folder: this one)")
    .option("--json", "print one JSON object");
}

function addLoad(command: Command): void {
  command
    .option("--load <file>", "jobs: CSV with arrival_s,duration_s, a public trace, or an emulator's journal")
    .option("--poisson <rate>", "random jobs, such as 3/s", parseRate)
    .option("--constant <rate>", "jobs at equal distances, such as 10/m", parseRate)
    .option("--sine <low..high>", "random jobs in the rhythm of days, such as 0..2/s", parseRates(".."))
    .option("--step <before,after>", "random jobs whose rate changes after half of the time", parseRates(","))
    .option("--bursts <jobs@time>", "with a rate: also bursts, such as 20@10m, at random times", parseBursts)
    .option("--for <time>", "time that is forecast (default: 1h, 1d for --sine, all of a file)", parseTime)
    .option("--duration <time>", "time of a job, such as 8s or 2s..10s, for loads without durations", parseDuration)
    .option("--prefill <rate>", "input tokens a second, for traces of tokens", parseNumber(0.001, ANY))
    .option("--decode <rate>", "output tokens a second, for traces of tokens", parseNumber(0.001, ANY));
}

function addSettings(command: Command): void {
  const whole = parseNumber(0, 1000, true);
  command
    .option("--stack [name]", "take the settings from the stack's state")
    .option("--program", "take the settings from a preview of the program; with --stack, compare the two")
    .option("--endpoint <name>", "the endpoint, if there are several")
    .addOption(new Option("--scaler-type <type>", "(default: QUEUE_DELAY)").choices(["QUEUE_DELAY", "REQUEST_COUNT"]))
    .option("--scaler-value <n>", "seconds of delay, or jobs for each worker (default: 4)", parseNumber(0.001, 100_000))
    .option("--workers-min <n>", "(default: 0)", whole)
    .option("--workers-max <n>", "(default: 3)", whole)
    .option("--idle-timeout <s>", "seconds (default: 10)", parseNumber(0, 3600))
    .option("--gpu-ids <list>", "GPU tiers; the first one has the price (default: AMPERE_24)")
    .addOption(new Option("--flash-boot <on|off>", "(default: off)").choices(["on", "off"]))
    .option("--sweep <setting=values...>", "compare settings: workersMin=0..3 scalerValue=1,2,4", parseAxis);
}

function addModel(command: Command): void {
  command
    .option("--seeds <n>", "number of runs (default: 20; 6 for each setting of a sweep)", parseNumber(1, 1000, true))
    .option(
      "--scaler-interval <list>",
      "seconds between two looks of the scaler (default: 4,1,10)",
      parseList(parsePositive),
    )
    .option("--scaler-step <list>", "workers that one look starts at most (default: all,1)", parseList(parseStep))
    .option("--concurrency <n>", "jobs that a worker runs at once (default: 1)", parseNumber(1, 10_000, true))
    .option("--take-every <time>", "interval at which a busy worker asks for a job (default: 1s)", parseTime)
    .option("--cold-start <list>", "times with shares (default: 30s@0.9,240s@0.1)", parseList(parseKind))
    .option("--cold-starts <file>", "a number of seconds, or a job record with delayTime, on each line")
    .option("--restore <time>", "start of a worker that FlashBoot restores (default: 2s)", parseTime)
    .option("--restore-share <recent,other>", "shares that FlashBoot restores (default: 0.8,0.2)", parseShares)
    .option(
      "--throttled <share@time>",
      "starts that wait for a free machine, such as 0.1@60s (default: none)",
      parseThrottled,
    )
    .option("--ttl <time>", "time to live of jobs (default: 1d)", parseTime)
    .option("--execution-timeout <time>", "longest time of a job (default: 10m)", parseTime);
}

function parsePositive(text: string): number {
  const seconds = parseTime(text);
  if (seconds > 0) return seconds;
  throw new InvalidArgumentError("It must be more than 0.");
}

function parseStep(text: string): number {
  return text === "all" ? Number.POSITIVE_INFINITY : parseNumber(1, 1000, true)(text);
}

function parseKind(text: string): ColdStartKind {
  const [time = "", share = "1"] = text.split("@");
  return { seconds: parseTime(time), weight: parseNumber(0.000_001, ANY)(share) };
}

function parseShares(text: string): readonly [number, number] {
  const [recent, other, ...more] = parseList(parseNumber(0, 1))(text);
  if (recent !== undefined && other !== undefined && more.length === 0) return [recent, other];
  throw new InvalidArgumentError("Give two shares, such as 0.8,0.2.");
}

function parseThrottled(text: string): { share: number; seconds: number } {
  const [share = "", time = ""] = text.split("@");
  return { share: parseNumber(0, 1)(share), seconds: parseTime(time) };
}

function parseBursts(text: string): { jobs: number; everyS: number } {
  const [jobs = "", time = ""] = text.split("@");
  return { jobs: parseNumber(1, 1_000_000, true)(jobs), everyS: parsePositive(time) };
}
