import { type Command, Option } from "commander";
import { wholeNumberOption } from "../emulator/emulatorFlags";

/** The maximum number of earlier lines that RunPod sends. */
const LONGEST_TAIL = 5_000;

export function addLogsFlags(command: Command): Command {
  return command
    .summary("Print the logs of an endpoint's workers")
    .description(
      "Prints the workers' logs. It redacts known secrets, and values that look like secrets or are named like them. A program " +
        "can still print other secrets. Only REST v2 has logs: add --api v2 if the project uses GraphQL.",
    )
    .argument("<endpoint>", "the id or the exact name of an endpoint")
    .option("-f, --follow", "also print new lines, and those of new workers, until you interrupt it (Ctrl-C)")
    .option("--worker <id>", "only this worker")
    .addOption(new Option("--source <name>", "only these lines").choices(["container", "system"]))
    .option("--tail <n>", "the number of earlier lines of each worker (default: 100)", wholeNumberOption(LONGEST_TAIL))
    .option("--json", 'print one JSON object for each line: {"workerId", "source", "line", "ts"}')
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu logs llama
  npx pulumi-serverless-gpu logs llama --follow --source container
  npx pulumi-serverless-gpu logs abc123def456 --tail 20 --json

Exit codes:
  0  success, or interrupted
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or an invalid value of an option`,
    );
}
