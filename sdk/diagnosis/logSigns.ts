import type { WorkerLog } from "./evidence";

/** The signs in the newest lines of a worker's log, without those that a later line contradicts. */
export interface LogSigns {
  readonly cause: "crash-loop" | "image-pull" | "image-pulling" | undefined;
  /** `true` if the service has started the container, or has reported that the image is there. */
  readonly hasImage: boolean;
  /** `true` if the worker library has printed something since the last start. */
  readonly hasLibraryLine: boolean;
  /** `true` if the container has printed an error since its last start. */
  readonly hasTrace: boolean;
  /** `true` if the container still prints. */
  readonly isPrinting: boolean;
  /**
   * Whether the library has printed a version that sends all jobs to one worker. `undefined` if it
   * has printed no version.
   */
  readonly hasFunnelVersion: boolean | undefined;
}

const PULLED = /image is up to date|downloaded newer image/i;
const STOP = /\bstop(?:ping|ped)? container\b/i;
const START = /\bstart(?:ing|ed)? container\b|\bcontainer start(?:ed)?\b/i;
/** Matches lines about an image that say that something failed. */
const PULL_ERROR =
  /(?=.*\b(?:pull\w*|image|manifest|registry|repository|layer|reference)\b).*\b(?:error|failed|denied|unknown|unauthorized|not found|no matching|invalid|no space)\b|(?:unable|cannot|could not) (?:to )?pull|errimagepull|imagepullbackoff|toomanyrequests|daemon: (?:get|head) |unauthorized: |denied: requested/i;
const PULL_PROGRESS =
  /\bpulling\b|\bdownloading\b|\bextracting\b|pull complete|download complete|verifying checksum|loading model|caching model/i;
