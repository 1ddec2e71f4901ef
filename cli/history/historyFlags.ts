import type { Command } from "commander";

export function addHistoryFlags(command: Command): Command {
  return command
    .summary("List the releases of an endpoint")
    .description(
      "Lists the releases of an endpoint, the newest first: when each was made, what made it, and which settings it changed. It " +
        "never prints values. Only REST v2 shows releases: add --api v2 if the project uses GraphQL.",
    )
    .argument("<endpoint>", "the id or the exact name of an endpoint")
    .option("--json", 'print one JSON object: {"endpoint", "releases": [{"release", "createdAt", "source", "fields"}]}')
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu history llama
  npx pulumi-serverless-gpu history abc123def456 --json

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or no endpoint`,
    );
}
