import type { CauseId } from "./causes";
import { type Evidence, type Part, seen } from "./evidence";
import { type PossibleCause, signsOf } from "./rules";

/** Evidence that contradicts a cause. */
export interface Contradiction {
  /** A description of what the evidence shows. */
  readonly says: string;
  readonly isSeen: (evidence: Evidence) => boolean;
}

/** The age after which evidence proves nothing, in milliseconds. */
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

const startingWorkers = ({ workers, queue }: Evidence) =>
  Math.max(seen(workers)?.initializing ?? 0, seen(queue)?.workers.initializing ?? 0);

/** The problem shown in the log may come from an earlier image, which the release has replaced. */
const isReplaced: Contradiction = {
  says: "a release is newer than the log",
  isSeen({ rollout, workers, logs }) {
    const release = seen(rollout);
    const releasedAt = Date.parse(release?.releasedAt ?? "");
    if (Number.isNaN(releasedAt)) return (seen(workers)?.stale ?? 0) > 0 || release?.inProgress === true;
    const lines = (seen(logs) ?? []).flatMap((log) => log.lines);
    return !lines.some(({ ts }) => Date.parse(ts) > releasedAt);
  },
};

/**
 * The evidence that contradicts each cause that can be certain. A cause is certain only if none of
 * its contradictions is found. This check is needed because the service may show different things
 * in two places or at two times.
 */
export const CONTRADICTIONS: Readonly<Partial<Record<CauseId, readonly Contradiction[]>>> = {
  "not-found": [
    isStale,
    { says: "the list of endpoints contains it", isSeen: ({ listed }) => seen(listed) === true },
    { says: "the list of endpoints could not be read", isSeen: ({ listed }) => seen(listed) === undefined },
    {
      says: "the service shows its workers or releases",
      isSeen: ({ workers, rollout }) => [workers, rollout].some((part: Part<unknown>) => "value" in part),
    },
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
    { says: "a worker starts", isSeen: (evidence) => startingWorkers(evidence) > 0 },
    { says: "a worker is idle", isSeen: (evidence) => idleWorkers(evidence) > 0 },
  ],
  "crash-loop": [
    isStale,
    isReplaced,
    {
      says: "another worker's log shows that the program runs",
      isSeen: (evidence) => signsOf(evidence)?.some((log) => log.hasLibraryLine && !log.cause) ?? false,
    },
    { says: "a job is in progress", isSeen: ({ queue }) => (seen(queue)?.inProgress ?? 0) > 0 },
    { says: "a worker is idle, so it has started", isSeen: (evidence) => idleWorkers(evidence) > 0 },
  ],
  "image-pull": [
    isStale,
    isReplaced,
    {
      says: "another worker's log shows that it has the image",
      isSeen: (evidence) => signsOf(evidence)?.some((log) => log.hasImage && !log.cause) ?? false,
    },
    { says: "a worker is idle, so it has the image", isSeen: (evidence) => idleWorkers(evidence) > 0 },
    { says: "a job is in progress", isSeen: ({ queue }) => (seen(queue)?.inProgress ?? 0) > 0 },
  ],
  "image-pulling": [
    isStale,
    { says: "a worker is idle, so it has the image", isSeen: (evidence) => idleWorkers(evidence) > 0 },
    { says: "a worker is unhealthy", isSeen: ({ workers }) => (seen(workers)?.unhealthy ?? 0) > 0 },
  ],
  "workers-busy": [
    isStale,
    { says: "a worker is idle", isSeen: (evidence) => idleWorkers(evidence) > 0 },
    {
      says: "the queue reports a different number of running workers",
      isSeen({ workers, queue }) {
        const counted = seen(queue)?.workers;
        return counted !== undefined && counted.total > 0 && counted.running !== seen(workers)?.running;
      },
    },
    {
      says: "a worker is starting, is not working, or is in an unknown state",
      isSeen: ({ workers, queue }) =>
        [seen(workers), seen(queue)?.workers].some((counts) => counts && counts.total > counts.running + counts.idle),
    },
    { says: "a rollout is in progress", isSeen: ({ rollout }) => seen(rollout)?.inProgress === true },
  ],
};

/**
 * Returns the cause, with its certainty lowered to `likely` if it was certain and evidence
 * contradicts it.
 */
export function doubted(candidate: PossibleCause, evidence: Evidence): PossibleCause {
  const isDoubted = CONTRADICTIONS[candidate.id]?.some(({ isSeen }) => isSeen(evidence)) ?? false;
  return candidate.certainty === "certain" && isDoubted ? { ...candidate, certainty: "likely" } : candidate;
}
