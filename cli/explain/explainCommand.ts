import { declareCommand } from "../declareCommand";
import { ownPackage } from "../ownPackage";
import type { ExplainFlags } from "./explain";

export const explainCommand = declareCommand({
  name: "explain",
  summary: "Explain why an endpoint's jobs or workers wait",
  description:
    "Prints the most likely cause, what to do about it, and the evidence. If the evidence fits several causes equally " +
    "well, it prints them all. It changes nothing. REST v2 shows more than GraphQL.",
  argument: ["[endpoint]", "the id or the exact name of an endpoint"],
  hasApi: true,
  options: (command) =>
    command
      .option(
        "--stack [name]",
        "all endpoints in the state of this stack (if you give no name: the folder's selected stack)",
      )
      .option("--logs", "also read the logs of up to three workers, and show the last three lines, redacted (REST v2)")
      .option("--json", 'print one JSON object: {"version", "endpoints": [{"causes", "certainty", "evidence", …}]}'),
  examples: [
    "npx pulumi-serverless-gpu explain llama",
    "npx pulumi-serverless-gpu explain abc123def456 --logs --api v2",
    "npx pulumi-serverless-gpu explain --stack dev --json",
  ],
  exitCodes: {
    0: "success, regardless of the cause",
    2: "wrong usage: an unknown option, or not exactly one of an endpoint and --stack",
  },
  problem: ({ stack }: ExplainFlags, [endpoint]) => explainProblem(endpoint, stack),
  load: () => require("./explain") as typeof import("./explain"),
  run: ({ explain }, flags, [endpoint]) => explain(endpoint, flags, ownPackage().version),
});

/** Returns an error message if the choice of endpoints is invalid. */
function explainProblem(endpoint: string | undefined, stack: string | true | undefined): string | undefined {
  if (endpoint === undefined && stack === undefined) return "give the id or the name of an endpoint, or --stack.";
  if (endpoint === undefined || stack === undefined) return undefined;
  return "give an endpoint or --stack, not both. The word after --stack is the name of the stack.";
}
