import type { EndpointRecord } from "../model/endpointFields";
import type { ColdStarts } from "./coldStarts";

/** The endpoint fields that a forecast depends on. */
export type PlayedEndpoint = Pick<
  EndpointRecord,
  "scalerType" | "scalerValue" | "workersMin" | "workersMax" | "idleTimeout"
> & {
  readonly flashBoot: boolean;
  /** The execution timeout of jobs, in seconds, > 0. @default that of the assumptions */
  readonly executionTimeoutS?: number | undefined;
  /** `true` if the image crashes or cannot be pulled, so that no worker ever takes a job. */
  readonly failsToStart?: boolean | undefined;
  /** The worker counts over time, the first from 0 s on. @default those above, all the time */
  readonly schedule?: readonly PlayedCounts[] | undefined;
};

/** The worker counts from a time on. */
export interface PlayedCounts {
  /** In seconds after the first job. */
  readonly fromS: number;
  /** When the rule fired, which may be before the load began. @default `fromS` */
  readonly firedS?: number;
  readonly workersMin: number;
  readonly workersMax: number;
  /** The index of the schedule's rule that sets them. */
  readonly rule: number;
}

/** A change of the settings while a load is played. */
export interface PlayedChange<To = PlayedEndpoint> {
  readonly to: To;
  /** `true` if it replaces the workers. */
  readonly isReleased: boolean;
}

/** A time span whose jobs are counted separately. Both times are in seconds after the first job. */
export interface Watched {
  readonly fromS: number;
  readonly toS: number;
  /** The change of the settings at `fromS`. */
  readonly change?: PlayedChange | undefined;
}

/**
 * Everything a run depends on apart from the endpoint's settings and the load. Times are in
 * seconds.
 */
export interface Assumptions {
  /**
   * Scaler intervals (each ≥ 0, not empty), which the runs use in turn. With 0, the scaler reacts
   * to every event.
   */
  readonly evaluateEveryS: readonly number[];
  /**
   * How many workers one scaler evaluation may start (each ≥ 1, not empty). The runs use the values
   * in turn.
   */
  readonly startAtOnce: readonly number[];
  /** How many jobs a worker runs at the same time (integer, ≥ 1). */
  readonly concurrency: number;
  /** How often a busy worker asks for another job, ≥ 0. */
  readonly takeEveryS: number;
  readonly coldStarts: ColdStarts;
  /**
   * The probability that no machine is free for a starting worker (0 to 1), and how long it then
   * waits.
   */
  readonly throttledShare: number;
  readonly throttledS: number;
  /** The time to live of jobs, > 0. */
  readonly ttlS: number;
  /** The execution timeout of jobs, > 0. */
  readonly executionTimeoutS: number;
}
