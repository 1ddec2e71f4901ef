import { type Command, Option } from "commander";
import { wholeNumberOption } from "../emulator/emulatorFlags";

export interface BatchFlags {
  readonly input?: string;
  readonly output?: string;
  readonly journal?: string;
  readonly name?: string;
  readonly key?: string;
  readonly concurrency?: number;
  readonly uncertain?: "submit";
  readonly expired?: "submit";
  readonly api?: string;
  readonly printSql?: boolean;
}

export function addBatchFlags(command: Command): Command {
  return command
    .summary("Run a job for each line of a file")
    .description(
      "Runs a job for each line of a file, and writes each result as a line. It records each job's id before it waits for the " +
        "job. Run the command again after Ctrl-C, a kill or a crash: it continues where it stopped, and submits no job twice.",
    )
    .argument("[endpoint]", "the id or the exact name of an endpoint")
    .option("--input <file>", "the inputs: a JSON object on each line, the input of one job")
    .option(
      "--output <file>",
      'the results: {"key", "index", "jobId", "output"} or "error", one line for each key. The index is the number of ' +
        "the input's line, from 0",
    )
    .option(
      "--journal <place>",
      "a file, or postgres://… for several machines that share a batch (default: the output's name with .journal)",
    )
    .option("--name <name>", "the batch's name in the journal (default: the name of the input file)")
    .option("--key <field>", "the field of an input that is its key (default: a hash of the whole input)")
    .option("--concurrency <n>", "the largest number of jobs at once (default: 100)", wholeNumberOption(100_000))
    .addOption(
      new Option(
        "--uncertain <what>",
        "submit an input again if its submit got no response, although the job may then run twice",
      ).choices(["submit"]),
    )
    .addOption(
      new Option("--expired <what>", "submit an input again if the service no longer keeps its result").choices([
        "submit",
      ]),
    )
    .option("--print-sql", "print the SQL that creates the journal's tables, and exit")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output results.jsonl
  npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output part1.jsonl --journal postgres://batch@db/batches

After Ctrl-C, the command submits no more jobs, and waits for the running ones. A second Ctrl-C leaves them running.

Exit codes:
  0  all inputs have a result, and no job failed
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or an invalid value of an option
  3  all inputs were processed, but some failed, expired or are uncertain; the messages name them
  4  interrupted; run it again to continue`,
    );
}

/** Replaces the options of `runMany` in a message with the command's flags. */
export function withFlagNames(message: string): string {
  return message
    .replace(/run the batch with (uncertain|expired): "submit"$/, "run the command with --$1 submit")
    .replace("or submit with idempotent: true if", "or run the command with --uncertain submit if");
}

/** Returns an error message if the options are invalid. */
export function batchProblem(
  endpoint: string | undefined,
  { input, output, printSql }: BatchFlags,
): string | undefined {
  if (printSql) return undefined;
  if (endpoint === undefined) return "missing required argument 'endpoint'";
  if (input === undefined) return "required option '--input <file>' not specified";
  return output === undefined ? "required option '--output <file>' not specified" : undefined;
}
