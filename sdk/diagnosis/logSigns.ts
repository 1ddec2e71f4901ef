import type { CauseId, Certainty } from "./causes";
import type { WorkerLog } from "./evidence";

/** The signs in a worker's log that show why the worker does not work. */
export interface LogSigns {
  /** The cause that the log shows, if any. */
  readonly cause: { readonly id: CauseId; readonly certainty: Certainty } | undefined;
  /**
   * `true` if the service has started the container, or has reported that the image is on the host.
   */
  readonly hasImage: boolean;
  /**
   * `true` if the worker library has printed something, which means that the program takes jobs.
   */
  readonly hasLibraryLine: boolean;
  /**
   * Whether the library has printed a version that sends all jobs to one worker. `undefined` if it
   * has printed no version.
   */
  readonly hasFunnelVersion: boolean | undefined;
  readonly hasLines: boolean;
  /** `true` if the container has printed a traceback or a similar error. */
  readonly hasTrace: boolean;
}

/** Matches a line after which the image is on the host. */
const PULLED = /image is up to date|downloaded newer image/i;
/**
 * Matches a line for a new attempt to start the container. Errors before this line may have been
 * resolved.
 */
const ANOTHER = /\bretrying\b|\bcreate container\b/i;
/** Matches a line that shows that the service itself stopped the container. */
const STOP = /\bstop(?:ping|ped)? container\b/i;

const START = /\bstart(?:ing|ed)? container\b|\bcontainer start(?:ed)?\b/i;

const PULL_ERROR = new RegExp(
  [
    "pull access denied|manifest unknown|manifest for \\S+ not found|no matching manifest|repository does not exist",
    "(?:failed|error|unable|cannot|could not) (?:to )?pull|(?:failed|error) pulling|errimagepull|imagepullbackoff",
    "failed to resolve reference|invalid reference format|error response from daemon: (?:get|head) |toomanyrequests",
    "unauthorized: (?:authentication required|incorrect username)|denied: requested access|image not found",
  ].join("|"),
  "i",
);

const PULL_PROGRESS =
  /\bpulling\b|\bdownloading\b|\bextracting\b|pull complete|download complete|verifying checksum|loading model|caching model/i;

/** Matches a line that shows that a later attempt got further than requesting the image. */
const PULL_GOES_ON = /complete|extracting|downloading/i;

