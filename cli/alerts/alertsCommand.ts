import { InvalidArgumentError } from "commander";
import { declareCommand } from "../declareCommand";
import type { AlertsFlags } from "./alerts";

export const alertsCommand = declareCommand({
  name: "alerts",
  summary: "Write Prometheus rules and a dashboard",
  description:
    "Writes alerting rules for the metrics that npx pulumi-serverless-gpu metrics exports. They fit every account and " +
    "every number of exporters, and stay valid when endpoints change. It reads nothing, and sends nothing to the service.",
  options: (command) =>
    command
      .option("--failure-share <share>", "fire if at least this share of jobs fails (default: 0.1)", number(0, 1))
      .option(
        "--spend-cap <dollars>",
        "fire if the cost in US dollars an hour exceeds this (default: 80 % of the account's spend limit)",
        number(0, 1_000_000),
      )
      .option("--stale <minutes>", "fire if no read has succeeded for this long (default: 10)", number(7, 1440))
      .option("--out <file>", "the file to write the rules to (default: standard output)")
      .option("--dashboard <file>", "also write a Grafana dashboard to this file"),
  examples: [
    "npx pulumi-serverless-gpu alerts --out rules.yml --dashboard dashboard.json",
    "npx pulumi-serverless-gpu alerts --spend-cap 20 --failure-share 0.05 --out rules.yml",
  ],
  load: () => require("./alerts") as typeof import("./alerts"),
  run: ({ alerts }, flags: AlertsFlags) => alerts(flags),
});

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
  };
}
