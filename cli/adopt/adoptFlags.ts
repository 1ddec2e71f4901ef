import { type Command, Option } from "commander";
import { EXIT_CODES } from "../exitCodes";

export function addAdoptFlags(command: Command): Command {
  return command
    .summary("Write a Pulumi program that adopts the account's endpoints")
    .description(
      "Writes a Pulumi program (TypeScript) to standard output. The program adopts the account's endpoints without " +
        "changing them. The command itself changes nothing. With --from, it writes the program from the state of " +
        "another RunPod provider, and needs neither a key nor the service.",
    )
    .addOption(
      new Option("--from <state>", "the exported state of another Pulumi or Terraform provider for RunPod").conflicts(
        "all",
      ),
    )
    .option("--import-file", 'with --from: write the file for "pulumi import --file", for the plugin and any language')
    .option("--filter <text>", "only endpoints with this text in their name, ignoring case")
    .option("--all", "also the serverless templates (without their variables) and the network volumes")
    .option("--out <file>", "write to this new file instead; if the command fails, it creates no file")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu adopt --out index.ts
  npx pulumi-serverless-gpu adopt --filter llama --out llama.ts
  npx pulumi-serverless-gpu adopt --all > index.ts
  npx pulumi-serverless-gpu adopt --from state.json --out index.ts
  npx pulumi-serverless-gpu adopt --from state.json --import-file > import.json
${EXIT_CODES}
The code is also 1 if the program leaves something out. Standard error says what, and why.`,
    );
}
