import { readFileSync, statSync } from "node:fs";
import type { Duration, Load } from "../../../emulator/forecast/load";
import { seededRandom } from "../../../emulator/model/random";
import { didYouMean } from "../../didYouMean";
import { type Emit, FORMATS, type Format, type FormatOptions, MOONCAKE } from "./formats";
import { createJobsFile, type JobsFile } from "./jobsFile";
import { linesOf } from "./lines";

/** A load that was read, and the words for it. */
export interface ReadLoad {
  readonly load: Load;
  readonly description: string;
  /** Deletes the temporary file. */
  close(): void;
}

/** The largest number of jobs that are sorted in memory. */
const MOST_SORTED = 10_000_000;

/** The number of lines after which a large file reports progress. */
const LINES_PER_REPORT = 10_000_000;

/**
 * Reads a file of jobs line by line.
 * @param spanS jobs after this time are left out, and the time without jobs before it counts; all jobs if omitted
 * @throws Error with the number of the line if a row is malformed
 */
export function readLoad(file: string, options: FormatOptions, spanS?: number): ReadLoad {
  const jobs = createJobsFile();
  try {
    const name = fill(file, options, jobs, spanS);
    jobs.finish();
    if (jobs.jobs === 0) throw new Error(`${file} has no jobs`);
    const load = { file: jobs.file, jobs: jobs.jobs, spanS: Math.max(1, spanS ?? jobs.lastS) };
    return { load, description: `${file} (${name})`, close: jobs.remove };
  } catch (error) {
    jobs.remove();
    throw error;
  }
}

function fill(file: string, options: FormatOptions, jobs: JobsFile, spanS = Number.POSITIVE_INFINITY): string {
  const lines = linesOf(file);
  const first = nextLine(lines, file);
  if (/^\s*[[{]/.test(first)) {
    lines.return(undefined);
    return first.includes('"input_length"')
      ? fillRows(file, MOONCAKE, options, jobs, spanS)
      : fillJournal(file, options, jobs);
  }
  const columns = cellsOf(first);
  const format = FORMATS.find((each) => each.columns.every((column) => columns.includes(column)));
  lines.return(undefined);
  if (!format) throw new Error(`${file}, line 1: ${unknownColumns(columns)}`);
  return fillRows(file, format, options, jobs, spanS);
}

function nextLine(lines: Generator<string>, file: string): string {
  const { value, done } = lines.next();
  if (done) throw new Error(`${file} is empty`);
  return value;
}

function unknownColumns(columns: readonly string[]): string {
  const known = FORMATS.map((format) => `  ${format.columns.join(",")}  (${format.name})`).join("\n");
  if (columns.every((column) => column !== "" && !Number.isNaN(Number(column)))) {
    return `the first line must name the columns, such as arrival_s,duration_s. These headers are known:\n${known}`;
  }
  const shown = columns.slice(0, 8).join(",");
  const hint = didYouMean(columns[0] ?? "", ["arrival_s", "duration_s"]);
  return `no known format has the columns ${shown}.${hint} These headers are known:\n${known}`;
}

/** Adds the rows of a file. Those of an unsorted format are collected first. */
function fillRows(file: string, format: Format, options: FormatOptions, jobs: JobsFile, spanS: number): string {
  const complete = completed(format.name, format.needs, options);
  const sorter = format.sorted ? undefined : createSorter();
  let firstS: number | undefined;
  const add: Emit = (arrivalS, durationS) => {
    firstS ??= arrivalS;
    if (arrivalS - firstS <= spanS) jobs.add(arrivalS, durationS);
  };
  let columns: Map<string, number> | undefined;
  let number = 0;
  for (const line of linesOf(file)) {
    number += 1;
    if (number % LINES_PER_REPORT === 0) {
      process.stderr.write(`serverless-gpu forecast: ${number / 1_000_000} million lines read\n`);
    }
    if (format !== MOONCAKE && !columns) {
      columns = new Map(cellsOf(line).map((column, index) => [column, index]));
      continue;
    }
    if (line.trim() === "") continue;
    try {
      format.row(columns ? cellReader(line, columns) : fieldReader(line), complete, sorter?.add ?? add);
    } catch (error) {
      const hint =
        format.sorted && /before the one above/.test((error as Error).message) ? ". Sort the file by arrival" : "";
      throw new Error(`${file}, line ${number}: ${(error as Error).message}${hint}`);
    }
  }
  sorter?.drain(add);
  return format.name;
}

function cellsOf(line: string): string[] {
  return line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
}

function cellReader(line: string, columns: ReadonlyMap<string, number>): (column: string) => string {
  const cells = cellsOf(line);
  if (cells.length !== columns.size)
    throw new Error(`it has ${cells.length} cells, but there are ${columns.size} columns`);
  return (column) => cells[columns.get(column) ?? -1] ?? "";
}

function fieldReader(line: string): (column: string) => string {
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(line);
  } catch {
    throw new Error("it is not a JSON object");
  }
  return (column) => String(record[column] ?? "");
}

function createSorter(): { add: Emit; drain: (emit: Emit) => void } {
  const pairs: [number, number][] = [];
  return {
    add(arrivalS, durationS) {
      if (pairs.length >= MOST_SORTED) throw new Error(`there are more than ${MOST_SORTED} jobs: split the file`);
      pairs.push([arrivalS, durationS]);
    },
    drain(emit) {
      for (const [arrivalS, durationS] of pairs.sort((a, b) => a[0] - b[0])) emit(arrivalS, durationS);
    },
  };
}

const OPTION: Record<keyof FormatOptions, string> = {
  duration: "--duration, the time of a job",
  prefill: "--prefill, input tokens a second",
  decode: "--decode, output tokens a second",
};

function completed(name: string, needs: Format["needs"], options: FormatOptions) {
  const missing = needs.filter((need) => options[need] === undefined);
  if (missing.length > 0)
    throw new Error(`the ${name} has no durations: give ${missing.map((need) => OPTION[need]).join(" and ")}`);
  const { next } = seededRandom(1);
  const { fromS, toS }: Duration = options.duration ?? { fromS: 0, toS: 0 };
  const duration = () => fromS + (toS - fromS) * next();
  return { duration, prefill: options.prefill ?? 1, decode: options.decode ?? 1 };
}

/** The part of a journal's entry that a load needs. */
interface Entry {
  readonly at?: unknown;
  readonly operation?: unknown;
  readonly outcome?: unknown;
}

const LARGEST_JOURNAL = 500_000_000;

/** Adds the submitted jobs of an emulator's journal (`GET /_emulator/journal`). */
function fillJournal(file: string, options: FormatOptions, jobs: JobsFile): string {
  const name = "emulator's journal";
  const { duration } = completed(name, ["duration"], options);
  if (statSync(file).size > LARGEST_JOURNAL) throw new Error(`${file} is larger than a journal can be`);
  for (const { at, operation, outcome } of entriesOf(file)) {
    if (outcome !== "ok" || (operation !== "run" && operation !== "runsync")) continue;
    if (typeof at !== "number") throw new Error(`${file}: a request of the journal has no time`);
    jobs.add(at / 1000, duration());
  }
  return name;
}

function entriesOf(file: string): readonly Entry[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    throw new Error(`${file} is neither a known trace nor valid JSON`);
  }
  const entries = Array.isArray(content) ? content : (content as { requests?: unknown } | null)?.requests;
  if (Array.isArray(entries)) return entries;
  throw new Error(`${file} is no journal of the emulator: it has no list of requests`);
}
