import type { Command } from "commander";

/** Adds the description and the options of the command, and the end of its help. */
export function addRollbackFlags(command: Command): Command {
  return command
    .summary("Say how the program takes an endpoint back to a release")
    .description(
      "Prints the change of the program that gives an endpoint the settings of an earlier release. It changes nothing " +
        "without --yes. With --yes it also changes the endpoint, which makes a new release; change the program as well, or " +
        "the next pulumi up takes that back. The values of variables are never printed. Only REST v2 shows releases: " +
        "add --api v2 if the project uses GraphQL.",
    )
    .argument("<endpoint>", "the id or the exact name of an endpoint")
    .option("--to <release>", "the id or the version of the release, from serverless-gpu history")
    .option(
      "--left",
      "the settings before an adoption that did not end on this machine; the endpoint is given by its id. Works over both APIs",
    )
    .option("--yes", "also change the endpoint")
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu rollback llama --to release-abc123-4
  serverless-gpu rollback llama --to 4 --yes
  serverless-gpu rollback abc123 --left --yes

Exit codes:
  0  success
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or no endpoint, or not one of --to and
     --left`,
    );
}
