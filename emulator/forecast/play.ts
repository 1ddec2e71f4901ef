import { seededRandom } from "../model/random";
import { eventClock } from "../time/eventClock";
import type { Assumptions, PlayedEndpoint } from "./assumptions";
import { type Load, openLoad } from "./load";
import { createPlayedQueue } from "./playedQueue";
import { createStarts } from "./starts";
import { type Course, Tally, type WorkerSeconds } from "./tally";

/** The result of one run. */
export interface RunResult {
  readonly jobs: number;
  /** Jobs that a worker took. */
  readonly started: number;
  readonly completed: number;
  /** Jobs that reached the execution timeout. */
  readonly timedOut: number;
  /** Jobs whose time to live ended first. */
  readonly lost: number;
  /** Starts of workers, without the first `workersMin`. */
  readonly coldStarts: number;
  readonly mostWorkers: number;
  /** The time from the first job to the end of the last, in seconds. */
  readonly lastEndS: number;
  /** Delays in seconds, in the order of `PERCENTILES`. */
  readonly delayS: readonly number[];
  readonly seconds: WorkerSeconds;
  readonly course: Course;
}

/** The percentiles of `RunResult.delayS`. The service's console shows three of them. */
export const PERCENTILES = [0.5, 0.7, 0.9, 0.95, 0.98, 0.99] as const;

/**
 * Plays a load on an endpoint once, with the emulator's scheduler. The same `run` number repeats
 * the same run.
 */
export function play(endpoint: PlayedEndpoint, load: Load, assumptions: Assumptions, run: number): RunResult {
  const random = seededRandom(Math.imul(run + 1, 0x9e3779b1)).next;
  const clock = eventClock(0);
  const starts = createStarts(endpoint, assumptions, random, clock);
  const tally = new Tally(load.spanS * 1000, endpoint.workersMin, starts.throttledMs);
  const queue = createPlayedQueue(endpoint, assumptions, run, { clock, random, tally, starts });

  const reader = openLoad(load, random);
  while (reader.next()) {
    clock.runUntil(reader.arrivalS * 1000);
    queue.submit(reader.durationS * 1000);
  }
  reader.close();
  clock.runUntil(load.spanS * 1000);
  clock.runToEnd();
  queue.advance();

  const { submitted, completed, timedOut, lost, lastEndMs } = queue.counts;
  return {
    ...{ jobs: submitted, started: tally.delays.count, completed, timedOut, lost, coldStarts: starts.count },
    ...{ mostWorkers: tally.mostWorkers, lastEndS: lastEndMs / 1000, seconds: tally.seconds, course: tally.course },
    delayS: PERCENTILES.map((share) => tally.delays.percentile(share) / 1000),
  };
}
