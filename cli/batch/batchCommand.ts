import { Option } from "commander";
import { declareCommand } from "../declareCommand";
import { wholeNumberOption } from "../emulator/emulatorFlags";
import { type BatchFlags, isDatabase } from "./batchFlags";

export const batchCommand = declareCommand({
  name: "batch",
  summary: "Run a job for each line of a file",
  description:
    "Runs a job for each line of a file, and writes each result as a line. It records each job's id before it waits for the " +
    "job. Run the command again after Ctrl-C, a kill or a crash: it continues where it stopped, and submits no job twice.",
  argument: ["[endpoint]", "the id or the exact name of an endpoint"],
  hasApi: true,
  options: (command) =>
    command
      .option("--input <file>", "the inputs: one JSON object per line, each of which is the input of one job")
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
          "what to do if a job failed in an earlier run: exit with 3 again (keep), run its input again (submit), or exit with 0 " +
            "despite failed jobs (accept) (default: keep)",
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
        'before the run, assign the jobs that you found to uncertain inputs: one line {"key", "jobId"} for each input',
      )
      .option(
        "--forget",
        "delete a finished batch from a database, and exit. If you run it again, every job runs again",
      )
      .option("--print-sql", "print the SQL that creates the journal's tables, and exit"),
  notes: `After Ctrl-C, the command submits no more jobs, and waits for the running ones. A second Ctrl-C leaves them running.
The exit codes describe the whole input, regardless of which run processed it.`,
  examples: [
    "npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output results.jsonl",
    "npx pulumi-serverless-gpu batch llama --input prompts.jsonl --output results.jsonl --journal postgres://batch@db/batches --name prompts",
  ],
  exitCodes: {
    0: "the output has a result for every input, and no job failed",
    3: "all inputs were processed, but some failed, or have no result in the output; the messages name them",
    4: "interrupted; run it again to continue",
  },
  problem: (flags: BatchFlags, [endpoint]) => batchProblem(endpoint, flags),
  load: () => require("./batch") as typeof import("./batch"),
  run: ({ batch }, flags, [endpoint = ""]) => batch(endpoint, flags),
});

/** Returns an error message if the options are invalid. */
function batchProblem(endpoint: string | undefined, flags: BatchFlags): string | undefined {
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
