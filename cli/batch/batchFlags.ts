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
  readonly failed?: "keep" | "submit" | "accept";
  readonly store?: "results";
  readonly partial?: boolean;
  readonly settle?: string;
  readonly api?: string;
  readonly forget?: boolean;
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
        "the first line with the key, from 0",
    )
    .option(
      "--journal <place>",
      "a file, or postgres://… for several machines that share a batch (default: the output's name with .journal)",
    )
    .option(
      "--name <name>",
      "the batch's name in the journal (default: the name of the input file). Required with postgres://…",
    )
    .option("--key <field>", "the field of an input that is its unique key (default: a hash of the whole input)")
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
    .addOption(
      new Option(
        "--failed <what>",
        "inputs whose job failed in an earlier run: keep exits with 3 again, submit runs them again, accept exits with 0 " +
          "despite failed jobs (default: keep)",
      ).choices(["keep", "submit", "accept"]),
    )
    .addOption(
      new Option(
        "--store <what>",
        "keep the results in the journal too, so that a lost output can be written again at any time",
      ).choices(["results"]),
    )
    .option(
      "--partial",
      "write only the results that this process collects, because other processes write the rest to their own outputs",
    )
    .option(
      "--settle <file>",
      'before the run, give uncertain inputs the jobs that you found, with a line {"key", "jobId"} for each',
    )
    .option("--forget", "delete a finished batch from a database, and exit. If you run it again, every job runs again")
    .option("--print-sql", "print the SQL that creates the journal's tables, and exit")
    .addHelpText(
      "after",
      `
Examples:
  npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output results.jsonl
  npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output results.jsonl --journal postgres://batch@db/batches --name prompts

After Ctrl-C, the command submits no more jobs, and waits for the running ones. A second Ctrl-C leaves them running.

Exit codes:
  0  the output has a result for every input, and no job failed
  1  failure; the message gives the reason
  2  wrong usage: an unknown option, or an invalid value of an option
  3  all inputs were processed, but some failed, or have no result in the output; the messages name them
  4  interrupted; run it again to continue
They are about the whole input, whichever run processed it.`,
    );
}

/** Replaces the options of `runMany` in a message about an input with the command's flags. */
export function withFlagNames(message: string, key: string): string {
  const line = `{"key": ${JSON.stringify(key)}, "jobId": "…"}`;
  return message
    .replace(/run the batch with (uncertain|expired): "submit"$/, "run the command with --$1 submit")
    .replace(/\. Submit it again$/, ". To run its input again, run the command with --expired submit")
    .replace("record the job's id", `pass it with --settle, as ${line}`)
    .replace(
      "or submit with idempotent: true if",
      `pass a job that you find with --settle, as ${line}, or run the command with --uncertain submit if`,
    );
}

/** Returns `true` if `--journal` is the URL of a database. */
export function isDatabase(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/** Returns an error message if the options are invalid. */
export function batchProblem(endpoint: string | undefined, flags: BatchFlags): string | undefined {
  const { input, output, name, journal = "", printSql, forget } = flags;
  if (printSql) return undefined;
  if (forget && !isDatabase(journal))
    return "option '--forget' needs '--journal postgres://…'. For a file, delete the file";
  if (isDatabase(journal) && name === undefined)
    return "required option '--name <name>' not specified: others may share the database";
  if (forget) return undefined;
  if (endpoint === undefined) return "missing required argument 'endpoint'";
  if (input === undefined) return "required option '--input <file>' not specified";
  return output === undefined ? "required option '--output <file>' not specified" : undefined;
}
