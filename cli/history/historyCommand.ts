import { declareCommand } from "../declareCommand";
import type { HistoryFlags } from "./history";

export const historyCommand = declareCommand({
  name: "history",
  summary: "List the releases of an endpoint",
  description:
    "Lists the releases of an endpoint, the newest first: when each was made, what made it, and which settings it changed. It " +
    "never prints values. Only REST v2 shows releases. If the project uses GraphQL, add --api v2.",
  argument: ["<endpoint>", "the id or the exact name of an endpoint"],
  hasApi: true,
  options: (command) =>
    command.option(
      "--json",
      'print one JSON object: {"endpoint", "releases": [{"release", "createdAt", "source", "fields"}]}',
    ),
  examples: ["npx pulumi-serverless-gpu history llama", "npx pulumi-serverless-gpu history abc123def456 --json"],
  exitCodes: { 2: "wrong usage: an unknown option, or no endpoint" },
  load: () => require("./history") as typeof import("./history"),
  run: ({ history }, flags: HistoryFlags, [endpoint = ""]) => history(endpoint, flags),
});
