import { readFileSync } from "node:fs";
import { InvalidArgumentError, Option } from "commander";
import type { FaultRule } from "../../emulator";
import { declareCommand } from "../declareCommand";
import { addPlayFlags, type DuringLimits } from "../forecast/forecastFlags";
import { parseDuration, parseList, parseNumber, parseTime } from "../forecast/values";
import { ownPackage } from "../ownPackage";
import { parseAllow } from "./allow";
import { type CheckFlags, isRehearsal } from "./checkFlags";

export const checkCommand = declareCommand({
  name: "check",
  summary: "Check whether a change may be merged",
  description:
    "Reads the JSON of a preview, and prints whether the change loses data, ends or stops an endpoint, or cannot work, and what it " +
    "costs. It changes nothing. Without a key or a network, it checks what it can, and lists what it could not check. With " +
    "--rehearse, it also applies the program in this folder to a copy of the stack, with the real engine and the emulator. This " +
    "runs the program for real, without a key and with few environment variables, but it is not a sandbox.",
  argument: ["[preview.json]", "the output of pulumi preview --json --show-sames (default: standard input)"],
  options: (command) =>
    addPlayFlags(
      command
        .option("--stack [name]", "preview this stack (without a name, the folder's selected stack)")
        .option(
          "--allow <danger>",
          "accept a danger, such as delete=llama (a name or URN), or every one of a kind: delete, replace, zero, rename, rejected, data or impossible. Repeatable",
          parseAllow,
        )
        .option("--strict", "low stock, and limits that may hold workers back, are dangers too")
        .optionsGroup("Rehearsal:")
        .option("--rehearse", "apply the change to a copy of the stack; needs --stack with a name")
        .option("--creation", "start without the stack's state, and use only its config file: for changes from forks")
        .option("--from-state", "take the account's resources from the state alone; needs no key")
        .option(
          "--with-secrets",
          "decrypt the secrets of state and config for the copy. Only for branches that you trust",
        )
        .option(
          "--env <name...>",
          "environment variables that the program may read, in addition to PATH and a few others",
        )
        .option(
          "--fault <rule...>",
          "fault rules for the emulator while the change is applied: JSON, or a JSON file",
          parseFault,
        )
        .optionsGroup("Load:")
        .option(
          "--load <file>",
          "rehearse, and simulate these jobs before, during and after the change: a file or the folder of a recording, as for forecast",
        )
        .option("--endpoint <name>", "the endpoint of the load, if there are several")
        .option("--for <time>", "time span to simulate (default: the whole load)", parseTime)
        .option(
          "--duration <time>",
          "how long a job takes, such as 8s or 2s..10s, for loads without durations",
          parseDuration,
        ),
    )
      .option(
        "--max-during <limits>",
        "exit with 3 if the hour after the change can be worse, such as p95=60s or p95=60s,lost=0",
        parseDuring,
      )
      .option("--max-per-hour <dollars>", "exit with 3 if all workersMax workers cost more an hour", dollars)
      .option("--max-at-rest <dollars>", "exit with 3 if all workersMin workers cost more an hour", dollars)
      .optionsGroup("Output:")
      .option("--html <file>", "also write a page with the verdict, tables and charts")
      .addOption(new Option("--json", "print one JSON object").conflicts("markdown"))
      .option("--markdown", "print Markdown, for a comment on a pull request"),
  examples: [
    "pulumi preview --json --show-sames | npx pulumi-serverless-gpu check",
    "npx pulumi-serverless-gpu check preview.json --max-per-hour 20 --allow zero=llama --markdown > check.md",
    "npx pulumi-serverless-gpu check --stack production --rehearse --from-state",
    "npx pulumi-serverless-gpu check --stack production --load records --max-p95 20s --max-during p95=60s,lost=0",
    "npx pulumi-serverless-gpu check --stack production --rehearse --creation",
  ],
  exitCodes: {
    0: "no danger was found, and no limit is exceeded",
    1: "failure; the message gives the reason. Nothing real was changed",
    2: "wrong usage: an unknown option, an invalid value of an option, or options that do not go together",
    3: "a limit (--max-…) is or can be exceeded, or cannot be checked, or --require-calibration is not met",
    4: "danger: the change loses data, ends or stops an endpoint, tries a rejected release again, is impossible, or fails in the rehearsal. It takes precedence over 3",
  },
  problem: (flags: CheckFlags, [file]) => checkProblem(file, flags),
  load: () => require("./check") as typeof import("./check"),
  run: ({ check }, flags, [file]) => check(file, flags, ownPackage().version),
});

/** Parses an amount in US dollars, ≥ 0. */
function dollars(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give US dollars an hour, such as 20 or 0.5.");
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

/** The emulator validates the rule. */
function parseFault(text: string, before: readonly FaultRule[] = []): readonly FaultRule[] {
  try {
    const value = JSON.parse(text.trim().startsWith("{") ? text : readFileSync(text, "utf8"));
    return [...before, ...(Array.isArray(value) ? value : [value])];
  } catch {
    throw new InvalidArgumentError(
      'Give a fault rule as JSON, such as {"effect":{"status":503},"times":1}, or a file with it.',
    );
  }
}

/** The options that need a rehearsal, and those that need a load. */
const OF_REHEARSALS = ["creation", "fromState", "withSecrets", "env", "fault"] as const;
const OF_LOADS = [
  "maxP95",
  "maxCost",
  "maxLost",
  "maxDuring",
  "requireCalibration",
  "endpoint",
  "for",
  "duration",
] as const;

const optionOf = (name: string) =>
  `--${name.replace(/[A-Z]|\d+/g, (part) => (/\d/.test(part) ? part : `-${part.toLowerCase()}`))}`;

/** Returns an error message if the options do not go together. */
function checkProblem(file: string | undefined, flags: CheckFlags): string | undefined {
  const { stack, load } = flags;
  if (file !== undefined && stack !== undefined)
    return "give a file or --stack, not both. The word after --stack is the name of the stack.";
  const ofLoad = OF_LOADS.find((name) => flags[name] !== undefined);
  if (ofLoad && load === undefined) return `${optionOf(ofLoad)} needs --load: it is about the jobs of a load`;
  if (isRehearsal(flags))
    return typeof stack === "string" ? undefined : "a rehearsal copies a stack: give --stack with its name";
  const ofRehearsal = OF_REHEARSALS.find((name) => flags[name] !== undefined);
  if (ofRehearsal) return `${optionOf(ofRehearsal)} needs --rehearse or --load`;
  if (typeof flags.prices === "number")
    return "--prices needs a file here, because a single price only works with --load";
  if (file !== undefined || stack !== undefined || !process.stdin.isTTY) return undefined;
  return "there is no preview: give a file, or --stack, or pipe pulumi preview --json --show-sames into it.";
}
