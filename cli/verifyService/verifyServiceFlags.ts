import { type Command, Option } from "commander";

export function addVerifyServiceFlags(command: Command): Command {
  return command
    .summary("Compare the service with the emulator, rule by rule")
    .description(
      "Checks which of the emulator's rules the service follows, with your key. First it says what it will create and what " +
        "that can cost, and asks for confirmation. It creates one endpoint that scales to zero, and always deletes it. It " +
        "needs a key, and the service or all three URLs.",
    )
    .requiredOption("--template <id>", "the endpoint's serverless template; it is not changed")
    .option("--yes", "do not ask for confirmation; needed where there is no terminal")
    .option("--run-jobs", "also run one job on one worker, which costs GPU time")
    .option("--gpu <pool>", "the GPU pool of the endpoint", "AMPERE_16")
    .addOption(
      new Option("--profile <name>", "the emulator profile to compare with")
        .choices(["contract", "observed"])
        .default("observed"),
    )
    .option("--output <file>", "the JSON file to create for the transcript", "verify-service.json")
    .addHelpText(
      "after",
      `
Standard output shows the transcript as a table. It contains no keys, no ids and nothing about your other endpoints.

Examples:
  npx pulumi-serverless-gpu verify-service --template abc123
  npx pulumi-serverless-gpu verify-service --template abc123 --run-jobs --gpu ADA_24 --yes --output after.json

Exit codes:
  0  the service matched the emulator in every rule that was played, and the endpoint was deleted
  1  a rule differs, the run is not complete, you did not confirm, or the endpoint could not be deleted: the message has
     its id, and says how to delete it
  2  wrong usage: an unknown option, no --template, or no --yes where there is no terminal`,
    );
}
