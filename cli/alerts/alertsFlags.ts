import { type Command, InvalidArgumentError } from "commander";
import type { ManagementApi } from "../../sdk";
import type { StackFlag } from "../stack";

export interface AlertsFlags {
  /** The stack's name; `true` for the selected stack. @default the selected stack */
  readonly stack?: StackFlag;
  /** The file to write the rules to. @default standard output */
  readonly out?: string;
  /** The file to write the Grafana dashboard to. @default none */
  readonly dashboard?: string;
  readonly failureShare?: number;
  readonly spendCap?: number;
  readonly stale?: number;
}

export interface AlertsTestFlags extends AlertsFlags {
  readonly api?: ManagementApi;
  readonly week?: boolean;
}

const EXIT = `
Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or an invalid value of an option`;

/** Adds the options that determine the rules. */
function addRuleFlags(command: Command): Command {
  return command
    .option("--stack [name]", "the stack whose endpoints get rules (default: the selected one)")
    .option("--failure-share <share>", "fire if at least this share of jobs fails (default: 0.1)", number(0, 1))
    .option(
      "--spend-cap <dollars>",
      "fire if the cost in US dollars an hour exceeds this (default: 80 % of the account's spend limit)",
      number(0, 1_000_000),
    )
    .option("--stale <minutes>", "fire if no read has succeeded for this long (default: 10)", number(3, 1440));
}

export function addAlertsFlags(command: Command): Command {
  return addRuleFlags(command)
    .summary("Write Prometheus rules and a dashboard from the stack's state")
    .usage("[options]\n       serverless-gpu alerts test [options]")
    .description(
      "Writes alerting rules for the metrics that npx pulumi-serverless-gpu metrics exports. The thresholds come from the settings in " +
        "the stack's state, so run this again when they change. It sends nothing to the service.",
    )
    .option("--out <file>", "the file to write the rules to (default: standard output)")
    .option("--dashboard <file>", "also write a Grafana dashboard to this file")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu alerts --stack prod --out rules.yml --dashboard dashboard.json
  npx pulumi-serverless-gpu alerts --spend-cap 20 --failure-share 0.05 --out rules.yml
  npx pulumi-serverless-gpu alerts test --out rules.yml
${EXIT}`,
    );
}

export function addAlertsTestFlags(command: Command): Command {
  return addRuleFlags(command)
    .summary("Simulate faults in the emulator, and check the rules")
    .description(
      "Simulates each kind of fault in the emulator, with the stack's endpoints, and checks with promtool that the right " +
        "rules fire, and no others. Writes the rules and their tests to files. Needs promtool, which comes with Prometheus. " +
        "It sends nothing to the service.",
    )
    .option(
      "--out <file>",
      "the file to write the rules to; the tests for rules.yml go to rules.test.yml (default: rules.yml)",
    )
    .option("--week", "simulate a week without faults instead of a day")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu alerts test --stack prod --out rules.yml
  npx pulumi-serverless-gpu alerts test --week
${EXIT}`,
    );
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
  };
}
