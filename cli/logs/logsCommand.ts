import { Option } from "commander";
import { declareCommand } from "../declareCommand";
import { wholeNumberOption } from "../emulator/emulatorFlags";
import type { LogsFlags } from "./logs";

/** The maximum number of earlier lines that RunPod sends. */
const LONGEST_TAIL = 5_000;

export const logsCommand = declareCommand({
  name: "logs",
  summary: "Print the logs of an endpoint's workers",
  description:
    "Prints the workers' logs. It redacts known secrets, and values that look like secrets or are named like them. A program " +
    "can still print other secrets. Only REST v2 shows logs. If the project uses GraphQL, add --api v2.",
  argument: ["<endpoint>", "the id or the exact name of an endpoint"],
  hasApi: true,
  options: (command) =>
    command
      .option("-f, --follow", "also print new lines, and those of new workers, until you interrupt it (Ctrl-C)")
      .option("--worker <id>", "only this worker")
      .addOption(new Option("--source <name>", "only these lines").choices(["container", "system"]))
      .option(
        "--tail <n>",
        "the number of earlier lines of each worker (default: 100)",
        wholeNumberOption(LONGEST_TAIL),
      )
      .option("--json", 'print one JSON object for each line: {"workerId", "source", "line", "ts"}'),
  examples: [
    "npx pulumi-serverless-gpu logs llama",
    "npx pulumi-serverless-gpu logs llama --follow --source container",
    "npx pulumi-serverless-gpu logs abc123def456 --tail 20 --json",
  ],
  exitCodes: { 0: "success, or interrupted" },
  load: () => require("./logs") as typeof import("./logs"),
  run: ({ logs }, flags: LogsFlags, [endpoint = ""]) => logs(endpoint, flags),
});
