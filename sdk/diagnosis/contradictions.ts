import type { CauseId } from "./causes";
import { type Evidence, type Part, seen } from "./evidence";
import type { Candidate } from "./rules";

/** Evidence that does not fit a cause. */
export interface Contradiction {
  /** What is seen, in words. */
  readonly says: string;
  readonly isSeen: (evidence: Evidence) => boolean;
}

/** Evidence older than this proves nothing, in milliseconds. */
const FRESH_MS = 30_000;

const isStale: Contradiction = {
  says: "part of the evidence is old",
  isSeen: ({ now, endpoint, workers, queue, logs }) =>
    [endpoint, workers, queue, logs].some((part: Part<unknown>) => {
      const readAt = "value" in part ? part.readAt : part.failure?.readAt;
      return readAt !== undefined && now - readAt > FRESH_MS;
    }),
};

const idleWorkers = ({ workers, queue }: Evidence) =>
  Math.max(seen(workers)?.idle ?? 0, seen(queue)?.workers.idle ?? 0);

/**
 * What contradicts each cause that can be certain. A cause is certain only if none of it is seen:
 * what the service shows at two places, or at two times, need not agree.
 */
export const CONTRADICTIONS: Readonly<Partial<Record<CauseId, readonly Contradiction[]>>> = {
  "not-found": [
    isStale,
    { says: "the list of endpoints contains it", isSeen: ({ listed }) => seen(listed) === true },
    { says: "the list of endpoints could not be read", isSeen: ({ listed }) => seen(listed) === undefined },
    { says: "its workers are shown", isSeen: ({ workers }) => (seen(workers)?.total ?? 0) > 0 },
  ],
  "no-access": [
    isStale,
    {
      says: "the service has accepted the same key for another read",
      isSeen: ({ workers, rollout, stock, limits }) =>
        [workers, rollout, stock, limits].some((part: Part<unknown>) => "value" in part),
    },
  ],
  "no-queue": [
    isStale,
    {
      says: "its settings show a queue",
      isSeen: ({ endpoint }) => seen(endpoint)?.isLoadBalancer === false,
    },
  ],
  "no-workers-allowed": [
    isStale,
    { says: "a worker starts", isSeen: ({ workers }) => (seen(workers)?.initializing ?? 0) > 0 },
  ],
  "crash-loop": [
    isStale,
    { says: "a job is in progress", isSeen: ({ queue }) => (seen(queue)?.inProgress ?? 0) > 0 },
    { says: "a worker is idle, so it has started", isSeen: (evidence) => idleWorkers(evidence) > 0 },
  ],
  "image-pull": [
    isStale,
    { says: "a worker is idle, so it has the image", isSeen: (evidence) => idleWorkers(evidence) > 0 },
    { says: "a job is in progress", isSeen: ({ queue }) => (seen(queue)?.inProgress ?? 0) > 0 },
  ],
  "image-pulling": [
    isStale,
    { says: "a worker is unhealthy", isSeen: ({ workers }) => (seen(workers)?.unhealthy ?? 0) > 0 },
  ],
  "workers-busy": [
    isStale,
    { says: "a worker is idle", isSeen: (evidence) => idleWorkers(evidence) > 0 },
    {
      says: "the queue counts fewer running workers",
      isSeen({ workers, queue }) {
        const counted = seen(queue)?.workers;
        return counted !== undefined && counted.total > 0 && counted.running < (seen(workers)?.running ?? 0);
      },
    },
    {
      says: "a worker starts, or does not work",
      isSeen: ({ workers, queue }) =>
        [seen(workers), seen(queue)?.workers].some(
          (counts) => counts && counts.initializing + counts.throttled + counts.unhealthy > 0,
        ),
    },
  ],
};

/** Returns a cause, less than certain if anything that was seen contradicts it. */
export function doubted(candidate: Candidate, evidence: Evidence): Candidate {
  const isDoubted = CONTRADICTIONS[candidate.id]?.some(({ isSeen }) => isSeen(evidence)) ?? false;
  return candidate.certainty === "certain" && isDoubted ? { ...candidate, certainty: "likely" } : candidate;
}
