import type { Batch, BatchCounts } from "../../sdk";
import { shownTime } from "../shownValues";
import { say } from "../terminal";

/** The inputs of the whole file, regardless of which run processed them. */
export interface Tally {
  /** The number of inputs; `undefined` if unknown. */
  total: number | undefined;
  /** The inputs that were read. */
  read: number;
  /** The inputs with an output. */
  done: number;
  /** The inputs whose job failed. */
  failed: number;
  /** The inputs without a result. */
  without: number;
  /** The results of this run. */
  ended: number;
  /** When the run started, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
}

export function createTally(total: number | undefined): Tally {
  return { total, read: 0, done: 0, failed: 0, without: 0, ended: 0, startedAt: performance.now() };
}

/** Returns the progress line: done, failed, rate and time left. */
export function progressLine(tally: Tally, { skipped, failedEarlier }: BatchCounts): string {
  const { total, without, ended, startedAt } = tally;
  const done = tally.done + skipped;
  const failed = tally.failed + failedEarlier;
  const open = total === undefined ? 0 : total - done - failed - without;
  const perSecond = ended / ((performance.now() - startedAt) / 1_000);
  const left = open === 0 || perSecond === 0 ? "" : `, ${shownTime(open / perSecond)} left`;
  const ofTotal = total === undefined ? "" : ` of ${total}`;
  const no = without === 0 ? "" : `, ${without} without a result`;
  return `${done}${ofTotal} done, ${failed} failed${no}, ${perSecond.toFixed(1)} jobs/s${left}`;
}

/** How often the line is printed where it cannot be updated, in milliseconds. */
const PRINT_MS = 10_000;

/**
 * Shows a progress line that updates in place. If stderr is not a terminal, prints one every ten
 * seconds instead. Returns a function that removes the line.
 */
export function showProgress(tally: Tally, running: Batch<object, unknown>): () => void {
  if (!process.stderr.isTTY) {
    const timer = setInterval(() => say(progressLine(tally, running.counts)), PRINT_MS);
    return () => clearInterval(timer);
  }
  const clear = "\r\u001b[K";
  const timer = setInterval(() => process.stderr.write(clear + progressLine(tally, running.counts)), 500);
  return () => {
    clearInterval(timer);
    process.stderr.write(clear);
  };
}
