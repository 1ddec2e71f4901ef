import type { Command } from "commander";

const collect = (value: string, all: readonly string[] = []) => [...all, value];

/** Adds the description and the options of the command, and the end of its help. */
export function addOrphansFlags(command: Command): Command {
  return command
    .summary("Find records that no stack manages any more")
    .description(
      "Lists the account's endpoints, templates, network volumes, registry credentials and secrets whose name has the form " +
        "of this tool's automatic names and that no given state has, with what they cost a month. All stacks of the backend " +
        "that pulumi uses in this folder count, or with --backend those of other backends. It changes nothing without " +
        "--delete. A record is only a possible orphan unless --ended names its stack: a state in a backend that was not " +
        "read may have it.",
    )
    .option("--stack <name>", "a stack whose state counts, with all others of its backend; several times", collect)
    .option("--backend <url>", "a backend of which all stacks count; several times", collect)
    .option(
      "--ended <name>",
      "organization/project/stack that exists no more, to prove what it left; several times",
      collect,
    )
    .option(
      "--namespace <name>",
      "a value of the stacks' config serverless-gpu:namespace, for the same; several times",
      collect,
    )
    .option("--prices <file>", "prices to use instead of the service's, as for forecast")
    .option("--json", "print one JSON object")
    .option(
      "--delete <id>",
      "delete this one: an endpoint after its workers have stopped, others when nothing uses them",
    )
    .option(
      "--runs-have-ended",
      "with --delete, for what is younger than an hour or has no known age: no run is going that could have created it",
    )
    .option(
      "--nobody-manages-it",
      "with --delete, for a possible orphan: no state has it, also none in a backend that was not read",
    )
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu orphans
  serverless-gpu orphans --backend s3://my-state --backend s3://their-state --json
  serverless-gpu orphans --backend s3://my-state --ended organization/llama/pr-7 --delete abc123 --runs-have-ended

Exit codes:
  0  there is no orphan, or --delete has deleted one
  1  failure; the message gives the reason. A state or a list that cannot be read is a failure
  2  wrong usage: an unknown option, or an invalid value of an option
  3  there are orphans
  4  there are only possible orphans
  5  there are none, but no record of the states exists in this account: the key is probably of another one`,
    );
}
