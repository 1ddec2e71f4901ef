import { createJobsFile } from "../../../cli/forecast/load/jobsFile";
import type { Assumptions, PlayedEndpoint } from "../../../emulator/forecast/assumptions";
import type { Load } from "../../../emulator/forecast/load";

/**
 * The assumptions of the emulator itself: its scaler looks at each event, and workers ask for jobs
 * at once.
 */
export const EXACT: Assumptions = {
  evaluateEveryS: [0],
  startAtOnce: [Number.POSITIVE_INFINITY],
  concurrency: 1,
  takeEveryS: 0,
  coldStarts: {
    kinds: [{ seconds: 1, weight: 1 }],
    samples: [5],
    restore: { seconds: 1, recentShare: 0, otherShare: 0, recentS: 0 },
  },
  throttledShare: 0,
  throttledS: 0,
  ttlS: 86_400,
  executionTimeoutS: 600,
};

export const ENDPOINT: PlayedEndpoint = {
  scalerType: "QUEUE_DELAY",
  scalerValue: 4,
  workersMin: 0,
  workersMax: 3,
  idleTimeout: 10,
  flashBoot: false,
};

const files: { remove(): void }[] = [];

/** Returns a load of jobs, `[arrival, duration]` in seconds, which are removed by `removeLoads`. */
export function loadOf(jobs: readonly (readonly [number, number])[], spanS = 3600): Load {
  const file = createJobsFile();
  files.push(file);
  for (const [arrivalS, durationS] of jobs) file.add(arrivalS, durationS);
  file.finish();
  return { file: file.file, jobs: jobs.length, spanS };
}

export function removeLoads(): void {
  for (const file of files.splice(0)) file.remove();
}
