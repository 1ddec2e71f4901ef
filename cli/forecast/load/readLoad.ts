import { readFileSync, statSync } from "node:fs";
import type { Duration, Load } from "../../../emulator/forecast/load";
import { seededRandom } from "../../../emulator/model/random";
import type { PriceSource } from "../../../sdk/catalog/workerPrices";
import { EXECUTION_TIMEOUT_MS } from "../../../sdk/contract/limits";
import { didYouMean } from "../../didYouMean";
import { createJobsFile, type JobsFile } from "./jobsFile";
import { linesOf } from "./lines";
import type { Measured, Seam } from "./measured";
import { type RecordedLoad, readRecording } from "./recording";

/** A load that was read from a file, and its description. */
export interface ReadLoad {
  readonly load: Load;
  readonly description: string;
  /** The measurements made while the load was recorded; `undefined` if the file has only jobs. */
  readonly measured?: Measured | undefined;
  /** The arrival of the first job, in seconds after the load's own beginning. */
  readonly firstS: number;
  /** The real times of the load; `undefined` if it has none. */
  readonly seams?: readonly Seam[] | undefined;
  /** The recorded prices; `undefined` if the file has none. */
  readonly prices?: PriceSource | undefined;
  /** Deletes the temporary file. */
  close(): void;
}

/** Adds a job. Times are in seconds, and arrivals may count from any point in time. */
type Emit = (arrivalS: number, durationS: number) => void;

/** A CSV format whose rows are jobs or job counts, in order of arrival. */
interface Format {
  readonly name: string;
  /** The columns that identify the format. Other columns are allowed. */
  readonly columns: readonly string[];
  /**
   * Reads a row. `cell` returns the number in a column, and `duration` draws a job's duration
   * according to `--duration`.
   */
  row(cell: (column: string) => number, duration: () => number, emit: Emit): void;
}

const FORMATS: readonly Format[] = [
  {
    name: "arrivals and durations",
    columns: ["arrival_s", "duration_s"],
    row: (cell, _, emit) => emit(inSeconds("arrival_s", cell), inSeconds("duration_s", cell)),
  },
  {
    name: "jobs a minute",
    columns: ["minute", "jobs"],
    row(cell, duration, emit) {
      const [minute, jobs] = [cell("minute"), cell("jobs")];
      if (!Number.isInteger(jobs)) throw new Error(`jobs is ${jobs}, which is not a whole number`);
      for (let job = 0; job < jobs; job++) emit((minute + (job + 0.5) / jobs) * 60, duration());
    },
  },
];

/**
 * Values above these must be milliseconds: an arrival after the year 5138, or a job that runs
 * longer than RunPod allows.
 */
const MILLISECONDS_FROM = { arrival_s: 1e11, duration_s: EXECUTION_TIMEOUT_MS.max / 1000 };

/** The longest plausible load, in seconds. A day in milliseconds would look like 2.7 years. */
const LONGEST_SPAN_S = 2 * 365 * 86_400;

/** Arrivals from this one on, which is in 2001, are Unix times. */
const UNIX_FROM_S = 1e9;

const LOOKS_LIKE_MS = "which looks like milliseconds. The unit is seconds: divide the column by 1000";

/** @throws Error if the time can only be in milliseconds */
function inSeconds(column: keyof typeof MILLISECONDS_FROM, cell: (column: string) => number): number {
  const value = cell(column);
  if (value <= MILLISECONDS_FROM[column]) return value;
  throw new Error(`${column} is ${value}, ${LOOKS_LIKE_MS}`);
}

/** The number of lines after which reading a large file reports progress. */
const LINES_PER_REPORT = 10_000_000;

/**
 * Reads a CSV file of jobs line by line, or a recording from a folder.
 * @param duration the duration of each job, for files that don't contain durations
 * @param spanS how much of the load to use, in seconds: later jobs are ignored, and idle time until
 * the end counts. @default all jobs, and the whole time in which counters were recorded
 * @param endpoint the name or id of the endpoint in a recording
 * @throws Error with the line number if a row is malformed
 */
export function readLoad(file: string, duration: Duration | undefined, spanS?: number, endpoint?: string): ReadLoad {
  const jobs = createJobsFile();
  try {
    const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const recorded = isFolder ? readRecording(file, endpoint, duration) : undefined;
    const name = recorded ? fillRecording(recorded, jobs, spanS) : fill(file, duration, jobs, spanS);
    jobs.finish();
    if (jobs.jobs === 0) throw new Error(`${file} has no jobs`);
    const load = { file: jobs.file, jobs: jobs.jobs, spanS: Math.max(1, spanS ?? recorded?.lengthS ?? jobs.lastS) };
    const { firstS } = jobs;
    const unix = firstS >= UNIX_FROM_S ? [{ at: firstS * 1000, real: firstS * 1000 }] : undefined;
    return {
      load,
      description: `${file} (${name})`,
      firstS,
      seams: recorded?.seams ?? unix,
      measured: recorded?.measured(spanS),
      prices: recorded?.prices,
      close: jobs.remove,
    };
  } catch (error) {
    jobs.remove();
    throw error;
  }
}

function fillRecording({ jobs: recorded, description }: RecordedLoad, jobs: JobsFile, spanS?: number): string {
  let firstS: number | undefined;
  for (const { arrivalS, durationS } of recorded) {
    firstS ??= arrivalS;
    if (arrivalS - firstS <= (spanS ?? Number.POSITIVE_INFINITY)) jobs.add(arrivalS, durationS);
  }
  return description;
}

