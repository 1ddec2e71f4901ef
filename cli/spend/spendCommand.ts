import { InvalidArgumentError } from "commander";
import { declareCommand } from "../declareCommand";
import type { SpendFlags } from "./spend";

export const spendCommand = declareCommand({
  name: "spend",
  summary: "Print what endpoints have cost this month",
  description:
    "Prints the amount of each endpoint, the most expensive first, as far as RunPod has billed it: a charge can appear an " +
    "hour late. Months are in UTC. GraphQL also shows the billed seconds. It changes nothing.",
  hasApi: true,
  options: (command) =>
    command
      .option(
        "--stack [name]",
        "only endpoints in the state of this stack (if you give no name: the folder's selected stack)",
      )
      .option("--month <yyyy-mm>", "another month than the current one", month)
      .option(
        "--json",
        'print one JSON object: {"version", "amount", "from", "to", "endpoints": [{"id", "amount", …}], …}',
      ),
  examples: [
    "npx pulumi-serverless-gpu spend",
    "npx pulumi-serverless-gpu spend --stack prod --month 2026-10",
    "npx pulumi-serverless-gpu spend --json",
  ],
  load: () => require("./spend") as typeof import("./spend"),
  run: ({ spend }, flags: SpendFlags) => spend(flags),
});

/** Returns the beginning of a month in UTC. */
function month(text: string): Date {
  if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) throw new InvalidArgumentError("It must be a month, such as 2026-10.");
  return new Date(`${text}-01T00:00:00Z`);
}
