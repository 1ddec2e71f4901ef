import { InvalidArgumentError } from "commander";
import type { Pattern } from "../../emulator/forecast/load";
import { declareCommand } from "../declareCommand";
import { addPlayFlags, type ForecastFlags } from "./forecastFlags";
import { parseAxis, parseSetting } from "./settings/sweep";
import { parseDuration, parseNumber, parseRate, parseRates, parseTime } from "./values";

export const forecastCommand = declareCommand({
  name: "forecast",
  summary: "Forecast delay and cost of an endpoint's settings under a load",
  description:
    "Simulates a load on an endpoint with the emulator's scheduler in virtual time, and prints how long jobs would wait " +
    "and what that would cost, as ranges over several runs. It calls no service and changes nothing. With --stack, " +
    "it runs Pulumi to export the state. To compare a change with the stack, use check --load.",
  options: (command) =>
    addPlayFlags(
      command
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
        .option("--endpoint <name>", "the endpoint, if there are several")
        .option("--set <setting=value...>", "change settings: workersMax=5 flashBoot=on", parseSetting)
        .option(
          "--sweep <setting=values...>",
          "compare values of settings: workersMin=0..3 scalerValue=1,2,4",
          parseAxis,
        ),
    )
      .optionsGroup("Output:")
      .option("--details", "print all percentiles, cold starts, workers over time, and the parts of the cost, too")
      .option("--pictures [folder]", "write forecast.svg and forecast.html (default: to the current folder)")
      .option("--json", "print one JSON object"),
  notes: `Files for --load (recognized by the header):
  arrival_s,duration_s                      one job per line, in order of arrival
  minute,jobs                               the number of jobs in each minute; needs --duration
  [{"operation": "run", …}]                 an emulator's journal; needs --duration
A folder is a recording that the option --record of metrics wrote. It needs --duration unless a client or a webhook receiver
has recorded run times, and --endpoint if it contains several endpoints.

Settings for --set and --sweep, with their defaults:
  scalerType=QUEUE_DELAY scalerValue=4 workersMin=0 workersMax=3 idleTimeout=10 gpuIds=AMPERE_24 gpuCount=1 flashBoot=off
With a schedule (JSON, or off), also those of its rules by number: hour1=7 hour2=20:30 workersMin1=2 workersMax1=8`,
  examples: [
    "npx pulumi-serverless-gpu forecast --load jobs.csv --stack dev",
    "npx pulumi-serverless-gpu forecast --load jobs.csv --stack dev --set workersMin=1 --max-p95 10s --max-cost 50/month",
    "npx pulumi-serverless-gpu forecast --generate poisson:3/s --duration 2s..4s --set workersMax=20 --sweep workersMin=0..3 scalerValue=1,2,4",
  ],
  exitCodes: {
    2: "wrong usage: an unknown option, an invalid value of an option, or not exactly one load",
    3: "a limit (--max-…) can be exceeded, or --require-calibration is not met",
  },
  problem: loadProblem,
  load: () => require("./forecast") as typeof import("./forecast"),
  run: ({ forecast }, flags) => forecast(flags),
});

/** Returns an error message if the options don't describe a load and a limit of it. */
function loadProblem(flags: ForecastFlags): string | undefined {
  const { load, generate, duration } = flags;
  if ((load === undefined) === (generate === undefined)) return "give one load: --load or --generate";
  return generate && !duration ? "--generate needs --duration, such as 8s or 2s..10s" : undefined;
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

function parseBursts(text: string): { jobs: number; everyS: number } {
  const [jobs = "", time = ""] = text.split("@");
  return { jobs: parseNumber(1, 1_000_000, true)(jobs), everyS: parsePositive(time) };
}