const TRACE =
  /^Traceback \(most recent|^\s*\w*(?:Error|Exception)\b.*:|\bpanic:|segmentation fault|exec format error|cuda (?:error|driver version)|unsatisfied condition: cuda|exited with code [1-9]/i;

/** Matches lines that the worker library prints when it starts and for its jobs. */
const LIBRARY = /serverless worker|jobs in (?:queue|progress)|"?requestId"?|\bStarted\.|\bFinished\./i;
const JOB_DONE = /\bFinished\b/;

/**
 * Matches the version of the worker library. With some versions, one worker gets all jobs if the
 * endpoint has a shared folder.
 */
const VERSION = /(?:runpod|serverless worker)\D{0,20}?(\d+)\.(\d+)\.(\d+)/gi;

/**
 * How long a pull can go without a new line before it is considered stuck or over, in milliseconds
 * (observed).
 */
const LONGEST_PULL_MS = 7 * 60_000;
/**
 * How long before the latest start an earlier start can be and still belong to the same loop, in
 * milliseconds.
 */
const LOOP_MS = 10 * 60_000;
/** The number of lines at the end of a container's output that may contain its traceback. */
const TRACE_END = 2;
/** The number of starts that count as a loop even if the container prints nothing. */
const CERTAIN_STARTS = 3;

/** Returns the signs in a log. The lines must be in order, oldest first. */
export function signsIn({ lines }: WorkerLog, now: number): LogSigns {
  const versions = lines.flatMap(({ line }) => [...line.matchAll(VERSION)]);
  const container = lines.filter(({ source }) => source !== "system").map(({ line }) => line);
  return {
    cause: causeIn(lines, now),
    hasImage: lines.some(({ source, line }) => source === "system" && (START.test(line) || PULLED.test(line))),
    hasLibraryLine: container.some((line) => LIBRARY.test(line)),
    hasFunnelVersion: versions.length > 0 ? versions.some(isFunnelVersion) : undefined,
    hasLines: lines.length > 0,
    hasTrace: container.some((line) => TRACE.test(line)),
  };
}

function causeIn(lines: WorkerLog["lines"], now: number): LogSigns["cause"] {
  const system = lines.filter(({ source }) => source === "system");
  const lastOf = (pattern: RegExp) => system.findLastIndex(({ line }) => pattern.test(line));
  const ageOf = (at: number) => now - Date.parse(system[at]?.ts ?? "");
  // A line without a time may be recent, but nothing proves that it is.
  const isOld = (at: number, ms: number) => ageOf(at) > ms;
  const isRecent = (at: number, ms: number) => ageOf(at) <= ms;
  // A container that starts must have its image, so an error from an earlier pull is resolved.
  const there = Math.max(lastOf(START), lastOf(PULLED));
  const failed = lastOf(PULL_ERROR);
  const pulled = system.findLastIndex(({ line }) => PULL_PROGRESS.test(line) && !PULL_ERROR.test(line));
  if (failed > there && pulled > failed && PULL_GOES_ON.test(system[pulled]?.line ?? ""))
    return { id: "image-pulling", certainty: "likely" };
  if (failed > there)
    return {
      id: "image-pull",
      certainty: isRecent(failed, LOOP_MS) && lastOf(ANOTHER) < failed ? "certain" : "likely",
    };
  const loop = loopIn(lines, now);
  if (loop) return { id: "crash-loop", certainty: loop };
  const isPulling = pulled > there && !isOld(pulled, LONGEST_PULL_MS);
  const certainty = isRecent(pulled, LONGEST_PULL_MS) ? "certain" : "likely";
  return isPulling ? { id: "image-pulling", certainty } : undefined;
}

/** The output of the container between two starts. */
interface Run {
  readonly output: readonly string[];
  /** `true` if the service has ended the container. */
  readonly isStopped: boolean;
}

/**
 * Returns how certain it is that the container crashes soon after each start, or `undefined` if the
 * log does not suggest this.
 */
function loopIn(lines: WorkerLog["lines"], now: number): Certainty | undefined {
  const starts = lines.flatMap(({ source, line }, at) => (source === "system" && START.test(line) ? [at] : []));
  const output = lines.filter(({ source }) => source !== "system").map(({ line }) => line);
  // A worker that requests a fresh container after each job also starts repeatedly.
  if (output.some((line) => JOB_DONE.test(line))) return undefined;
  const latest = Date.parse(lines[starts.at(-1) ?? -1]?.ts ?? "");
  const recent = starts.filter((at) => !(latest - Date.parse(lines[at]?.ts ?? "") > LOOP_MS));
  const runs = runsBetween(recent.length < 2 ? starts : recent, lines);
  // A worker that is scaled to zero and back also starts more than once.
  const crashes = runs.filter(({ isStopped }) => !isStopped);
  if (crashes.length === 0) return undefined;
  if (recent.length < 2) return crashes.length + 1 >= CERTAIN_STARTS ? "likely" : undefined;
  const isSilent = crashes.every((run) => run.output.length <= 1);
  // A traceback in the middle of other output may come from a job.
  const areTraced = crashes.every((run) => run.output.slice(-TRACE_END).some((line) => TRACE.test(line)));
  const isSure = crashes.length === runs.length && (areTraced || (isSilent && recent.length >= CERTAIN_STARTS));
  return isSure && now - latest <= LOOP_MS ? "certain" : "likely";
}

/** Returns what happened between each start and the next. */
function runsBetween(starts: readonly number[], lines: WorkerLog["lines"]): Run[] {
  return starts.slice(0, -1).map((start, index) => {
    const between = lines.slice(start + 1, starts[index + 1]);
    return {
      output: between.filter(({ source }) => source !== "system").map(({ line }) => line),
      isStopped: between.some(({ source, line }) => source === "system" && STOP.test(line)),
    };
  });
}

function isFunnelVersion([, ...parts]: RegExpMatchArray): boolean {
  const [major = 0, minor = 0, patch = 0] = parts.map(Number);
  const number = major * 1_000_000 + minor * 1_000 + patch;
  return number >= 1_007_011 && number <= 1_010_000;
}
