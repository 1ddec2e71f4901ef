import { declareCommand } from "../declareCommand";
import type { RollbackFlags } from "./rollback";

export const rollbackCommand = declareCommand({
  name: "rollback",
  summary: "Show how to return an endpoint to an earlier release",
  description:
    "Shows how to return an endpoint to an earlier release: it prints the change to make in the program, and changes " +
    "nothing. With --yes it also changes the endpoint, which makes a new release. Change the program as well, because " +
    "otherwise the next pulumi up undoes the rollback. The values of variables are never printed. Only REST v2 shows releases: " +
    "add --api v2 if the project uses GraphQL.",
  argument: ["<endpoint>", "the id or the exact name of an endpoint"],
  hasApi: true,
  options: (command) =>
    command
      .option("--to <release>", "the id or the version of the release, as the command history shows it")
      .option(
        "--left",
        "restore the settings from before an adoption that was interrupted on this machine; give the id of the endpoint. Works over both APIs",
      )
      .option("--yes", "also change the endpoint"),
  examples: [
    "npx pulumi-serverless-gpu rollback llama --to release-abc123-4",
    "npx pulumi-serverless-gpu rollback llama --to 4 --yes",
    "npx pulumi-serverless-gpu rollback abc123 --left --yes",
  ],
  exitCodes: { 2: "wrong usage: an unknown option, or no endpoint, or not exactly one of --to and --left" },
  problem: ({ to, left }: RollbackFlags) =>
    (to === undefined) !== (left === true) ? "give either --to or --left" : undefined,
  load: () => require("./rollback") as typeof import("./rollback"),
  run: ({ rollback }, flags, [endpoint = ""]) => rollback(endpoint, flags),
});
