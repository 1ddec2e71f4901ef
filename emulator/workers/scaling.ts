import type { EndpointRecord } from "../model/endpointFields";

// `workerPool.ts` starts workers and stops idle ones; `idleScaleDown.ts` lowers `workersMax` after
// days without jobs.

/**
 * How long REQUEST_COUNT waits before it stops a worker that is no longer needed, in milliseconds
 * (assumed).
 */
export const REQUEST_COUNT_SCALE_DOWN_MS = 4000;

/**
 * The input of the autoscaler. Waiting jobs with `lowPriority` don't count, because they trigger no
 * scaling.
 */
export interface Demand {
  /** Waiting jobs. */
  readonly waiting: number;
  /** Jobs that have waited for at least `scalerValue` seconds. */
  readonly overdue: number;
  /** Jobs in progress, including those with `lowPriority`. */
  readonly inProgress: number;
}

/** The endpoint fields that the autoscaler uses. */
export type ScalingRecord = Pick<EndpointRecord, "scalerType" | "scalerValue" | "workersMin" | "workersMax"> &
  Partial<Pick<EndpointRecord, "workersStandby">>;

/** A scaling formula: the number of workers that the jobs call for, and the calculation as text. */
interface Formula {
  workers(record: ScalingRecord, demand: Demand): number;
  words(record: ScalingRecord, demand: Demand): string;
}

const jobsPerWorker = ({ scalerValue }: ScalingRecord) => Math.max(1, scalerValue);
const isFirst = ({ waiting, overdue, inProgress }: Demand) => waiting > 0 && inProgress + overdue === 0;

/** The scaling formulas, by `scalerType`. */
export const FORMULAS: Readonly<Record<ScalingRecord["scalerType"], Formula>> = {
  /** One worker per `scalerValue` jobs. */
  REQUEST_COUNT: {
    workers: (record, { waiting, inProgress }) => Math.ceil((waiting + inProgress) / jobsPerWorker(record)),
    words: (record, { waiting, inProgress }) =>
      `ceil((${waiting} waiting + ${inProgress} in progress) / ${jobsPerWorker(record)})`,
  },
  /**
   * One worker for the first job, and another for each job that has waited longer than
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

/** Returns the number of workers that an endpoint keeps even without jobs. */
export function workersKept({ workersMin, workersMax, workersStandby }: ScalingRecord): number {
  return Math.min(workersMax, Math.max(workersMin, workersStandby ?? 0));
}

/** Returns how many workers an endpoint should have now, within `workersMax`. */
export function workersWanted(record: ScalingRecord, demand: Demand): number {
  const demanded = FORMULAS[record.scalerType].workers(record, demand);
  return Math.min(record.workersMax, Math.max(workersKept(record), demanded));
}
