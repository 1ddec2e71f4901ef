import type { EndpointWorker } from "../../sdk/endpoints/releases";
import type { JobWatch } from "./rollOutInputs";

/** What is observed while waiting for a release. */
export interface Workers {
  readonly workers: readonly EndpointWorker[];
  /** The number of jobs waiting in the queue, or `undefined` if it is not known. */
  readonly inQueue: number | undefined;
  /** The number of idle and running workers, as counted by the queue. */
  readonly ready: number;
}

/**
 * Returns `true` if no worker runs an older release and, if required, a worker is ready. If there
 * are no workers and no waiting jobs, there is nothing to wait for.
 * @param needsReady `false` if a test follows, because the test itself needs a worker
 */
export function isOut({ workers, inQueue = 0, ready }: Workers, needsReady: boolean): boolean {
  if (workers.some(({ isStale }) => isStale)) return false;
  if (!needsReady || (workers.length === 0 && inQueue === 0)) return true;
  const isShown = workers.some(({ status }) => status !== undefined);
  return isShown ? workers.some(({ status }) => status === "RUNNING" || status === "IDLE") : ready > 0;
}

/** Describes what a wait is still waiting for, or what was missing when the wait ended. */
export function workersInWords({ workers, inQueue }: Workers): string {
  const stale = workers.filter(({ isStale }) => isStale).length;
  const counts = new Map<string, number>();
  for (const { status, isStale } of workers) {
    const word = status?.toLowerCase() ?? "active";
    if (!isStale) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const fresh = Array.from(counts, ([status, count]) => `${count} ${status}`).join(", ");
  const parts = [
    ...(stale > 0 ? [`${many(stale, "worker")} of an older release`] : []),
    stale === workers.length ? "no worker of the latest release" : `workers of the latest release: ${fresh}`,
    ...(inQueue ? [`${many(inQueue, "job")} waiting`] : []),
  ];
  return parts.join("; ");
}

/** Returns `true` if RunPod does not show which workers are outdated. */
export function isUnseen({ workers }: Workers): boolean {
  return workers.length > 0 && workers.every(({ isStale }) => isStale === undefined);
}

/** The jobs that ended since a point in time. */
interface Counts {
  readonly completed: number;
  readonly failed: number;
}

/**
 * Returns the counts since `from`. A count that has decreased was reset to zero in the meantime.
 */
export function countsSince(from: Counts, now: Counts): Counts {
  const since = (before: number, after: number) => (after < before ? after : after - before);
  return { completed: since(from.completed, now.completed), failed: since(from.failed, now.failed) };
}

/**
 * The verdict on a release, based on its jobs. The verdict stays `open` as long as more jobs may
 * end.
 */
export type Verdict = "open" | "passed" | "failed" | "too few jobs";

/** Judges a release by its jobs. A watch ends early once enough of the jobs have failed. */
export function verdictOf({ completed, failed }: Counts, { minJobs, maxFailed }: JobWatch, isOver: boolean): Verdict {
  const ended = completed + failed;
  if (ended >= minJobs && failed > maxFailed * ended) return "failed";
  if (!isOver) return "open";
  return ended < minJobs ? "too few jobs" : "passed";
}

/** Describes the counts in words. */
export function countsInWords({ completed, failed }: Counts): string {
  const ended = completed + failed;
  const share = ended === 0 ? "" : ` (${percent(failed / ended)})`;
  return `${failed} of ${many(ended, "job")} failed${share}`;
}

/** Formats a share as a percentage. */
export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function many(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
