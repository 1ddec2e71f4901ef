import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readLoad } from "../../../cli/forecast/load/readLoad";
import { readSamples } from "../../../cli/forecast/settings/samples";
import type { Duration } from "../../../emulator/forecast/load";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "forecast-test-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(content: string): string {
  const file = path.join(folder, "load");
  writeFileSync(file, content);
  return file;
}

const NONE = undefined;
const SECONDS: Duration = { fromS: 3, toS: 3 };

/** Returns the jobs in a file, as the forecast plays them. */
function jobsIn(content: string, duration?: Duration, spanS?: number): { jobs: number[][]; spanS: number } {
  const { load, close } = readLoad(fileOf(content), duration, spanS);
  if (!("file" in load)) throw new Error("not a file");
  const bytes = readFileSync(load.file);
  const numbers = Array.from({ length: bytes.length / 8 }, (_, index) => bytes.readDoubleLE(index * 8));
  close();
  expect(numbers).toHaveLength(2 * load.jobs);
  const rounded = numbers.map((number) => Math.round(number * 1000) / 1000);
  return { jobs: rounded.flatMap((_, at) => (at % 2 === 0 ? [rounded.slice(at, at + 2)] : [])), spanS: load.spanS };
}

test.each<[string, string, Duration | undefined, number[][]]>([
  [
    "arrivals and durations",
    "arrival_s,duration_s\n100,1.5\n100,2\n103.5,0\n",
    NONE,
    [
      [0, 1.5],
      [0, 2],
      [3.5, 0],
    ],
  ],
  [
    "columns in another order, a byte order mark, quotes, CRLF",
    '\uFEFFuser,"duration_s",arrival_s\r\na,4,7\r\n\r\nb,5,8\r\n',
    NONE,
    [
      [0, 4],
      [1, 5],
    ],
  ],
  [
    "jobs a minute",
    "minute,jobs\n0,2\n1,0\n2,1\n",
    SECONDS,
    [
      [0, 3],
      [30, 3],
      [135, 3],
    ],
  ],
  [
    "an emulator's journal",
    JSON.stringify([
      { at: 1000, operation: "run", outcome: "ok" },
      { at: 1500, operation: "status", outcome: "ok" },
      { at: 2000, operation: "runsync", outcome: "error" },
      { at: 4000, operation: "runsync", outcome: "ok" },
    ]),
    SECONDS,
    [
      [0, 3],
      [3, 3],
    ],
  ],
])("forecast reads %s", (_name, content, duration, jobs) => {
  expect(jobsIn(content, duration).jobs).toEqual(jobs);
});

test.each<[string, string, Duration | undefined, string]>([
  ["a negative time", "arrival_s,duration_s\n0,1\n1,-2\n", NONE, "line 3: duration_s is -2: it must not be negative"],
  [
    "arrivals in milliseconds since 1970",
    "arrival_s,duration_s\n1763900000123,1\n",
    NONE,
    "line 2: arrival_s is 1763900000123, which looks like milliseconds. The unit is seconds",
  ],
  [
    "a day of arrivals in milliseconds",
    "arrival_s,duration_s\n0,1\n86400000,1\n",
    NONE,
    "line 3: arrival_s is 86400000, which looks like milliseconds",
  ],
  [
    "durations in milliseconds",
    "arrival_s,duration_s\n0,900000\n",
    NONE,
    "line 2: duration_s is 900000, which looks like milliseconds",
  ],
  [
    "columns in milliseconds",
    "arrival_ms,duration_ms\n0,1\n",
    NONE,
    "the column arrival_ms is in milliseconds. The unit is seconds",
  ],
  ["a word", "arrival_s,duration_s\n0,1\nx,2\n", NONE, 'line 3: arrival_s is "x", which is not a number'],
  ["an empty cell", "arrival_s,duration_s\n0,\n", NONE, 'line 2: duration_s is ""'],
  ["a missing cell", "arrival_s,duration_s\n0\n", NONE, "line 2: it has 1 cells, but there are 2 columns"],
  [
    "unsorted rows",
    "arrival_s,duration_s\n0,1\n5,1\n4,1\n",
    NONE,
    "line 4: the job arrives at 4 s, before the one above it (5 s). Sort",
  ],
  [
    "unknown columns",
    "arrival,duration_s\n0,1\n",
    NONE,
    "line 1: no known format has the columns arrival,duration_s. Did you mean arrival_s?",
  ],
  ["no header", "0,1\n2,3\n", NONE, "line 1: the first line must name the columns"],
  ["an empty file", "", NONE, "is empty"],
  ["no jobs", "arrival_s,duration_s\n", NONE, "has no jobs"],
  ["broken JSON", "[{", SECONDS, "is neither CSV with a known header nor valid JSON"],
  ["other JSON", '{"a": 1}', SECONDS, "has no list of requests"],
  ["counts without a duration", "minute,jobs\n0,1\n", NONE, "set --duration"],
  ["half a job", "minute,jobs\n0,1.5\n", SECONDS, "line 2: jobs is 1.5, which is not a whole number"],
])("forecast refuses %s", (_name, content, duration, message) => {
  expect(() => jobsIn(content, duration)).toThrow(message);
});

test("a given time span cuts the load off, or extends it by a period without jobs", () => {
  const content = "arrival_s,duration_s\n0,1\n10,1\n20,1\n";
  expect(jobsIn(content)).toMatchObject({ spanS: 20 });
  expect(jobsIn(content, NONE, 15)).toEqual({
    spanS: 15,
    jobs: [
      [0, 1],
      [10, 1],
    ],
  });
  expect(jobsIn(content, NONE, 60)).toMatchObject({ spanS: 60 });
  const journal = [1000, 4000, 20_000].map((at) => ({ at, operation: "run", outcome: "ok" }));
  expect(jobsIn(JSON.stringify(journal), SECONDS, 10)).toEqual({
    jobs: [
      [0, 3],
      [3, 3],
    ],
    spanS: 10,
  });
});

test("a file that arrives in several chunks is read completely", () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => `${index * 0.25},1.25`);
  const { jobs, spanS } = jobsIn(`arrival_s,duration_s\n${rows.join("\n")}`);
  expect(jobs).toHaveLength(200_000);
  expect(jobs.at(-1)).toEqual([49_999.75, 1.25]);
  expect(spanS).toBe(49_999.75);
});

test("cold starts are taken from the given numbers or from jobs that waited for a worker", () => {
  expect(readSamples(fileOf("3.5\n\n12\n"))).toEqual([3.5, 12]);
  expect(readSamples(fileOf('{"delayTime": 80}\n{"delayTime": 12500}\n'))).toEqual([12.5]);
  expect(() => readSamples(fileOf("1\nx\n"))).toThrow('line 2: "x" is neither');
  expect(() => readSamples(fileOf('{"delayTime": 80}\n'))).toThrow("has no cold starts");
});
