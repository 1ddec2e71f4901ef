import type { BatchCounts } from "../../sdk";
import { shownTime } from "../shownValues";

/** The numbers that the progress line shows. */
export interface BatchProgress {
  readonly counts: BatchCounts;
  /** Inputs whose result was already in the output file. */
  readonly earlier: number;
  /** The number of inputs; `undefined` if unknown. */
  readonly total: number | undefined;
  /** The time since the start, in milliseconds. */
  readonly elapsedMs: number;
}

/** Returns the progress line: done, failed, rate and time left. */
export function progressLine({ counts, earlier, total, elapsedMs }: BatchProgress): string {
  const { completed, failed, duplicates, skipped } = counts;
  const here = completed + failed + duplicates;
  const done = here + skipped + earlier;
  const perSecond = elapsedMs > 0 ? here / (elapsedMs / 1_000) : 0;
  const left =
    total === undefined || total === done || perSecond === 0 ? "" : `, ${shownTime((total - done) / perSecond)} left`;
  const ofTotal = total === undefined ? "" : ` of ${total}`;
  return `${done - failed}${ofTotal} done, ${failed} failed, ${perSecond.toFixed(1)} jobs/s${left}`;
}

/**
 * Shows a progress line that updates in place, if stderr is a terminal. Returns a function that
 * removes the line.
 */
export function showProgress(shown: () => BatchProgress): () => void {
  if (!process.stderr.isTTY) return () => {};
  const clear = "\r\u001b[K";
  const timer = setInterval(() => process.stderr.write(clear + progressLine(shown())), 500);
  return () => {
    clearInterval(timer);
    process.stderr.write(clear);
  };
}
