import { seededRandom } from "../model/random";
import { type EventClock, eventClock } from "../time/eventClock";
import type { Assumptions, PlayedEndpoint, Watched } from "./assumptions";
import { type Load, openLoad } from "./load";
import { createPlayedQueue, type PlayedQueue } from "./playedQueue";
import { asOf, createPeriods, followSchedule } from "./schedule";
import { createStarts, type Starts } from "./starts";
import { type Course, Tally, type WorkerSeconds } from "./tally";

/** The result of one run. */
export interface RunResult {
  readonly jobs: number;
  /** Jobs that a worker started. */
  readonly started: number;
  readonly completed: number;
  /** The number of jobs that reached the execution timeout. */
  readonly timedOut: number;
  /** Jobs whose time to live expired. */
  readonly lost: number;
  /** Worker starts, excluding the initial `workersMin`. */
  readonly coldStarts: number;
  readonly mostWorkers: number;
  /** Seconds from the first job's arrival to the end of the last job. */
  readonly lastEndS: number;
  /** Delay percentiles in seconds, in the order of `PERCENTILES`. */
  readonly delayS: readonly number[];
  readonly seconds: WorkerSeconds;
  readonly course: Course;
  /** The counts for the watched time; `undefined` if no time is watched. */
  readonly watched?: WatchedResult | undefined;
  /** The jobs that arrived while each rule of the schedule held, by the rule's index. */
  readonly rules: readonly (RuleResult | undefined)[];
}

/** The counts for the times in which a rule holds. */
export interface RuleResult {
  /** Jobs that arrived. */
  readonly jobs: number;
  /** Jobs that waited for the start of the worker that ran them. */
  readonly waiting: number;
  /** Those of them that arrived in the first ten minutes after the rule began to hold. */
  readonly waitingAtFirst: number;
  /** Delay percentiles in seconds, in the order of `PERCENTILES`. */
  readonly delayS: readonly number[];
}

/** The counts for the watched time. */
export interface WatchedResult {
  /** Jobs that arrived in the watched time. */
  readonly jobs: number;
  /** Worker starts in the watched time. */
  readonly coldStarts: number;
  /** Jobs that started in the watched time and reached the execution timeout. */
  readonly timedOut: number;
  /** Jobs that arrived in the watched time and whose time to live expired before they ended. */
  readonly lost: number;
  /**
   * Delays of the jobs that started in the watched time, in seconds, in the order of `PERCENTILES`.
   */
  readonly delayS: readonly number[];
  /** Worker seconds in the watched time. */
  readonly seconds: WorkerSeconds;
}

/** The percentiles in `RunResult.delayS`. RunPod's console shows three of them. */
export const PERCENTILES = [0.5, 0.7, 0.9, 0.95, 0.98, 0.99] as const;

/**
 * Plays a load on an endpoint once, with the emulator's scheduler. The same `run` number repeats
 * the same run.
 * @param watched a part of the time to count apart, and a change of the settings at its beginning
 */
export function play(
  settings: PlayedEndpoint,
  load: Load,
  assumptions: Assumptions,
  run: number,
  watched?: Watched,
): RunResult {
  const endpoint = { ...asOf(settings, 0) };
  const random = seededRandom(Math.imul(run + 1, 0x9e3779b1)).next;
  const clock = eventClock(0);
  const starts = createStarts(endpoint, assumptions, random, clock);
  const span = watched && ([watched.fromS * 1000, watched.toS * 1000] as const);
  const tally = new Tally(load.spanS * 1000, endpoint.workersMin, starts.throttledMs, span);
  const { tallies, periodAt } = createPeriods(settings);
  const queue = createPlayedQueue(endpoint, assumptions, run, { clock, random, tally, starts, periodAt });

  const counted = span && countBetween(span, { clock, starts, tally, queue });
  applyChanges(settings, load.spanS, watched, { endpoint, clock, queue });
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
    jobs: submitted,
    started: tally.delays.count,
    completed,
    timedOut,
    lost,
    coldStarts: starts.count,
    mostWorkers: tally.mostWorkers,
    lastEndS: lastEndMs / 1000,
    seconds: tally.seconds,
    course: tally.course,
    delayS: percentilesOf(tally.delays),
    rules: tallies.map(({ delays, ...counts }) => ({ ...counts, delayS: percentilesOf(delays) })),
    ...(counted && {
      watched: {
        jobs: queue.counts.watched.submitted,
        ...counted,
        timedOut: queue.counts.watched.timedOut,
        lost: queue.counts.watched.lost,
        delayS: percentilesOf(tally.watchedDelays),
      },
    }),
  };
}

const percentilesOf = (delays: Tally["delays"]) => PERCENTILES.map((share) => delays.percentile(share) / 1000);

/** Schedules the changes of the worker counts, and the change of the settings. */
function applyChanges(
  settings: PlayedEndpoint,
  spanS: number,
  watched: Watched | undefined,
  { endpoint, clock, queue }: Pick<Counted, "clock" | "queue"> & { readonly endpoint: PlayedEndpoint },
): void {
  const follow = (each: PlayedEndpoint, times: readonly [number, number]) =>
    followSchedule(each, times, clock, ({ fromS, workersMin, workersMax }) => {
      // After the load, don't keep workers waiting for jobs that will never arrive.
      const kept = fromS < spanS ? workersMin : Math.min(endpoint.workersMin, workersMax);
      if (kept === endpoint.workersMin && workersMax === endpoint.workersMax) return;
      queue.change({ to: { workersMin: kept, workersMax }, isReleased: false });
    });
  const changeMs = watched?.change ? watched.fromS * 1000 : Number.POSITIVE_INFINITY;
  follow(settings, [0, changeMs]);
  if (!watched?.change) return;
  const { to, isReleased } = watched.change;
  clock.schedule(changeMs, () => queue.change({ to: asOf(to, changeMs), isReleased }));
  follow(to, [changeMs, Number.POSITIVE_INFINITY]);
}

interface Counted {
  readonly clock: EventClock;
  readonly starts: Starts;
  readonly tally: Tally;
  readonly queue: PlayedQueue;
}

/** Counts starts and worker seconds between two times. The result is complete after the run. */
function countBetween([fromMs, toMs]: readonly [number, number], { clock, starts, tally, queue }: Counted) {
  const result = { coldStarts: 0, seconds: { start: 0, run: 0, idle: 0, minimum: 0, active: 0 } };
  const add = (sign: 1 | -1) => {
    queue.advance();
    result.coldStarts += sign * starts.count;
    for (const name of Object.keys(result.seconds) as (keyof WorkerSeconds)[])
      result.seconds[name] += sign * tally.seconds[name];
  };
  clock.schedule(fromMs, () => add(-1));
  clock.schedule(toMs, () => add(1));
  return result;
}
