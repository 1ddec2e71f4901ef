import { Option } from "commander";
import { declareCommand } from "../declareCommand";
import type { AdoptFlags } from "./adopt";

export const adoptCommand = declareCommand({
  name: "adopt",
  summary: "Write a Pulumi program that adopts the account's endpoints",
  description:
    "Writes a Pulumi program (TypeScript) to standard output. The program adopts the account's endpoints without " +
    "changing them. In a project, it leaves out what the project's stacks manage already. The command itself changes " +
    "nothing. With --from, it writes the program from the state of " +
    "another RunPod provider, and needs neither a key nor the service.",
  hasApi: true,
  options: (command) =>
    command
      .addOption(
        new Option("--from <state>", "the exported state of another Pulumi or Terraform provider for RunPod").conflicts(
          "all",
        ),
      )
      .option(
        "--import-file",
        'with --from: write the file for "pulumi import --file", for the plugin and any language',
      )
      .option("--filter <text>", "only endpoints with this text in their name, ignoring case")
      .option("--all", "also the serverless templates (without their variables) and the network volumes")
      .option("--out <file>", "write to this new file instead; if the command fails, it creates no file"),
  examples: [
    "npx pulumi-serverless-gpu adopt --out index.ts",
    "npx pulumi-serverless-gpu adopt --filter llama --out llama.ts",
    "npx pulumi-serverless-gpu adopt --all > index.ts",
    "npx pulumi-serverless-gpu adopt --from state.json --out index.ts",
    "npx pulumi-serverless-gpu adopt --from state.json --import-file > import.json",
  ],
  exitCodes: { 1: "failure, or an endpoint was left out that no stack manages; the message says why" },
  problem: ({ importFile, from }: AdoptFlags) =>
    importFile && from === undefined ? "option '--import-file' needs '--from <state>'" : undefined,
  load: () => require("./adopt") as typeof import("./adopt"),
  run: ({ adopt }, flags) => adopt(flags),
});