/** Matches a line that shows that a later attempt got further than requesting the image. */
const PULL_GOES_ON = /complete|extracting|downloading/i;
const TRACE =
  /^Killed\b|^Traceback \(most recent|^\s*[\w.]*(?:Error|Exception)\b.*:|\bpanic:|segmentation fault|exec format error|cuda (?:error|driver version)|unsatisfied condition: cuda|exited with code [1-9]/i;
/** Matches lines that the worker library prints when it starts and for its jobs. */
const LIBRARY = /serverless worker|jobs in (?:queue|progress)|"?requestId"?|\bStarted\.|\bFinished\./i;
/** Some versions of the worker library send all jobs to one worker, if there is a shared folder. */
const VERSION = /(?:runpod|serverless worker)\D{0,20}?(\d+)\.(\d+)\.(\d+)/gi;

/** How long a pull or a failed pull counts without a new line, in milliseconds (observed). */
const LONGEST_PULL_MS = 7 * 60_000;
/** How long a start counts after its last line, in milliseconds. */
const LOOP_MS = 10 * 60_000;
/** How soon starts must follow each other to be a loop, unless each ends with an error. */
const SHORT_RUN_MS = 2 * 60_000;
/** How old the last line of a container that is at work may be, in milliseconds. */
const PRINTING_MS = 2 * 60_000;
/** How long before the end of a container's output its error may be printed, in milliseconds. */
const LAST_WORDS_MS = 1_000;

type Lines = WorkerLog["lines"];

const isSystem = ({ source }: Lines[number]) => source === "system";
const isStop = (line: Lines[number]) => isSystem(line) && STOP.test(line.line);
type Age = (line: Lines[number] | undefined) => number;
const hasLibraryLine = (lines: Lines) => printed(lines).some((line) => LIBRARY.test(line));
const printed = (lines: Lines) => lines.filter((line) => !isSystem(line)).map(({ line }) => line);

/** Returns the signs in a log. The lines must be in order, oldest first. */
export function signsIn({ lines }: WorkerLog, now: number): LogSigns {
  const starts = lines.flatMap((line, at) => (isSystem(line) && START.test(line.line) ? [at] : []));
  const run = lines.slice((starts.at(-1) ?? -1) + 1);
  const output = printed(run);
  const versions = lines.flatMap(({ line }) => [...line.matchAll(VERSION)]);
  const age: Age = (line) => now - Date.parse(line?.ts ?? "");
  const pull = pullIn(lines, age);
  return {
    cause: pull ?? (isLooping(lines, starts, age) ? "crash-loop" : undefined),
    hasImage: starts.length > 0 || lines.some((line) => isSystem(line) && PULLED.test(line.line)),
    hasLibraryLine: hasLibraryLine(run),
    hasTrace: output.some((line) => TRACE.test(line)),
    isPrinting: age(run.findLast((line) => !isSystem(line))) < PRINTING_MS,
    hasFunnelVersion: versions.length > 0 ? versions.some(isFunnelVersion) : undefined,
  };
}

/** Returns what the log shows about the pull of an image that has not arrived. */
function pullIn(lines: Lines, age: Age): LogSigns["cause"] {
  const lastOf = (test: (line: string) => boolean) => lines.findLastIndex((line) => isSystem(line) && test(line.line));
  // A container that has started or printed has its image.
  const there = Math.max(
    lastOf((line) => START.test(line) || PULLED.test(line)),
    lines.findLastIndex((line) => !isSystem(line)),
  );
  const failed = lastOf((line) => PULL_ERROR.test(line));
  const pulled = lastOf((line) => PULL_PROGRESS.test(line) && !PULL_ERROR.test(line));
  const goesOn = pulled > failed && PULL_GOES_ON.test(lines[pulled]?.line ?? "");
  if (failed > there && !goesOn) return "image-pull";
  return pulled > there && !(age(lines[pulled]) > LONGEST_PULL_MS) ? "image-pulling" : undefined;
}

/**
 * Returns `true` if the last thing that the container printed is an error before it took a job, or
 * if it starts again and again without getting past the point that it reached before.
 */
function isLooping(lines: Lines, starts: readonly number[], age: Age): boolean {
  const runs = starts.map((start, index) => lines.slice(start, starts[index + 1])).slice(-3);
  const [last, ...all] = runs.reverse();
  const isAtWork = (run: Lines) => hasLibraryLine(run) || run.some(isStop);
  if (!last || age(last.at(-1)) > LOOP_MS || isAtWork(last)) return false;
  const endOf = (run: Lines) => age(run.findLast((line) => !isSystem(line)) ?? run[0]);
  const isOld = all.map((run, index) => endOf(run) - age(runs[index]?.[0]) > LOOP_MS);
  const earlier = isOld.includes(true) ? all.slice(0, isOld.indexOf(true)) : all;
  const hasCrashed = (run: Lines) =>
    run.some((line) => TRACE.test(line.line) && (isSystem(line) || !(age(line) - endOf(run) > LAST_WORDS_MS)));
  if (hasCrashed(last)) return true;
  const lasted = earlier.map((run, index) => age(run[0]) - age(runs[index]?.[0]));
  const reach = (run: Lines) => age(run[0]) - endOf(run);
  const isRecent = age(last[0]) < Math.max(SHORT_RUN_MS, ...lasted);
  const isNoFurther = earlier.some((run) => reach(last) <= reach(run) + LAST_WORDS_MS);
  const hasFailed = (run: Lines, index: number) =>
    !isAtWork(run) && (hasCrashed(run) || (lasted[index] ?? 0) <= SHORT_RUN_MS);
  const isEnough = earlier.length === 2 || (printed(last).length === 0 && earlier.some(hasCrashed));
  return isRecent && isNoFurther && isEnough && earlier.every(hasFailed);
}

function isFunnelVersion([, ...parts]: RegExpMatchArray): boolean {
  const number = Number(parts.map((part) => part.padStart(3, "0")).join(""));
  return number >= 1_007_011 && number <= 1_010_000;
}
