import { type Command, InvalidArgumentError, Option } from "commander";

export function addReviewFlags(command: Command): Command {
  return command
    .summary("Review a change: its cost, and whether it can start")
    .description(
      "Reads the JSON of a preview, and prints what the change costs, what the service's catalog and the account's limits make " +
        "impossible or unlikely, and which network volumes it deletes. It changes nothing. Without a key or a network, it checks " +
        "what it can, and lists what it could not check.",
    )
    .argument("[file]", "the output of pulumi preview --json --show-sames (default: standard input)")
    .option("--stack [name]", "run the preview for this stack, or for the selected one, in this folder")
    .option("--max-per-hour <dollars>", "fail if all workersMax workers cost more an hour", dollars)
    .option("--max-at-rest <dollars>", "fail if all workersMin workers cost more an hour", dollars)
    .option("--prices <file>", "prices to use instead of the service's, as for forecast")
    .option("--strict", "also fail because of low stock and of limits that may hold workers back")
    .addOption(new Option("--json", "print one JSON object").conflicts("markdown"))
    .option("--markdown", "print Markdown, for a comment on a pull request")
    .addHelpText(
      "after",
      `
Examples:
  pulumi preview --json --show-sames | npx pulumi-serverless-gpu review
  npx pulumi-serverless-gpu review --stack dev --max-per-hour 20 --max-at-rest 2
  npx pulumi-serverless-gpu review preview.json --markdown > review.md

Exit codes:
  0  no cap is exceeded, and nothing is impossible
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, an invalid value of an option, or both a file and --stack
  3  --max-per-hour or --max-at-rest is exceeded, or cannot be checked because a cost is not known
  4  the catalog or the quota makes part of the change impossible; with --strict also if it is unlikely`,
    );
}

/** Parses an amount in US dollars, ≥ 0. */
function dollars(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give US dollars an hour, such as 20 or 0.5.");
}

/** Returns an error message if the source of the preview is invalid. */
export function reviewProblem(file: string | undefined, stack: string | true | undefined): string | undefined {
  if (file !== undefined && stack !== undefined)
    return "give a file or --stack, not both. The word after --stack is the name of the stack.";
  if (file !== undefined || stack !== undefined || !process.stdin.isTTY) return undefined;
  return "there is no preview: give a file, or --stack, or pipe pulumi preview --json --show-sames into it.";
}
