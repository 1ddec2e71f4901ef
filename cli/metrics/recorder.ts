import { systemReason } from "../../emulator/io/systemReason";
import { redact } from "../../sdk/errors/secretText";
import { openRecording, type Recording } from "../../sdk/recording/recording";
import { recordedLines, recordingFiles } from "../forecast/load/recordedLines";
import { processorOf, settingsAgeS, type WatchedEndpoint } from "./endpointReads";
import { poolPrices, poolStock, workersCost } from "./prices";
import { SHOWN_MS } from "./read";
import type { Readings } from "./readings";

/** The length of a recording interval, in milliseconds. */
const INTERVAL_MS = 60_000;

/**
 * How many daily files are searched for the last counters. An endpoint that is in none of them
 * starts a new count.
 */
const LOOKS_BACK_DAYS = 7;

const COLUMNS = {
  measured: [
    "arrivals",
    "completed",
    "failed",
    "retried",
    "queued",
    "inProgress",
    "workers",
    "workersMin",
    "workersMax",
    "release",
    "stock",
    "prices",
  ],
  notMeasured: {
    delayMs: "only a client with the option record, or a webhook receiver, sees when a job starts",
    runMs: "only a client with the option record, or a webhook receiver, sees how long a job runs",
    dollarsPerHour: "estimated from workers and prices",
  },
};

/** An endpoint's counters at the end of its last interval. */
interface Totals {
  readonly at: number;
  /** The number of jobs that have arrived: waiting, running and finished jobs. */
  readonly arrived: number;
  readonly completed: number;
  readonly failed: number;
  readonly retried: number;
}

/** Appends a line for each interval. */
export interface IntervalRecorder {
  /** Must be called after each round of reads. */
  look(): void;
  readonly isRecording: boolean;
  close(): void;
}

/**
 * Opens a recording of intervals. It continues after the last line in the folder.
 * @param stopped called once if the folder can no longer be written to
 * @throws Error if the folder cannot be written to
 */
export function openRecorder(
  folder: string,
  readings: Readings,
  stack: string,
  stopped: (message: string) => void,
): IntervalRecorder {
  const { clock } = readings;
  let recording: Recording;
  try {
    recording = openRecording(folder, "metrics", COLUMNS);
    recording.begin(clock.now());
  } catch (cause) {
    throw new Error(`the folder ${folder} cannot be written: ${systemReason(cause)}`, { cause });
  }
  const totals = lastTotals(folder);
  const lastAt = Math.max(...[...totals.values()].map(({ at }) => at));
  // Intervals end on full minutes, so that hours can be compared.
  const minute = (at = clock.now()) => Math.floor(at / INTERVAL_MS);
  // An interval that a kill interrupted ends with the next round.
  let lastMinute = Math.min(minute(lastAt), minute());
  let isRecording = true;

  return {
    get isRecording() {
      return isRecording;
    },
    look() {
      if (!isRecording || minute() === lastMinute) return;
      const parts = [...readings.endpoints.values()].map((watched) => endpointPart(watched, readings, totals));
      const known = parts.filter((part) => part !== undefined);
      lastMinute = minute();
      if (known.length === 0) return;
      const at = clock.now();
      try {
        recording.append({ ...intervalLine(readings, stack, at), endpoints: known.map(({ line }) => line) }, at);
        // Only written intervals count. The next interval starts where the last line ends.
        for (const { id, next } of known) totals.set(id, next);
      } catch (error) {
        isRecording = false;
        stopped(
          `recording has stopped, but the metrics are still served: ${folder} cannot be written: ${systemReason(error)}`,
        );
      }
    },
    close: () => recording.close(),
  };
}

function intervalLine({ catalog }: Readings, stack: string, at: number) {
  const gpus = catalog.latest();
  return {
    ...({ kind: "interval", by: "metrics", at: new Date(at).toISOString() } as const),
    ...(stack !== "" && { stack }),
    ...(gpus && {
      stock: Object.fromEntries(poolStock(gpus)),
      prices: Object.fromEntries([...poolPrices(gpus)].map(([gpu, { dollars }]) => [gpu, dollars])),
    }),
  };
}

/**
 * Returns one endpoint's part of an interval; `undefined` if it has not been read since its last
 * part.
 */
function endpointPart(watched: WatchedEndpoint, { clock, catalog }: Readings, totals: ReadonlyMap<string, Totals>) {
  const health = watched.health.latest();
  const known = totals.get(watched.id);
  if (!health || health.at === known?.at) return undefined;
  // If the clock was set back, it is unknown when the later jobs arrived.
  const last = known && known.at < health.at ? known : undefined;
  const { completed, failed, retried, inQueue, inProgress } = health.jobs;
  const next: Totals = {
    at: health.at,
    arrived: completed + failed + inQueue + inProgress,
    completed,
    failed,
    retried,
  };
  const isReset = last !== undefined && (completed < last.completed || failed < last.failed);
  const counts = last && !isReset ? differences(last, next) : undefined;
  const settings = settingsAgeS(watched, clock) * 1000 > SHOWN_MS ? undefined : watched.settings;
  const cost = workersCost(settings, health.workers, catalog.latest());
  const release = watched.details.latest()?.release;
  const line = {
    id: watched.id,
    // Names are free text and may contain a key.
    name: watched.settings && redact(watched.settings.name),
    ...(last && { from: new Date(last.at).toISOString() }),
    to: new Date(health.at).toISOString(),
    // Without totals, a part starts a new count.
    ...counts,
    ...(isReset && { reset: true }),
    queued: inQueue,
    inProgress,
    workers: health.workers,
    ...(settings && { workersMin: settings.workersMin, workersMax: settings.workersMax, gpu: processorOf(settings) }),
    ...(release && { release: release.version ?? release.id }),
    ...(cost && { dollarsPerHour: cost.dollars }),
    totals: [next.arrived, completed, failed, retried],
  };
  return { id: watched.id, line, next };
}

/**
 * Returns the jobs that an interval adds. Removing a job from the queue also removes its arrival,
 * so the actual number of arrivals may be higher.
 */
function differences(last: Totals, next: Totals) {
  const of = (field: "arrived" | "completed" | "failed" | "retried") => Math.max(0, next[field] - last[field]);
  return { arrivals: of("arrived"), completed: of("completed"), failed: of("failed"), retried: of("retried") };
}

/** Returns the counters in a folder's last lines, by endpoint. */
function lastTotals(folder: string): Map<string, Totals> {
  const totals = new Map<string, Totals>();
  for (const line of recordedLines(recordingFiles(folder).slice(-LOOKS_BACK_DAYS))) {
    if (line?.kind !== "interval") continue;
    for (const part of line.endpoints as readonly { id: string; to: string; totals: readonly number[] }[]) {
      const [arrived = 0, completed = 0, failed = 0, retried = 0] = part.totals;
      totals.set(part.id, { at: Date.parse(part.to), arrived, completed, failed, retried });
    }
  }
  return totals;
}
