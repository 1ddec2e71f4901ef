import type { EndpointRecord } from "../model/endpointFields";
import type { ColdStarts } from "./coldStarts";

/** The fields of an endpoint that a forecast depends on. */
export type PlayedEndpoint = Pick<
  EndpointRecord,
  "scalerType" | "scalerValue" | "workersMin" | "workersMax" | "idleTimeout"
> & {
  readonly flashBoot: boolean;
  /** The longest time of a job, in seconds, > 0. @default that of the assumptions */
  readonly executionTimeoutS?: number | undefined;
  /** `true` if its image crashes, or cannot be pulled: no worker ever takes a job. */
  readonly failsToStart?: boolean | undefined;
};

/** A change of the settings while a load is played. */
export interface PlayedChange {
  readonly to: PlayedEndpoint;
  /** `true` if it replaces the workers. */
  readonly isReleased: boolean;
}

/** A part of the time, whose jobs are counted apart, in seconds after the first job. */
export interface Watched {
  readonly fromS: number;
  readonly toS: number;
  /** Happens at `fromS`. */
  readonly change?: PlayedChange | undefined;
}

/**
 * Everything that a run depends on except the endpoint's settings and the load. Times are in
 * seconds.
 */
export interface Assumptions {
  /**
   * Intervals of the scaler, ≥ 0, not empty; with 0 it looks at each event. The runs take them in
   * turn.
   */
  readonly evaluateEveryS: readonly number[];
  /**
   * How many workers one evaluation starts at most, ≥ 1, not empty. The runs take the values in
   * turn.
   */
  readonly startAtOnce: readonly number[];
  /** Jobs that a worker runs at once (integer, ≥ 1). */
  readonly concurrency: number;
  /** The interval at which a busy worker asks for its next job, ≥ 0. */
  readonly takeEveryS: number;
  readonly coldStarts: ColdStarts;
  /**
   * The probability that a starting worker finds no machine, 0 to 1, and the time until it does.
   */
  readonly throttledShare: number;
  readonly throttledS: number;
  /** The time to live of jobs, > 0. */
  readonly ttlS: number;
  /** The longest time of a job, > 0. */
  readonly executionTimeoutS: number;
}
