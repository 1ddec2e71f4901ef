import { type Command, Option } from "commander";
import { EXIT_CODES } from "../exitCodes";

export function addAdoptFlags(command: Command): Command {
  return command
    .summary("Write a Pulumi program that adopts the account's endpoints")
    .description(
      "Writes a Pulumi program (TypeScript) that adopts the account's endpoints without changing them, to standard " +
        "output. The command itself changes nothing. With --from, the program comes " +
        "from the state of another provider for RunPod instead, and neither a key nor the service is needed.",
    )
    .addOption(
      new Option("--from <state>", "the exported state of another Pulumi or Terraform provider for RunPod").conflicts(
        "all",
      ),
    )
    .option("--import-file", 'with --from: write the file for "pulumi import --file", for the plugin and any language')
    .option("--filter <text>", "only endpoints with this text in their name, ignoring case")
    .option("--all", "also the serverless templates (without their variables) and the network volumes")
    .option("--out <file>", "write to this new file instead, and create none if the command fails")
    .addHelpText(
      "after",
      `
Examples:
  serverless-gpu adopt --out index.ts
  serverless-gpu adopt --filter llama --out llama.ts
  serverless-gpu adopt --all > index.ts
  serverless-gpu adopt --from state.json --out index.ts
  serverless-gpu adopt --from state.json --import-file > import.json
${EXIT_CODES}
It is also 1 if the program leaves something out; standard error names it, and says why.`,
    );
}
