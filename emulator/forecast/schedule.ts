import type { EventClock } from "../time/eventClock";
import type { PlayedCounts, PlayedEndpoint } from "./assumptions";
import { createHistogram } from "./histogram";

/** How long a rule has just begun to hold, in milliseconds. */
const BEGINNING_MS = 600_000;

/** Counts the jobs that arrive while a rule holds. */
class RuleTally {
  jobs = 0;
  /** Jobs that waited for the start of the worker that ran them. */
  waiting = 0;
  /** Those of them that arrived in the first ten minutes after the rule began to hold. */
  waitingAtFirst = 0;
  readonly delays = createHistogram();
}

/** A time in which one rule holds. */
export class Period {
  readonly fromMs: number;
  readonly #firedMs: number;
  readonly #tally: RuleTally;

  constructor({ fromS, firedS = fromS }: PlayedCounts, tally: RuleTally) {
    this.fromMs = fromS * 1000;
    this.#firedMs = firedS * 1000;
    this.#tally = tally;
  }

  onSubmit(): void {
    this.#tally.jobs += 1;
  }

  /** @param readyAt when the worker that runs the job had started */
  onStart(now: number, arrivedAt: number, readyAt: number): void {
    this.#tally.delays.add(now - arrivedAt);
    if (arrivedAt >= readyAt) return;
    this.#tally.waiting += 1;
    if (arrivedAt < this.#firedMs + BEGINNING_MS) this.#tally.waitingAtFirst += 1;
  }
}

/**
 * Returns the counts of each rule, by its index, and a function that returns the period of a time,
 * which must not decrease.
 */
export function createPeriods({ schedule = [] }: PlayedEndpoint) {
  const tallies: RuleTally[] = [];
  const periods = schedule.map((counts) => {
    tallies[counts.rule] ??= new RuleTally();
    return new Period(counts, tallies[counts.rule] as RuleTally);
  });
  let at = 0;
  const periodAt = (now: number) => {
    while ((periods[at + 1]?.fromMs ?? Number.POSITIVE_INFINITY) <= now) at += 1;
    return periods[at];
  };
  return { tallies, periodAt };
}

/** Returns the endpoint with the worker counts that hold at a time, in milliseconds. */
export function asOf(endpoint: PlayedEndpoint, ms: number): PlayedEndpoint {
  const held = endpoint.schedule?.findLast(({ fromS }) => fromS * 1000 <= ms);
  return held ? { ...endpoint, workersMin: held.workersMin, workersMax: held.workersMax } : endpoint;
}

/** Calls `change` at the beginning of each period after one time and before another. */
export function followSchedule(
  { schedule = [] }: PlayedEndpoint,
  [fromMs, toMs]: readonly [number, number],
  clock: EventClock,
  change: (counts: PlayedCounts) => void,
): void {
  for (const counts of schedule) {
    const at = counts.fromS * 1000;
    if (at > fromMs && at < toMs) clock.schedule(at, () => change(counts));
  }
}
