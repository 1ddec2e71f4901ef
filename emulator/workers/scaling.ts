import type { EndpointRecord } from "../model/endpointFields";

// `workerPool.ts` starts workers and stops idle ones; `idleScaleDown.ts` lowers `workersMax` after
// days without jobs.

/**
 * The time until REQUEST_COUNT stops a worker that is no longer needed, in milliseconds (assumed).
 */
export const REQUEST_COUNT_SCALE_DOWN_MS = 4000;

/**
 * The input of the autoscaler. Waiting jobs with `lowPriority` do not count: they trigger no
 * scaling.
 */
export interface Demand {
  /** Waiting jobs. */
  readonly waiting: number;
  /** Jobs that have waited for `scalerValue` seconds or longer. */
  readonly overdue: number;
  /** Jobs in progress, including those with `lowPriority`. */
  readonly inProgress: number;
}

/** The fields of an endpoint that the autoscaler follows. */
export type ScalingRecord = Pick<EndpointRecord, "scalerType" | "scalerValue" | "workersMin" | "workersMax">;

/**
 * A formula of the autoscaler: the number of workers that the jobs ask for, and the same as
 * arithmetic for people.
 */
interface Formula {
  workers(record: ScalingRecord, demand: Demand): number;
  words(record: ScalingRecord, demand: Demand): string;
}

const jobsPerWorker = ({ scalerValue }: ScalingRecord) => Math.max(1, scalerValue);
const isFirst = ({ waiting, overdue, inProgress }: Demand) => waiting > 0 && inProgress + overdue === 0;

/** The formulas by `scalerType`. */
export const FORMULAS: Readonly<Record<ScalingRecord["scalerType"], Formula>> = {
  /** One worker for each `scalerValue` jobs. */
  REQUEST_COUNT: {
    workers: (record, { waiting, inProgress }) => Math.ceil((waiting + inProgress) / jobsPerWorker(record)),
    words: (record, { waiting, inProgress }) =>
      `ceil((${waiting} waiting + ${inProgress} in progress) / ${jobsPerWorker(record)})`,
  },
  /**
   * One worker for the first job, and one more for each job that has waited longer than
   * `scalerValue` seconds.
   */
  QUEUE_DELAY: {
    workers: (_, demand) => (isFirst(demand) ? 1 : demand.inProgress + demand.overdue),
    words: ({ scalerValue }, demand) =>
      isFirst(demand)
        ? `1 for the first of ${demand.waiting} waiting`
        : `${demand.inProgress} in progress + ${demand.overdue} waiting for ${scalerValue} s or longer`,
  },
};

/**
 * Returns the number of workers that an endpoint should have now, between `workersMin` and
 * `workersMax`.
 */
export function workersWanted(record: ScalingRecord, demand: Demand): number {
  const demanded = FORMULAS[record.scalerType].workers(record, demand);
  return Math.min(record.workersMax, Math.max(record.workersMin, demanded));
}
