import { declareCommand } from "../declareCommand";
import { ownPackage } from "../ownPackage";
import type { OrphansFlags } from "./orphans";

const collect = (value: string, all: readonly string[] = []) => [...all, value];

export const orphansCommand = declareCommand({
  name: "orphans",
  summary: "Find resources that no stack manages",
  description:
    "Lists the account's endpoints, templates, network volumes, registry credentials and secrets that have an automatic " +
    "name but are in no state, and what they cost a month. It reads all stacks of the backend that pulumi uses in this " +
    "folder, or of each --backend. It changes nothing without --delete. A resource is only a possible orphan unless " +
    "--ended names its stack, because it may be in a state that was not read.",
  hasApi: true,
  options: (command) =>
    command
      .option(
        "--stack <name>",
        "a stack to read. All other stacks in its backend are read too. Can be repeated",
        collect,
      )
      .option("--backend <url>", "a backend whose stacks to read; can be repeated", collect)
      .option(
        "--ended <name>",
        "a deleted stack (organization/project/stack) whose resources count as orphans; can be repeated",
        collect,
      )
      .option(
        "--namespace <name>",
        "a serverless-gpu:namespace of deleted stacks, in addition to those in this folder's project; can be repeated",
        collect,
      )
      .option(
        "--all",
        "include resources whose names are not automatic, such as those that a stack has released (adoptId)",
      )
      .option("--prices <file>", "prices to use instead of the service's, as for forecast")
      .option("--json", "print one JSON object")
      .option(
        "--delete <id>",
        "delete this resource: an endpoint once its workers have stopped, anything else only if it is not in use",
      )
      .option(
        "--runs-have-ended",
        "with --delete, confirm that no run that could have created the resource is still active; needed if it is younger than an hour or of unknown age",
      )
      .option(
        "--nobody-manages-it",
        "with --delete, confirm that a possible orphan is in no state of any backend, or that nobody uses an endpoint that has run jobs",
      ),
  examples: [
    "npx pulumi-serverless-gpu orphans",
    "npx pulumi-serverless-gpu orphans --backend s3://my-state --backend s3://their-state --json",
    "npx pulumi-serverless-gpu orphans --backend s3://my-state --ended organization/llama/pr-7 --delete abc123 --runs-have-ended",
  ],
  exitCodes: {
    0: "there is no orphan, or --delete deleted it",
    1: "failure; the message gives the reason. A state or a list that cannot be read is a failure",
    3: "there are orphans",
    4: "there are only possible orphans",
    5: "no resource in the states exists in this account, so the key probably belongs to another one. If there are orphans, they are only possible ones",
  },
  load: () => require("./orphans") as typeof import("./orphans"),
  run: ({ orphans }, flags: OrphansFlags) => orphans(flags, ownPackage().version),
});
