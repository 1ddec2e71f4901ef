import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { FaultRule } from "../../emulator";
import type { Duration } from "../../emulator/forecast/load";
import { addPlayFlags, type PlayFlags } from "../forecast/forecastFlags";
import { parseDuration, parseTime } from "../forecast/values";

/** The options of `serverless-gpu rehearse`. */
export interface RehearseFlags extends PlayFlags {
  /** A file of jobs, or the folder of a recording, to play. */
  readonly load?: string;
  readonly endpoint?: string;
  readonly for?: number;
  readonly duration?: Duration;
  /** The stack to copy. With `creation`, only its config is used. */
  readonly stack: string;
  readonly creation?: boolean;
  readonly fromState?: boolean;
  readonly withSecrets?: boolean;
  /** Names of environment variables to pass to the program. */
  readonly env?: readonly string[];
  readonly fault?: readonly FaultRule[];
  readonly maxPerHour?: number;
  readonly maxAtRest?: number;
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
  /** The page to write, too. */
  readonly html?: string;
}

export function addRehearseFlags(command: Command): Command {
  const first = command
    .summary("Rehearse a change on a copy of a stack")
    .description(
      "Copies a stack's state into a temporary backend, applies the program in this folder to the copy with the real engine " +
        "and the emulator, and prints what would change. The account, the stack and the resources of other providers stay " +
        "as they are. The program gets no API key, no backend credentials and, by default, no secrets.",
    )
    .requiredOption("--stack <name>", "the stack to copy")
    .option("--creation", "start without the stack's state, and use only its config file: for changes from forks")
    .option("--from-state", "take the account's resources from the state alone; needs no key")
    .option(
      "--with-secrets",
      "decrypt the secrets of state and config for the rehearsal. Only for branches that you trust",
    )
    .option("--env <name...>", "environment variables that the program may read, in addition to PATH and a few others")
    .option(
      "--fault <rule...>",
      "fault rules for the emulator while the change is applied: JSON, or a JSON file",
      parseFault,
    )
    .optionsGroup("Load:")
    .option(
      "--load <file>",
      "simulate these jobs before, after and through the change: a file or the folder of a recording, as for forecast",
    )
    .option("--endpoint <name>", "the endpoint of the load, if there are several")
    .option("--for <time>", "time span to simulate (default: the whole load)", parseTime)
    .option(
      "--duration <time>",
      "how long a job takes, such as 8s or 2s..10s, for loads without durations",
      parseDuration,
    );
  return addPlayFlags(first)
    .option("--max-per-hour <dollars>", "fail if all workersMax workers cost more an hour", dollars)
    .option("--max-at-rest <dollars>", "fail if all workersMin workers cost more an hour", dollars)
    .option("--strict", "also fail because of low stock and of limits that may hold workers back")
    .optionsGroup("Output:")
    .option("--html <file>", "also write a page with the verdict, tables and charts")
    .addOption(new Option("--json", "print one JSON object").conflicts("markdown"))
    .option("--markdown", "print Markdown, for a comment on a pull request")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu rehearse --stack production --from-state
  npx pulumi-serverless-gpu rehearse --stack production --max-per-hour 20 --markdown > rehearsal.md
  npx pulumi-serverless-gpu rehearse --stack production --load records --max-p95 20s --max-during p95=60s,lost=0
  npx pulumi-serverless-gpu rehearse --stack production --load records --require-calibration --html rehearsal.html
  npx pulumi-serverless-gpu rehearse --stack production --creation

Exit codes:
  0  the change can be applied, no cap is exceeded, and no data is lost
  1  failure; the message gives the reason. Nothing real was changed
  2  wrong usage: an unknown option, an invalid value of an option, or a limit of the load without --load
  3  a limit (--max-…) is or can be exceeded, or cannot be checked because a cost is not known, or
     --require-calibration is not met
  4  the change deletes data, is impossible, or fails when it is applied or followed by a preview or a destroy`,
    );
}

/** Returns an error message if a limit of the load is given without a load. */
export function rehearseProblem(flags: RehearseFlags): string | undefined {
  const { load, maxP95, maxCost, maxLost, maxDuring, requireCalibration } = flags;
  const limits = {
    "--max-p95": maxP95,
    "--max-cost": maxCost,
    "--max-lost": maxLost,
    "--max-during": maxDuring,
    "--require-calibration": requireCalibration,
  };
  const given = Object.entries(limits).find(([, limit]) => limit !== undefined);
  return given && load === undefined ? `${given[0]} needs --load: it is about the jobs of a load` : undefined;
}

function dollars(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give US dollars an hour, such as 20 or 0.5.");
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
