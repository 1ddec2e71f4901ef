import type { CauseId, Certainty } from "./causes";
import type { WorkerLog } from "./evidence";

/** What the log of a worker says about why it does not work. */
export interface LogSigns {
  /** The cause that it shows, if it shows one. */
  readonly cause: { readonly id: CauseId; readonly certainty: Certainty } | undefined;
  /** `true` if the worker library has printed something: the program takes jobs. */
  readonly hasLibraryLine: boolean;
  /** `true` if a version of the library with a known defect has printed its version. */
  readonly hasFunnelVersion: boolean;
  readonly hasLines: boolean;
}

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

/** A later attempt has got further than to ask for the image. */
const PULL_GOES_ON = /complete|extracting|downloading/i;

const TRACE =
  /^Traceback \(most recent|^\s*\w*(?:Error|Exception)\b.*:|\bpanic:|segmentation fault|exec format error|cuda (?:error|driver version)|unsatisfied condition: cuda|exited with code [1-9]/i;

/** Lines of the worker library: its start, and its jobs. */
const LIBRARY = /serverless worker|jobs in (?:queue|progress)|"?requestId"?|\bStarted\.|\bFinished\./i;
const JOB_DONE = /\bFinished\b/;

/** The versions with which all jobs go to one worker if the endpoint has a shared folder. */
const VERSION = /(?:runpod|serverless worker)\D{0,20}?(\d+)\.(\d+)\.(\d+)/gi;

/** Starts that follow each other within this time are one loop, in milliseconds. */
const LOOP_MS = 10 * 60_000;
/** The number of starts that are a loop even without any output. */
const CERTAIN_STARTS = 3;

/** Returns what a log says. Reads it from its oldest line to its newest. */
export function signsIn({ lines }: WorkerLog): LogSigns {
  const texts = lines.map(({ line }) => line);
  const container = lines.filter(({ source }) => source !== "system").map(({ line }) => line);
  return {
    cause: causeIn(lines),
    hasLibraryLine: container.some((line) => LIBRARY.test(line)),
    hasFunnelVersion: texts.some((line) => Array.from(line.matchAll(VERSION)).some(isFunnelVersion)),
    hasLines: lines.length > 0,
  };
}

function causeIn(lines: WorkerLog["lines"]): LogSigns["cause"] {
  const system = lines.filter(({ source }) => source === "system");
  const lastOf = (pattern: RegExp) => system.findLastIndex(({ line }) => pattern.test(line));
  const started = lastOf(START);
  const failed = lastOf(PULL_ERROR);
  const pulled = system.findLastIndex(({ line }) => PULL_PROGRESS.test(line) && !PULL_ERROR.test(line));
  const loop = loopIn(lines);
  // A container that starts again has an image, so an error of an earlier pull is over.
  if (failed > started && pulled > failed && PULL_GOES_ON.test(system[pulled]?.line ?? ""))
    return { id: "image-pulling", certainty: "likely" };
  if (failed > started) return { id: "image-pull", certainty: "certain" };
  if (loop) return { id: "crash-loop", certainty: loop };
  return pulled > started ? { id: "image-pulling", certainty: "certain" } : undefined;
}

/** Returns how sure it is that a container ends soon after each start, if it seems to. */
function loopIn(lines: WorkerLog["lines"]): Certainty | undefined {
  const starts = lines.filter(({ source, line }) => source === "system" && START.test(line));
  if (starts.length < 2) return undefined;
  const latest = Date.parse(starts.at(-1)?.ts ?? "");
  // A line without a time counts as recent.
  const recent = starts.filter(({ ts }) => !(latest - Date.parse(ts) > LOOP_MS));
  const output = lines.filter(({ source }) => source !== "system").map(({ line }) => line);
  // A worker that asks for a fresh container after each job also starts again and again.
  if (output.some((line) => JOB_DONE.test(line))) return undefined;
  if (recent.length < 2) return starts.length >= CERTAIN_STARTS ? "likely" : undefined;
  const isSilent = output.length <= recent.length;
  const isTraced = output.some((line) => TRACE.test(line));
  return isTraced || (isSilent && recent.length >= CERTAIN_STARTS) ? "certain" : "likely";
}

function isFunnelVersion([, ...parts]: RegExpMatchArray): boolean {
  const [major = 0, minor = 0, patch = 0] = parts.map(Number);
  const number = major * 1_000_000 + minor * 1_000 + patch;
  return number >= 1_007_011 && number <= 1_010_000;
}
