import { type Command, InvalidArgumentError } from "commander";

export interface AlertsFlags {
  /** The file to write the rules to. @default standard output */
  readonly out?: string;
  /** The file to write the Grafana dashboard to. @default none */
  readonly dashboard?: string;
  readonly failureShare?: number;
  readonly spendCap?: number;
  readonly stale?: number;
}

export function addAlertsFlags(command: Command): Command {
  return command
    .summary("Write Prometheus rules and a dashboard")
    .description(
      "Writes alerting rules for the metrics that npx pulumi-serverless-gpu metrics exports. They fit every account and " +
        "every number of exporters, and stay valid when endpoints change. It reads nothing, and sends nothing to the service.",
    )
    .option("--failure-share <share>", "fire if at least this share of jobs fails (default: 0.1)", number(0, 1))
    .option(
      "--spend-cap <dollars>",
      "fire if the cost in US dollars an hour exceeds this (default: 80 % of the account's spend limit)",
      number(0, 1_000_000),
    )
    .option("--stale <minutes>", "fire if no read has succeeded for this long (default: 10)", number(7, 1440))
    .option("--out <file>", "the file to write the rules to (default: standard output)")
    .option("--dashboard <file>", "also write a Grafana dashboard to this file")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu alerts --out rules.yml --dashboard dashboard.json
  npx pulumi-serverless-gpu alerts --spend-cap 20 --failure-share 0.05 --out rules.yml

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or an invalid value of an option`,
    );
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
  };
}
