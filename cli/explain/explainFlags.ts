import type { Command } from "commander";

export function addExplainFlags(command: Command): Command {
  return command
    .summary("Explain why an endpoint's jobs or workers wait")
    .description(
      "Prints the most likely cause, what to do about it, and the evidence. If the evidence fits several causes equally " +
        "well, it prints them all. It changes nothing. REST v2 shows more than GraphQL.",
    )
    .argument("[endpoint]", "the id or the exact name of an endpoint")
    .option("--stack [name]", "all endpoints in the state of this stack, or of the selected one, in this folder")
    .option("--logs", "also read the logs of up to three workers, and show the last three lines, redacted (REST v2)")
    .option("--json", 'print one JSON object: {"version", "endpoints": [{"causes", "certainty", "evidence", …}]}')
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu explain llama
  npx pulumi-serverless-gpu explain abc123def456 --logs --api v2
  npx pulumi-serverless-gpu explain --stack dev --json

Exit codes:
  0  success, whatever the cause is
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or not exactly one of an endpoint and --stack`,
    );
}

/** Returns an error message if the choice of endpoints is invalid. */
export function explainProblem(endpoint: string | undefined, stack: string | true | undefined): string | undefined {
  if (endpoint === undefined && stack === undefined) return "give the id or the name of an endpoint, or --stack.";
  if (endpoint === undefined || stack === undefined) return undefined;
  return "give an endpoint or --stack, not both. The word after --stack is the name of the stack.";
}
