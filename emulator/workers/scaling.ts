import type { EndpointRecord } from "../model/endpointFields";

// `workerPool.ts` starts workers and stops idle ones; `idleScaleDown.ts` lowers `workersMax` after days without jobs.

/** The time until REQUEST_COUNT stops a worker that is no longer needed, in milliseconds (assumed). */
export const REQUEST_COUNT_SCALE_DOWN_MS = 4000;

/** The input of the autoscaler. Waiting jobs with `lowPriority` do not count: they trigger no scaling. */
export interface Demand {
  /** Jobs that wait. */
  readonly waiting: number;
  /** Jobs that have waited for `scalerValue` seconds or longer. */
  readonly overdue: number;
  /** Jobs in progress, including those with `lowPriority`. */
  readonly inProgress: number;
}

/** The fields of an endpoint that the autoscaler follows. */
export type ScalingRecord = Pick<EndpointRecord, "scalerType" | "scalerValue" | "workersMin" | "workersMax">;

/**
 * Returns the number of workers that an endpoint should have now, between `workersMin` and `workersMax`.
 * REQUEST_COUNT: one for each `scalerValue` jobs. QUEUE_DELAY: one for the first job, and one more for each job that has
 * waited longer than `scalerValue` seconds.
 */
export function workersWanted(record: ScalingRecord, { waiting, overdue, inProgress }: Demand): number {
  const first = waiting > 0 ? 1 : 0;
  const demanded =
    record.scalerType === "REQUEST_COUNT"
      ? Math.ceil((waiting + inProgress) / Math.max(1, record.scalerValue))
      : Math.max(first, inProgress + overdue);
  return Math.min(record.workersMax, Math.max(record.workersMin, demanded));
}
