import path from "node:path";
import { type Batch, type BatchResult, createClient, POSTGRES_SCHEMA } from "../../sdk";
import { emptyInputWarnings } from "../../sdk/jobs/jobRequest";
import { checkedKey, hashOfInput } from "../../sdk/journal/itemKey";
import { commandConnection } from "../connection/connection";
import { endpointId } from "../explain/endpointId";
import { printLines, say } from "../terminal";
import { type BatchFlags, withFlagNames } from "./batchFlags";
import { countLines, inputLines } from "./inputLines";
import { openJournal } from "./openJournal";
import { OutputFile } from "./outputFile";
import { progressLine, showProgress } from "./progress";

/** The maximum number of results to write at once. */
const LARGEST_GROUP = 200;

/** The maximum number of messages about single inputs. Further ones are only counted. */
const MOST_MESSAGES = 20;

const INTERRUPTED = 4;
const NOT_ALL = 3;

/** Runs a job for each line of the input file. Returns the exit code. */
export async function batch(endpoint: string, flags: BatchFlags): Promise<number> {
  const { input = "", output = "", name = path.basename(input), key: field, api } = flags;
  if (flags.printSql) {
    printLines(POSTGRES_SCHEMA.trimEnd().split("\n"));
    return 0;
  }
  const total = process.stderr.isTTY ? await countLines(input) : undefined;
  const client = createClient(await commandConnection({ api }));
  const file = await OutputFile.open(output);
  const interrupts = listen();
  const state = { earlier: 0, isWhole: false };
  // A run skips the lines whose result is already written, so its own indexes do not name lines.
  const lineNumbers = new WeakMap<object, number>();
  const numberOf = (given: object) => lineNumbers.get(given) ?? 0;
  const keyOf = (given: object) => (field === undefined ? hashOfInput(given) : keyIn(given, field));

  async function* inputs() {
    for await (const { given, number } of inputLines(input)) {
      if (interrupts.isDraining()) return;
      if (file.has(attempt(() => keyOf(given)))) {
        state.earlier++;
        continue;
      }
      for (const warning of emptyInputWarnings(given)) say(`${input}, line ${number}: ${warning}`);
      lineNumbers.set(given, number);
      yield given;
    }
    state.isWhole = true;
  }

  try {
    const journal = await openJournal(flags.journal ?? `${output}.journal`);
    try {
      const running = client.endpoint(await endpointId(client, endpoint)).runMany(inputs(), {
        journal: journal.journal,
        batch: name,
        key: keyOf,
        keyVersion: field ?? "input",
        delivery: "done",
        concurrency: flags.concurrency,
        uncertain: flags.uncertain,
        expired: flags.expired,
        signal: interrupts.signal,
      });
      const startedAt = performance.now();
      const shown = () => {
        const { counts } = running;
        return { counts, earlier: state.earlier, total, elapsedMs: performance.now() - startedAt };
      };
      const hide = showProgress(shown);
      const files = { input, file, numberOf };
      const unknown = await writeResults(running, files, interrupts.signal).finally(hide);
      say(progressLine({ ...shown(), total: state.isWhole ? running.counts.started + state.earlier : total }));
      return exitCode(running, unknown, state.isWhole && !interrupts.signal.aborted);
    } finally {
      await journal.close();
    }
  } finally {
    interrupts.stop();
    await file.close();
    await client.close();
  }
}

interface Files {
  /** The name of the input file. */
  readonly input: string;
  /** The output file. */
  readonly file: OutputFile;
  /** Returns the number of an input's line in the input file. */
  readonly numberOf: (given: object) => number;
}

/** Writes results as they arrive. Returns the number of inputs whose outcome is unknown. */
async function writeResults(
  running: Batch<object, unknown>,
  { input, file, numberOf }: Files,
  signal: AbortSignal,
): Promise<number> {
  let group: BatchResult<object>[] = [];
  let yielded = 0;
  let unknown = 0;
  const flush = async () => {
    const written = group;
    group = [];
    await file.flush();
    await Promise.all(written.map((result) => result.done()));
  };
  try {
    for (;;) {
      // Nothing else is in progress, so this may be the end of the batch.
      const isIdle = running.counts.started - running.counts.skipped === yielded;
      if (group.length >= LARGEST_GROUP || file.isFull || (group.length > 0 && isIdle)) await flush();
      const next = running.next();
      // While waiting for the next result, write those that have already arrived.
      if (group.length > 0 && !(await isReady(next))) await flush();
      const { done, value } = await next;
      if (done) return unknown;
      yielded++;
      if (hasEnded(value)) {
        file.add(value.key ?? "", lineOf(value, numberOf(value.input) - 1));
        group.push(value);
      } else if (unknown++ < MOST_MESSAGES) {
        say(`${input}, line ${numberOf(value.input)}: ${withFlagNames(value.error?.message ?? "")}`);
      }
    }
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    return unknown;
  } finally {
    await flush();
    await running.return?.();
  }
}

function isReady(promise: Promise<unknown>): Promise<boolean> {
  const isThere = promise.then(
    () => true,
    () => true,
  );
  return Promise.race([isThere, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

/** Error codes of jobs that have finished. These results are written to the output file. */
const ENDS = ["JOB_FAILED"];

function hasEnded({ error }: BatchResult<object>): boolean {
  return error === undefined || ("code" in error && ENDS.includes(String(error.code)));
}

function lineOf({ key, jobId, output, error }: BatchResult<object>, index: number): string {
  if (!error) return JSON.stringify({ key, index, jobId, output });
  return JSON.stringify({ key, index, jobId, error: { name: error.name, message: error.message } });
}

function exitCode({ counts }: Batch<object, unknown>, unknown: number, isWhole: boolean): number {
  if (unknown > 0) say(`${unknown} inputs have no result. The next run reports them again`);
  if (counts.skipped > 0) say(`${counts.skipped} results are not in this output: an earlier or another run wrote them`);
  if (isWhole) return counts.failed > 0 || unknown > 0 ? NOT_ALL : 0;
  const waiting = counts.unfinished - unknown;
  const running =
    waiting > 0
      ? ` ${waiting} jobs continue at the service: their results are kept for 30 minutes after the jobs end.`
      : "";
  say(`Interrupted.${running} Run the same command again to continue`);
  return INTERRUPTED;
}

/**
 * Drains the batch on the first Ctrl-C and detaches on the second. A third one ends the process.
 */
function listen() {
  const controller = new AbortController();
  let count = 0;
  const interrupt = () => {
    count++;
    if (count === 1) {
      say(
        "\nNothing more is submitted. Waiting for the running jobs. Press Ctrl-C again to let them continue at the service",
      );
    } else {
      say("\nStopping. The jobs continue at the service");
      stop();
      controller.abort(new Error("interrupted"));
    }
  };
  const stop = () => {
    process.removeListener("SIGINT", interrupt).removeListener("SIGTERM", interrupt);
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  return { signal: controller.signal, isDraining: () => count > 0, stop };
}

function keyIn(given: object, field: string): string {
  const value = (given as Record<string, unknown>)[field];
  return checkedKey(typeof value === "number" ? String(value) : value);
}

/** Ignores a failing key function: the batch itself reports inputs without a key. */
function attempt(key: () => string): string {
  try {
    return key();
  } catch {
    return "";
  }
}
