import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import {
  type Batch,
  type BatchResult,
  createClient,
  JobFailedError,
  POSTGRES_SCHEMA,
  SubmitUncertainError,
  type UnrecordedJob,
} from "../../sdk";
import { watchLock } from "../../sdk/contract/fileLock";
import { placeOf } from "../../sdk/journal/fileJournal";
import { commandConnection } from "../connection/connection";
import { endpointId } from "../explain/endpointId";
import { printLines, say } from "../terminal";
import { type BatchFlags, isDatabase } from "./batchFlags";
import { BatchInputs } from "./batchInputs";
import { caughtUp } from "./caughtUp";
import { countLines, keyIn } from "./inputLines";
import { listen } from "./interrupts";
import { forget, openJournal } from "./openJournal";
import { OutputFile } from "./outputFile";
import { createTally, progressLine, showProgress, type Tally } from "./progress";
import { settle } from "./settle";

/** The maximum number of results to write at once. */
const LARGEST_GROUP = 200;

const INTERRUPTED = 4;
const NOT_ALL = 3;

/** Runs a job for each line of the input file. Returns the exit code. */
export async function batch(endpoint: string, flags: BatchFlags): Promise<number> {
  const { input = "", output = "", name = path.basename(input), journal: place = `${output}.journal` } = flags;
  if (flags.printSql) {
    printLines(POSTGRES_SCHEMA.trimEnd().split("\n"));
    return 0;
  }
  if (flags.forget) {
    await forget(place, name);
    return 0;
  }
  const isFile = (await stat(input)).isFile();
  await requireOwnFiles({ "--input": input, "--output": output, "--journal": place });
  const tally = createTally(isFile ? await countLines(input) : undefined);
  const client = createClient({ ...(await commandConnection({ api: flags.api })), logger: sayPause });
  const interrupts = listen();
  let file: OutputFile | undefined;
  try {
    // The command locks two files. If the process that held both locks was killed, it must wait
    // only once.
    if (!isDatabase(place)) await watchLock(await placeOf(place));
    file = await OutputFile.open(output);
    const lines = new BatchInputs(flags, file, tally);
    const journal = await openJournal(place, !file.isEmpty);
    try {
      const id = await endpointId(client, endpoint);
      const identity = { batch: name, endpointId: id, keyVersion: flags.key ?? "input" };
      if (flags.settle !== undefined) await settle(journal.journal, identity, flags.settle);
      const results = file;
      const running = client.endpoint(id).runMany(lines.read(), {
        journal: caughtUp(journal.journal, file),
        batch: name,
        key: flags.key === undefined ? undefined : (given) => keyIn(given, flags.key),
        keyVersion: identity.keyVersion,
        delivery: "done",
        redeliver: flags.partial ? undefined : (key) => !results.has(key),
        store: flags.store,
        concurrency: flags.concurrency,
        uncertain: flags.uncertain,
        expired: flags.expired,
        failed: flags.failed === "submit" ? "submit" : "keep",
        signal: interrupts.signal,
      });
      interrupts.onDrain(() => running.drain());
      const hide = showProgress(tally, running);
      await writeResults(running, lines, file, interrupts.signal).finally(hide);
      say(progressLine(tally, running.counts));
      return exitCode(tally, running, flags, lines.isWhole && running.left.length === 0);
    } finally {
      await journal.close();
    }
  } catch (error) {
    sayUnrecorded(error);
    throw error;
  } finally {
    interrupts.stop();
    await file?.close();
    await client.close();
  }
}

/** Says why the batch submits nothing. The client's other log lines have no field `batch`. */
function sayPause(_level: string, message: string, details: { readonly batch?: unknown; readonly error?: unknown }) {
  if (details.batch === undefined) return;
  say(details.error instanceof Error ? `${message}: ${details.error.message}` : message);
}

/** Refuses a file that is given twice, because a result would end up among other lines. */
async function requireOwnFiles(files: Readonly<Record<string, string>>): Promise<void> {
  const seen = new Map<string, string>();
  for (const [flag, file] of Object.entries(files)) {
    const place = await realpath(file).catch(() => path.resolve(file));
    const other = seen.get(place);
    if (other !== undefined) throw new Error(`${other} and ${flag} are the same file, ${file}. Give each its own file`);
    seen.set(place, flag);
  }
}

/** Writes results as they arrive. */
async function writeResults(
  running: Batch<object, unknown>,
  lines: BatchInputs,
  file: OutputFile,
  signal: AbortSignal,
): Promise<void> {
  let group: BatchResult<object>[] = [];
  let yielded = 0;
  try {
    for (;;) {
      const { completed, failed, duplicates } = running.counts;
      const isFull = group.length >= LARGEST_GROUP || file.isFull;
      // Write a group before each wait, because nothing can be recorded after the end of the batch.
      if (group.length > 0 && (isFull || completed + failed + duplicates <= yielded)) {
        await file.flush();
        await Promise.all(group.map((result) => result.done()));
        group = [];
      }
      const { done, value } = await running.next();
      if (done) return;
      const { input, key = "", error } = value;
      if (!(error instanceof SubmitUncertainError)) yielded++;
      if (hasEnded(value)) {
        const isFailed = error !== undefined;
        lines.count(isFailed);
        file.add(key, lineOf(value, lines), { isFailed, hash: lines.hashOf(input) });
        group.push(value);
      } else lines.without(input, key, error?.message ?? "");
    }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
  } finally {
    await running.return?.();
  }
}

/** Returns `true` if the job has finished. These results are written to the output file. */
function hasEnded({ error }: BatchResult<object>): boolean {
  return error === undefined || error instanceof JobFailedError;
}

function lineOf(result: BatchResult<object>, lines: BatchInputs): string {
  const { key, jobId, input, output, error } = result;
  const start = { key, index: lines.indexOf(result), jobId, hash: lines.hashOf(input) };
  if (!error) return JSON.stringify({ ...start, output });
  return JSON.stringify({ ...start, error: { name: error.name, message: error.message } });
}

function exitCode(tally: Tally, { counts, left }: Batch<object, unknown>, flags: BatchFlags, isWhole: boolean): number {
  const { without } = tally;
  if (without > 0) say(`${without} inputs have no result. The next run reports them again`);
  if (counts.skipped > 0) say(`${counts.skipped} results are not in this output: an earlier or another run wrote them`);
  if (isWhole) {
    const failed = tally.failed + counts.failedEarlier;
    return without > 0 || (failed > 0 && flags.failed !== "accept") ? NOT_ALL : 0;
  }
  const waiting = new Set(left.flatMap(({ jobId = [] }) => jobId)).size;
  const running =
    waiting > 0
      ? ` ${waiting} jobs continue at the service: their results are kept for 30 minutes after the jobs end.`
      : "";
  say(`Interrupted.${running} Run the same command again to continue`);
  return INTERRUPTED;
}

/** Prints the jobs whose ids are in no journal, as lines that `--settle` reads. */
function sayUnrecorded(error: unknown): void {
  const jobs = (error as { readonly unrecorded?: readonly UnrecordedJob[] }).unrecorded ?? [];
  if (jobs.length === 0) return;
  say("These jobs were submitted, but could not be recorded. Put the lines into a file, and pass it with --settle:");
  for (const { key, jobId } of jobs) say(JSON.stringify({ key, jobId }));
}
