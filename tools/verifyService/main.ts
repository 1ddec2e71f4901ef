import { Command, Option } from "commander";
import { say } from "../../cli/terminal";
import { type VerifyFlags, verifyService } from "./verifyService";

/** Compares the service with the emulator. It is not part of the package. */
function commandLine(): Command {
  return new Command("npm run verify:service --")
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
  npm run verify:service -- --template abc123
  npm run verify:service -- --template abc123 --run-jobs --gpu ADA_24 --yes --output after.json

Exit codes:
  0  the service matched the emulator in every rule that was played, and the endpoint was deleted
  1  a rule differs, the run is not complete, you did not confirm, or the endpoint could not be deleted: the message has
     its id, and says how to delete it
  2  wrong usage: an unknown option, no --template, or no --yes where there is no terminal`,
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (flags: VerifyFlags, command: Command) => {
      if (!flags.yes && !process.stdin.isTTY)
        command.error(
          "error: there is no terminal to ask for confirmation: read what the command does, then add --yes.",
        );
      process.exitCode = await verifyService(flags);
    });
}

commandLine()
  .parseAsync()
  .catch((error: unknown) => {
    say(`verify:service: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  });
