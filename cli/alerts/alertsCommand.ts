import { type Command, InvalidArgumentError } from "commander";
import { declareCommand } from "../declareCommand";
import type { AlertsFlags } from "./alerts";
import type { AlertsTestFlags } from "./alertsTest";

const alertsTestCommand = declareCommand({
  name: "test",
  summary: "Simulate faults in the emulator, and check the rules",
  description:
    "Simulates each kind of fault in the emulator, with the stack's endpoints, and checks with promtool that the right " +
    "rules fire, and no others. Writes the rules and their tests to files. Needs promtool, which comes with Prometheus. " +
    "It sends nothing to the service.",
  hasApi: true,
  options: (command) =>
    addRuleFlags(command)
      .option(
        "--out <file>",
        "the file to write the rules to; the tests for rules.yml go to rules.test.yml (default: rules.yml)",
      )
      .option("--week", "simulate a week without faults instead of a day"),
  examples: [
    "npx pulumi-serverless-gpu alerts test --stack prod --out rules.yml",
    "npx pulumi-serverless-gpu alerts test --week",
  ],
  load: () => require("./alertsTest") as typeof import("./alertsTest"),
  run: ({ alertsTest }, flags: AlertsTestFlags) => alertsTest(flags),
});

export const alertsCommand = declareCommand({
  name: "alerts",
  summary: "Write Prometheus rules and a dashboard from the stack's state",
  usage: "[options]\n       serverless-gpu alerts test [options]",
  description:
    "Writes alerting rules for the metrics that npx pulumi-serverless-gpu metrics exports. The thresholds come from the settings in " +
    "the stack's state, so run this again when they change. It sends nothing to the service.",
  options: (command) =>
    addRuleFlags(command)
      .option("--out <file>", "the file to write the rules to (default: standard output)")
      .option("--dashboard <file>", "also write a Grafana dashboard to this file"),
  examples: [
    "npx pulumi-serverless-gpu alerts --stack prod --out rules.yml --dashboard dashboard.json",
    "npx pulumi-serverless-gpu alerts --spend-cap 20 --failure-share 0.05 --out rules.yml",
    "npx pulumi-serverless-gpu alerts test --out rules.yml",
  ],
  load: () => require("./alerts") as typeof import("./alerts"),
  run: ({ alerts }, flags: AlertsFlags) => alerts(flags),
  subcommands: [alertsTestCommand],
});

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

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
  };
}