function fill(file: string, duration: Duration | undefined, jobs: JobsFile, spanS = Number.POSITIVE_INFINITY): string {
  const lines = linesOf(file);
  const { value: first, done } = lines.next();
  lines.return(undefined);
  if (done) throw new Error(`${file} is empty`);
  if (/^\s*[[{]/.test(first)) return fillJournal(file, duration, jobs, spanS);
  const columns = cellsOf(first);
  const format = FORMATS.find((each) => each.columns.every((column) => columns.includes(column)));
  if (!format) throw new Error(`${file}, line 1: ${unknownColumns(columns)}`);
  fillRows(file, format, drawnFrom(format.name, duration), jobs, spanS);
  return format.name;
}

function unknownColumns(columns: readonly string[]): string {
  const known = FORMATS.map((format) => `  ${format.columns.join(",")}  (${format.name})`).join("\n");
  if (columns.every((column) => column !== "" && !Number.isNaN(Number(column)))) {
    return `the first line must name the columns, such as arrival_s,duration_s. These headers are known:\n${known}`;
  }
  const shown = columns.slice(0, 8).join(",");
  const inMs = columns.find((column) => /_ms$|millis/i.test(column));
  if (inMs !== undefined)
    return `the column ${inMs} is in milliseconds. The unit is seconds: divide it by 1000. These headers are known:\n${known}`;
  const names = FORMATS.flatMap((format) => format.columns);
  const hint = didYouMean(columns[0] ?? "", names);
  return `no known format has the columns ${shown}.${hint} These headers are known:\n${known}`;
}

function fillRows(file: string, format: Format, duration: () => number, jobs: JobsFile, spanS: number): void {
  let firstS: number | undefined;
  const add: Emit = (arrivalS, durationS) => {
    firstS ??= arrivalS;
    if (arrivalS - firstS > LONGEST_SPAN_S) throw new Error(`arrival_s is ${arrivalS}, ${LOOKS_LIKE_MS}`);
    if (arrivalS - firstS <= spanS) jobs.add(arrivalS, durationS);
  };
  let columns: Map<string, number> | undefined;
  let number = 0;
  for (const line of linesOf(file)) {
    number += 1;
    if (number % LINES_PER_REPORT === 0) {
      process.stderr.write(`serverless-gpu forecast: ${number / 1_000_000} million lines read\n`);
    }
    if (!columns) {
      columns = new Map(cellsOf(line).map((column, index) => [column, index]));
      continue;
    }
    if (line.trim() === "") continue;
    try {
      format.row(cellReader(line, columns), duration, add);
    } catch (error) {
      const { message } = error as Error;
      const hint = /before the one above/.test(message) ? ". Sort the file by arrival" : "";
      throw new Error(`${file}, line ${number}: ${message}${hint}`);
    }
  }
}

function cellsOf(line: string): string[] {
  return line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
}

function cellReader(line: string, columns: ReadonlyMap<string, number>): (column: string) => number {
  const cells = cellsOf(line);
  if (cells.length !== columns.size)
    throw new Error(`it has ${cells.length} cells, but there are ${columns.size} columns`);
  return (column) => {
    const text = cells[columns.get(column) ?? -1] ?? "";
    const value = Number(text);
    if (text === "" || !Number.isFinite(value)) throw new Error(`${column} is "${text}", which is not a number`);
    if (value < 0) throw new Error(`${column} is ${text}: it must not be negative`);
    return value;
  };
}

/** Returns a function that draws job durations. The sequence is the same for every file. */
function drawnFrom(name: string, duration: Duration | undefined): () => number {
  const { next } = seededRandom(1);
  return () => {
    if (!duration) throw new Error(`the load has no durations (${name}): set --duration to how long a job takes`);
    return duration.fromS + (duration.toS - duration.fromS) * next();
  };
}

/** The part of a journal entry that a load needs. */
interface Entry {
  readonly at?: unknown;
  readonly operation?: unknown;
  readonly outcome?: unknown;
}

const LARGEST_JOURNAL = 500_000_000;

/** Adds the submitted jobs in an emulator's journal (`GET /_emulator/journal`). */
function fillJournal(file: string, duration: Duration | undefined, jobs: JobsFile, spanS: number): string {
  const name = "emulator's journal";
  const draw = drawnFrom(name, duration);
  if (statSync(file).size > LARGEST_JOURNAL) throw new Error(`${file} is larger than a journal can be`);
  let firstS: number | undefined;
  for (const { at, operation, outcome } of entriesOf(file)) {
    if (outcome !== "ok" || (operation !== "run" && operation !== "runsync")) continue;
    if (typeof at !== "number") throw new Error(`${file}: a request in the journal has no time`);
    const arrivalS = at / 1000;
    firstS ??= arrivalS;
    if (arrivalS - firstS <= spanS) jobs.add(arrivalS, draw());
  }
  return name;
}

function entriesOf(file: string): readonly Entry[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`${file} is neither CSV with a known header nor valid JSON`);
  }
  const entries = Array.isArray(content) ? content : (content as { requests?: unknown } | null)?.requests;
  if (Array.isArray(entries)) return entries;
  throw new Error(`${file} is not an emulator journal: it has no list of requests`);
}
